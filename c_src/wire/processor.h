/* processor.h - processors, and what the headers of programs and libraries say.
 *
 * Headers are read from a copy of a file, or of its beginning, which anyone may have made: what is
 * not in the copy is not there. */
#ifndef ET_WIRE_PROCESSOR_H
#define ET_WIRE_PROCESSOR_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A processor that a program may be for. */
struct processor {
    uint16_t elf;      /* in headers, EM_... */
    const char *name;  /* as `uname -m` and the agent's file have it */
    const char *build; /* how to make the agent's library where another processor is; NULL: there is
                          no agent for it */
};
/* Returns the processor of a header, or NULL when we do not know it. */
const struct processor *processor_of(uint16_t elf);
/* Returns the name of a header's processor, or "another processor". */
const char *processor_name(uint16_t elf);
/* Returns the processor of a node by its system_architecture, "aarch64-unknown-linux-gnu"; NULL:
 * there is no agent for it. */
const struct processor *processor_of_node(const char *architecture);
/* Returns whether this program is for that processor. */
bool processor_is_ours(const struct processor *p);

/* What a file's header says. */
struct elf_head {
    const char *file; /* the copy, and its bytes */
    size_t n;
    uint16_t machine;
    bool is64; /* of 64 bits: only then is `head` set, and are there segments to be read */
    Elf64_Ehdr head;
    uint16_t type; /* ET_... */
};
/* Reads a header. Returns false when there is none, or one of the other order of bytes. */
bool elf_head(struct elf_head *e, const char *file, size_t n);
/* Reads the header of segment i. Returns false when the copy does not have it. */
bool elf_segment(const struct elf_head *e, size_t i, Elf64_Phdr *p);
/* Returns whether the copy has all that the headers of a file of 64 bits name. */
bool elf_is_whole(const struct elf_head *e);

#endif
