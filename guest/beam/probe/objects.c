/* objects.c - see objects.h. */
#include "beam/probe/objects.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beam/probe/code.h"
#include "beam/probe/inside.h"
#include "beam/probe/maps.h"

enum {
    OBJECTS = 512, /* mappings of native code */
    PLACES = 1024,
    LINE = 512,        /* bytes of a line of the list */
    NAME = 64,         /* of an object's name */
    TEXT = 2 * NAME,   /* of a place's */
    SEGMENTS = 32,     /* of an object */
    ENTRIES = 128,     /* of its dynamic section */
    SYMBOLS = 1 << 17, /* of it */
    BUCKETS = 1 << 17,
    SYMBOL_WORDS = sizeof(Elf64_Sym) / 8,
    SOME = 128 /* symbols */
};
#define AGAIN_NS UINT64_C(1000000000)

/* A mapping that can be executed. */
struct mapped {
    uint64_t from, to;
    uint64_t base; /* where its object begins; 0: not known */
    uint64_t inode;
    char name[NAME];
    enum objects_kind kind;
};

static struct {
    struct mapped v[OBJECTS];
    uint32_t n;
    uint64_t at; /* when it was read; 0: never */
} list, before;

/* In no order. */
static struct {
    struct objects_place v[PLACES];
    char text[PLACES][TEXT];
    uint32_t n;
    bool made[OBJECTS_MADE + 1]; /* told */
} places;

/* -- the list of mappings ---------------------------------------------------------------------- */

static bool begins_with(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static enum objects_kind kind_of(const char *path, const char *name, const char *program)
{
    static const char *const systems[] = {"libc.",     "libc-",      "libpthread", "libm.", "libm-",
                                          "libgcc_s.", "libstdc++.", "ld-",        "[v"};
    if (strcmp(path, program) == 0)
        return OBJECTS_VM;
    for (unsigned i = 0; i < sizeof systems / sizeof *systems; i++)
        if (begins_with(name, systems[i]))
            return OBJECTS_SYSTEM;
    return OBJECTS_OTHER;
}

/* Keeps what may be shown of a name. */
static void set_name(char out[NAME], const char *name)
{
    size_t n = 0;
    for (; name[n] != '\0' && n < NAME - 1; n++)
        out[n] = name[n] > ' ' && name[n] < '\x7f' && name[n] != ';' ? name[n] : '_';
    out[n] = '\0';
}

/* Adds a line of the list. *base, *inode: of the object that began last. */
static void add_line(char *line, const char *program, uint64_t *base, uint64_t *inode)
{
    struct maps_line l;
    line[strcspn(line, "\n")] = '\0';
    if (!maps_read(line, &l))
        return;
    struct mapped m = {.from = l.from, .to = l.to, .inode = l.inode};
    char *name = line + (l.name - line), *gone = strstr(name, " (deleted)");
    if (gone != NULL)
        *gone = '\0';
    if ((name[0] != '/' && !begins_with(name, "[v")) || begins_with(name, "/memfd:"))
        return;
    if (l.offset == 0) {
        *base = m.from;
        *inode = m.inode;
    }
    if (l.rights[2] != 'x' || list.n == OBJECTS)
        return;
    const char *slash = strrchr(name, '/');
    m.base = *inode == m.inode ? *base : 0;
    m.kind = kind_of(name, slash != NULL ? slash + 1 : name, program);
    set_name(m.name, slash != NULL ? slash + 1 : name);
    list.v[list.n++] = m;
}

static bool is_same(const struct mapped *a, const struct mapped *b)
{
    return a->from == b->from && a->to == b->to && a->base == b->base && a->inode == b->inode &&
           strcmp(a->name, b->name) == 0;
}

static const struct mapped *mapped_at(const struct mapped *v, uint32_t n, uint64_t at)
{
    for (uint32_t i = 0; i < n; i++)
        if (at >= v[i].from && at < v[i].to)
            return &v[i];
    return NULL;
}

/* Forgets the places of objects that are no longer there. */
static void settle(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < places.n; i++) {
        const struct mapped *was = mapped_at(before.v, before.n, places.v[i].from),
                            *is = mapped_at(list.v, list.n, places.v[i].from);
        if (was == NULL || is == NULL || !is_same(was, is))
            continue;
        places.v[n] = places.v[i];
        if (n < i)
            memcpy(places.text[n], places.text[i], TEXT);
        places.v[n].name = places.text[n];
        n++;
    }
    places.n = n;
}

