/* processor.c - processors, and the headers of programs and libraries. See processor.h. */
#include "wire/processor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wire/find.h"
#include "wire/proc.h"

enum { READ = 1024 /* bytes of a file: its header, and those of its segments, which follow it */ };

static const struct processor processors[] = {
    {EM_X86_64, "x86_64", "copy priv/erltrace_agent.so of an erltrace for x86_64 there"},
    {EM_AARCH64, "aarch64", "make it where erltrace is built: make arm64"},
    {EM_386, "i686", NULL},
    {EM_ARM, "arm", NULL},
    {EM_PPC64, "ppc64le", NULL},
    {EM_RISCV, "riscv64", NULL},
};

const struct processor *processor_of(uint16_t elf)
{
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++)
        if (processors[i].elf == elf)
            return &processors[i];
    return NULL;
}

const char *processor_name(uint16_t elf)
{
    const struct processor *p = processor_of(elf);
    return p != NULL ? p->name : "another processor";
}

const struct processor *processor_of_node(const char *architecture)
{
    const size_t n = strcspn(architecture, "-");
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        const struct processor *p = &processors[i];
        if (p->build != NULL && strlen(p->name) == n && strncmp(p->name, architecture, n) == 0 &&
            strstr(architecture, "linux") != NULL)
            return p;
    }
    return NULL;
}

/* (Not what uname() says, which a process can change for itself.) */
bool processor_is_ours(const struct processor *p)
{
#if defined(__x86_64__)
    return p->elf == EM_X86_64;
#elif defined(__aarch64__)
    return p->elf == EM_AARCH64;
#else
    (void)p;
    return false;
#endif
}

bool elf_head(struct elf_head *e, const char *file, size_t n)
{
    Elf32_Ehdr h; /* what is used of it is at the same place in each class */
    *e = (struct elf_head){.file = file, .n = n};
    if (n < sizeof h)
        return false;
    memcpy(&h, file, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    e->machine = h.e_machine;
    e->type = h.e_type;
    e->is64 = h.e_ident[EI_CLASS] == ELFCLASS64;
    if (e->is64 && n < sizeof e->head)
        return false;
    if (e->is64)
        memcpy(&e->head, file, sizeof e->head);
    return true;
}

bool elf_segment(const struct elf_head *e, size_t i, Elf64_Phdr *p)
{
    if (!e->is64 || e->head.e_phentsize != sizeof *p || e->head.e_phoff > e->n ||
        i >= e->head.e_phnum || i >= (e->n - e->head.e_phoff) / sizeof *p)
        return false;
    memcpy(p, e->file + e->head.e_phoff + i * sizeof *p, sizeof *p);
    return true;
}

bool elf_is_whole(const struct elf_head *e)
{
    Elf64_Phdr p;
    for (size_t i = 0; i < e->head.e_phnum; i++)
        if (!elf_segment(e, i, &p) || p.p_offset > e->n || p.p_filesz > e->n - p.p_offset)
            return false;
    /* The section headers are the last part. */
    return e->is64 && e->head.e_shoff <= e->n &&
           e->head.e_shnum <= (e->n - e->head.e_shoff) / sizeof(Elf64_Shdr);
}

void beam_emulator(struct beam *b, const char *file, size_t n)
{
    struct elf_head e;
    Elf64_Phdr p;
    b->machine = EM_NONE;
    b->loads_nothing = false;
    b->loader[0] = '\0';
    if (!elf_head(&e, file, n))
        return;
    b->machine = e.machine;
    for (size_t i = 0; i < e.head.e_phnum; i++) {
        if (!elf_segment(&e, i, &p))
            return;
        if (p.p_type == PT_INTERP) {
            if (p.p_offset <= n && p.p_filesz <= n - p.p_offset && p.p_filesz < sizeof b->loader)
                snprintf(b->loader, sizeof b->loader, "%.*s", (int)p.p_filesz, file + p.p_offset);
            return;
        }
    }
    b->loads_nothing = e.head.e_phnum > 0; /* it names no loader */
}

void beam_processor(struct beam *b)
{
    char path[700], file[READ];
    const int proc = b->erts[0] ? proc_open(b->pid, b->start) : -1;
    if (proc < 0)
        return;
    snprintf(path, sizeof path, "%s/erts-%s/bin/beam.smp", b->root, b->erts);
    const ssize_t n = proc_file(proc, b->uid, path, PROC_OWN_OR_ROOT, file, sizeof file);
    close(proc);
    if (n > 0)
        beam_emulator(b, file, (size_t)n);
}
