/* test_objects.c - what native code an address lies in: functions that are exported, objects, and
 * what is neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "beam/probe/objects.c"

static uint64_t told_from, told_to;
static char told[TEXT];
static unsigned tellings;
static bool full;

bool code_tell(uint64_t from, uint64_t to, const char *name)
{
    told_from = from;
    told_to = to;
    snprintf(told, sizeof told, "%s", name);
    tellings++;
    return !full;
}

static uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* A function of the system's library, not of a sanitizer's that stands in front of it. */
static const void *in_libc(void)
{
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    assert_non_null(library);
    const void *at = dlsym(library, "qsort");
    dlclose(library);
    return at;
}

static void begin(void)
{
    objects_forget();
    memset(&list, 0, sizeof list);
    tellings = 0;
    full = false;
}

static void test_exported(void **state)
{
    (void)state;
    begin();
    const uint64_t at = address(in_libc());
    const struct objects_place *p = objects_find(at, 1);
    assert_non_null(p);
    assert_true(p->from == at && p->to > at + 1);
    assert_int_equal(p->kind, OBJECTS_SYSTEM);
    assert_non_null(strstr(p->name, "libc"));
    assert_non_null(strstr(p->name, "`qsort"));
    assert_string_equal(told, p->name);
    assert_true(told_from == p->from && told_to == p->to);
    assert_ptr_equal(objects_find(p->to - 1, 1), p);
    assert_int_equal(tellings, 1);
}

/* What lies between exported functions has the object's name, and no function's address. */
static void test_between(void **state)
{
    (void)state;
    begin();
    const uint64_t first = address(in_libc());
    const struct objects_place *p = NULL;
    for (uint64_t at = first; p == NULL || p->name[0] != '['; at = p->to) {
        p = objects_find(at, 1);
        assert_non_null(p);
        assert_true(p->from <= at && at < p->to);
    }
    assert_null(strchr(p->name, '`'));
    assert_non_null(strstr(p->name, "libc"));
    for (uint32_t i = 0; i < places.n; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_true(places.v[i].from >= places.v[k].to || places.v[k].from >= places.v[i].to);
}

static int local(int n)
{
    return n * 3;
}

static void test_program(void **state)
{
    (void)state;
    begin();
    int (*volatile fn)(int) = local;
    const struct objects_place *p = objects_find(address((void *)(uintptr_t)fn), 1);
    assert_non_null(p);
    assert_int_equal(p->kind, OBJECTS_VM);
    assert_non_null(strstr(p->name, "test_objects"));
}

/* No object: a mapping without a file, the heap, the address 0. The list is read again for it, once
 * a second. */
static void test_nothing(void **state)
{
    (void)state;
    begin();
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(code != MAP_FAILED);
    assert_null(objects_find(address(code), 1));
    assert_null(objects_find(0, 1));
    assert_null(objects_find(UINT64_MAX, 1));
    assert_int_equal(list.at, 1);
    assert_null(objects_find(0, AGAIN_NS));
    assert_int_equal(list.at, 1);
    assert_null(objects_find(0, AGAIN_NS + 2));
    assert_int_equal(list.at, AGAIN_NS + 2);
    assert_int_equal(tellings, 0);
    munmap(code, 4096);
}

/* A log without room: no frame has a name that the consumer would not learn. */
static void test_full(void **state)
{
    (void)state;
    begin();
    full = true;
    assert_null(objects_find(address(in_libc()), 1));
    assert_null(objects_made(1, "[x]"));
    full = false;
    assert_non_null(objects_find(address(in_libc()), 1));
    assert_string_equal(objects_made(1, "[x]")->name, "[x]");
    const unsigned n = tellings;
    assert_string_equal(objects_made(1, "[x]")->name, "[x]");
    assert_int_equal(tellings, n);
}

/* An object is gone when the list is read again: its places are forgotten, others are kept. */
static void test_gone(void **state)
{
    (void)state;
    begin();
    const uint64_t at = address(in_libc());
    int (*volatile fn)(int) = local;
    assert_non_null(objects_find(at, 1));
    assert_non_null(objects_find(address((void *)(uintptr_t)fn), 1));
    for (uint32_t i = 0; i < list.n; i++)
        if (list.v[i].kind == OBJECTS_SYSTEM)
            list.v[i].inode++; /* as if another had been there */
    assert_null(objects_find(0, AGAIN_NS + 2));
    assert_int_equal(places.n, 1);
    assert_int_equal(place_at(address((void *)(uintptr_t)fn))->kind, OBJECTS_VM);
    assert_non_null(objects_find(at, AGAIN_NS + 2));
}

/* Objects whose tables say what cannot be: no function, and nothing is read beyond them. */
static void test_broken(void **state)
{
    (void)state;
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr segment[2];
        Elf64_Dyn entry[5];
        uint32_t hash[8];
        Elf64_Sym symbol[2];
        char strings[16];
    } o = {.head = {.e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2},
           .strings = "\0function\0"};
    char name[NAME];
    uint64_t from, to;
    const uint64_t base = address(&o);
    memcpy(o.head.e_ident, ELFMAG, SELFMAG);
    o.head.e_ident[EI_CLASS] = ELFCLASS64;
    o.segment[0] = (Elf64_Phdr){.p_type = PT_LOAD};
    o.segment[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_vaddr = address(o.entry) - base};
    o.entry[0] = (Elf64_Dyn){DT_SYMTAB, {address(o.symbol)}};
    o.entry[1] = (Elf64_Dyn){DT_STRTAB, {address(o.strings)}};
    o.entry[2] = (Elf64_Dyn){DT_STRSZ, {sizeof o.strings}};
    o.entry[3] = (Elf64_Dyn){DT_HASH, {address(o.hash)}};
    o.hash[1] = 2;
    o.symbol[1] = (Elf64_Sym){
        .st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x100, .st_size = 0x10};
    const struct mapped m = {.from = base, .to = base + 0x1000, .base = base};
    const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    assert_true(memory >= 0);
#define FINDS(yes)                                                                                 \
    do {                                                                                           \
        from = m.from;                                                                             \
        to = m.to;                                                                                 \
        assert_true(find_function(memory, &m, base + 0x104, &from, &to, name) == (yes));           \
    } while (0)
    FINDS(true);
    assert_string_equal(name, "function");
    assert_true(from == base + 0x100 && to == base + 0x110);
    o.symbol[1].st_name = 4000;
    FINDS(false);
    o.symbol[1].st_name = 1;
    o.strings[3] = '\n';
    FINDS(false);
    o.strings[3] = 'n';
    o.hash[1] = SYMBOLS;
    FINDS(false);
    o.hash[1] = SYMBOLS - 1; /* what is behind the table cannot be read, or is no function's */
    FINDS(true);
    o.hash[1] = 2;
    o.symbol[1].st_size = UINT64_MAX;
    FINDS(false);
    o.symbol[1].st_size = 0x10;
    o.entry[0].d_un.d_ptr = 16 + base + (UINT64_C(1) << 46);
    FINDS(false);
    o.entry[0].d_un.d_ptr = address(o.symbol);
    o.segment[1].p_vaddr = UINT64_C(1) << 46;
    FINDS(false);
    o.segment[1].p_vaddr = address(o.entry) - base;
    o.head.e_ident[0] = 0;
    FINDS(false);
    o.head.e_ident[0] = ELFMAG0;
    o.entry[3] = (Elf64_Dyn){DT_GNU_HASH, {address(o.hash)}};
    /* one bucket, symbols from 1 on, no filter */
    memcpy(o.hash, (uint32_t[]){1, 1, 0, 0, 1, 3}, 6 * sizeof *o.hash);
    FINDS(true);
    o.hash[0] = BUCKETS + 1;
    FINDS(false);
    o.hash[0] = 1;
    o.hash[4] = SYMBOLS;
    FINDS(false);
    close(memory);
}