static void read_list(uint64_t now)
{
    char line[LINE], program[LINE] = "";
    uint64_t base = 0, inode = 0;
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *gone = strstr(program, " (deleted)");
    if (gone != NULL)
        *gone = '\0';
    before = list;
    list.n = 0;
    list.at = now;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        add_line(line, program, &base, &inode);
    if (maps != NULL)
        fclose(maps);
    settle();
}

/* -- exported functions ------------------------------------------------------------------------ */

/* What an object says of its dynamic symbols. */
struct dynamic {
    uint64_t bias; /* what is added to its addresses */
    uint64_t symbols, strings, strings_size, hash, gnu_hash;
    uint32_t n; /* symbols */
};

static bool read_bytes(int memory, uint64_t at, void *out, size_t n)
{
    return pread(memory, out, n, (off_t)at) == (ssize_t)n;
}

/* The loader may have made addresses of what the file has. */
static uint64_t address_of(const struct dynamic *d, uint64_t base, uint64_t value)
{
    return value < base ? value + d->bias : value;
}

static bool read_dynamic(int memory, uint64_t base, struct dynamic *d)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    Elf64_Dyn entry;
    uint64_t at = 0;
    bool loaded = false;
    if (base == 0 || !read_bytes(memory, base, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof segment)
        return false;
    for (unsigned i = 0; i < head.e_phnum && i < SEGMENTS; i++) {
        if (!read_bytes(memory, base + head.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return false;
        if (segment.p_type == PT_LOAD && !loaded && segment.p_offset == 0) {
            d->bias = base - segment.p_vaddr;
            loaded = true;
        }
        if (segment.p_type == PT_DYNAMIC)
            at = segment.p_vaddr;
    }
    if (!loaded || at == 0)
        return false;
    for (unsigned i = 0; i < ENTRIES; i++) {
        if (!read_bytes(memory, at + d->bias + i * sizeof entry, &entry, sizeof entry))
            return false;
        switch (entry.d_tag) {
        case DT_NULL: return d->symbols != 0 && d->strings != 0;
        case DT_SYMTAB: d->symbols = address_of(d, base, entry.d_un.d_ptr); break;
        case DT_STRTAB: d->strings = address_of(d, base, entry.d_un.d_ptr); break;
        case DT_STRSZ: d->strings_size = entry.d_un.d_val; break;
        case DT_HASH: d->hash = address_of(d, base, entry.d_un.d_ptr); break;
        case DT_GNU_HASH: d->gnu_hash = address_of(d, base, entry.d_un.d_ptr); break;
        default: break;
        }
    }
    return false;
}

/* Counts the symbols by the last one of the last chain that a hash table has. */
static uint32_t count_in_gnu_hash(int memory, uint64_t table)
{
    uint32_t head[4], part[SOME], last = 0; /* buckets, first symbol, words of a filter, ... */
    if (!read_bytes(memory, table, head, sizeof head) || head[0] > BUCKETS || head[2] > BUCKETS)
        return 0;
    const uint64_t buckets = table + sizeof head + head[2] * 8ull;
    for (uint32_t i = 0; i < head[0]; i += SOME) {
        const uint32_t some = head[0] - i < SOME ? head[0] - i : SOME;
        if (!read_bytes(memory, buckets + i * 4ull, part, some * 4ull))
            return 0;
        for (uint32_t k = 0; k < some; k++)
            last = part[k] > last ? part[k] : last;
    }
    if (last < head[1])
        return head[1] < SYMBOLS ? head[1] : 0;
    for (; last < SYMBOLS; last++) {
        uint32_t hash;
        if (!read_bytes(memory, buckets + head[0] * 4ull + (last - head[1]) * 4ull, &hash, 4))
            return 0;
        if ((hash & 1) != 0)
            return last + 1;
    }
    return 0;
}

static uint32_t count_symbols(int memory, const struct dynamic *d)
{
    uint32_t head[2];
    if (d->gnu_hash != 0)
        return count_in_gnu_hash(memory, d->gnu_hash);
    return d->hash != 0 && read_bytes(memory, d->hash, head, sizeof head) && head[1] < SYMBOLS
               ? head[1]
               : 0;
}

/* Reads a name, if it is one. */
static bool read_name(int memory, const struct dynamic *d, uint32_t at, char out[NAME])
{
    size_t n = 0;
    while (n < NAME - 1 && at + n < d->strings_size &&
           read_bytes(memory, d->strings + at + n, &out[n], 1) && out[n] != '\0') {
        if (out[n] <= ' ' || out[n] >= '\x7f' || out[n] == ';')
            return false;
        n++;
    }
    out[n] = '\0';
    return n > 0;
}

/* Narrows an extent, which is that of the mapping, to the exported function that `at` lies in, or
 * to what lies between two of them. Returns whether there is a function, and its name. */
static bool find_function(int memory, const struct mapped *m, uint64_t at, uint64_t *from,
                          uint64_t *to, char name[NAME])
{
    static Elf64_Sym symbol[SOME];
    struct dynamic d = {0};
    uint64_t in = 0, in_end = 0; /* of the innermost function; 0: none */
    uint32_t called = 0;
    if (!read_dynamic(memory, m->base, &d))
        return false;
    const uint32_t n = count_symbols(memory, &d);
    for (uint32_t i = 0; i < n; i += SOME) {
        const uint32_t some = n - i < SOME ? n - i : SOME;
        if (!read_bytes(memory, d.symbols + i * sizeof *symbol, symbol, some * sizeof *symbol))
            break;
        for (uint32_t k = 0; k < some; k++) {
            const uint64_t first = symbol[k].st_value + d.bias, end = first + symbol[k].st_size;
            if (ELF64_ST_TYPE(symbol[k].st_info) != STT_FUNC || symbol[k].st_shndx == SHN_UNDEF ||
                end <= first)
                continue;
            if (first > at) {
                *to = first < *to ? first : *to;
            } else if (end <= at) {
                *from = end > *from ? end : *from;
            } else if (first > in) {
                in = first;
                in_end = end;
                called = symbol[k].st_name;
            }
        }
    }
    if (in == 0 || !read_name(memory, &d, called, name))
        return false;
    *from = in > *from ? in : *from;
    *to = in_end < *to ? in_end : *to;
    return true;
}

/* -- places ------------------------------------------------------------------------------------ */

static const struct objects_place *place_at(uint64_t at)
{
    for (uint32_t i = 0; i < places.n; i++)
        if (at >= places.v[i].from && at < places.v[i].to)
            return &places.v[i];
    return NULL;
}

const struct objects_place *objects_find(uint64_t at, uint64_t now)
{
    char function[NAME];
    const struct objects_place *had = place_at(at);
    if (had != NULL)
        return had;
    const struct mapped *m = mapped_at(list.v, list.n, at);
    if (m == NULL && (list.at == 0 || now - list.at > AGAIN_NS)) {
        read_list(now);
        m = mapped_at(list.v, list.n, at);
    }
    if (m == NULL || places.n == PLACES)
        return NULL;
    struct objects_place *p = &places.v[places.n];
    char *text = places.text[places.n];
    *p = (struct objects_place){m->from, m->to, text, m->kind};
    const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (memory >= 0 && find_function(memory, m, at, &p->from, &p->to, function))
        snprintf(text, TEXT, "%s`%s", m->name, function);
    else
        snprintf(text, TEXT, "[%s]", m->name);
    if (memory >= 0)
        close(memory);
    if (at < p->from || at >= p->to || !code_tell(p->from, p->to, text))
        return NULL;
    places.n++;
    return p;
}

const struct objects_place *objects_made(unsigned number, const char *name)
{
    static struct objects_place p;
    if (!places.made[number] && !(places.made[number] = code_tell(number, number + 1ull, name)))
        return NULL;
    p = (struct objects_place){number, number + 1ull, name, OBJECTS_VM};
    return &p;
}

void objects_forget(void)
{
    places.n = 0;
    memset(places.made, 0, sizeof places.made);
}
