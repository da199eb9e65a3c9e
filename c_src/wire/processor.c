/* processor.c - whether the agent's library can be loaded by a BEAM of this host, as the file of
 * its emulator says. */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wire/find.h"
#include "wire/proc.h"

enum { READ = 1024 /* bytes of a file: its header, and those of its segments, which follow it */ };

static const struct {
    uint16_t machine;
    const char *name; /* as `uname -m` has it */
    bool traced;      /* there is an agent for it, though perhaps not here (tier/vm_agent.c) */
} processors[] = {{EM_X86_64, "x86_64", true},  {EM_AARCH64, "aarch64", true},
                  {EM_386, "i686", false},      {EM_ARM, "arm", false},
                  {EM_PPC64, "ppc64le", false}, {EM_RISCV, "riscv64", false}};

const char *beam_processor_name(uint16_t machine)
{
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++)
        if (processors[i].machine == machine)
            return processors[i].name;
    return "another processor";
}

static bool is_traced(uint16_t machine)
{
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++)
        if (processors[i].machine == machine)
            return processors[i].traced;
    return false;
}

/* Returns the machine that a file is for, or EM_NONE when it is no program. */
static uint16_t machine_of(const char *file, size_t n)
{
    Elf32_Ehdr h; /* what is used is at the same place in each class */
    if (n < sizeof h)
        return EM_NONE;
    memcpy(&h, file, sizeof h);
    return memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_DATA] == ELFDATA2LSB
               ? h.e_machine
               : EM_NONE;
}

/* Returns whether a program of 64 bits has no loader. */
static bool has_no_loader(const char *file, size_t n)
{
    Elf64_Ehdr h;
    Elf64_Phdr p;
    if (n < sizeof h)
        return false;
    memcpy(&h, file, sizeof h);
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof p || h.e_phnum == 0 ||
        h.e_phoff > n || h.e_phnum > (n - h.e_phoff) / sizeof p)
        return false;
    for (size_t i = 0; i < h.e_phnum; i++) {
        memcpy(&p, file + h.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_INTERP)
            return false;
    }
    return true;
}

void beam_emulator(struct beam *b, const char *file, size_t n)
{
    const uint16_t its = machine_of(file, n);
    b->machine = its != EM_NONE && !is_traced(its) ? its : EM_NONE;
    b->loads_nothing = b->machine == EM_NONE && has_no_loader(file, n);
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