/* The lines of the list of mappings, and what is none. */
static void test_lines(void **state)
{
    (void)state;
    static const char *const none[] = {
        "",
        "00400000",
        "00400000-0040a000",
        "00400000-0040a000 r-x",
        "0040a000-00400000 r-xp 00000000 fe:01 7 /bin/x",
        "00400000-0040a000 r-xpx 00000000 fe:01 7 /bin/x",
        "00400000-0040a000 r-xp 00000000",
        "00400000-0040a000 r-xp 00000000 fe:01",
        "00400000 0040a000 r-xp 00000000 fe:01 7",
    };
    struct maps_line l;
    assert_true(maps_read("00400000-0040a000 r-xp 00002000 fe:01 1183         /bin/a b", &l));
    assert_true(l.from == 0x400000 && l.to == 0x40a000 && l.offset == 0x2000 && l.inode == 1183);
    assert_memory_equal(l.rights, "r-xp ", 5);
    assert_string_equal(l.name, "/bin/a b");
    assert_true(maps_read("7ffe3f9b1000-7ffe3f9b3000 rw-p 00000000 00:00 0 \n", &l));
    assert_true(l.to == 0x7ffe3f9b3000 && l.inode == 0);
    assert_string_equal(l.name, "\n");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(maps_read(none[i], &l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exported), cmocka_unit_test(test_between),
        cmocka_unit_test(test_program),  cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_full),     cmocka_unit_test(test_gone),
        cmocka_unit_test(test_broken),   cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
