/* runtime.c - holds the object file of the runtime. */
#include "linux/runtime.h"

#include <string.h>

__asm__(".section .rodata\n.hidden runtime_object\n.globl runtime_object\n.balign 8\n"
        "runtime_object:\n.incbin \"" ET_RUNTIME "\"\n"
        ".hidden runtime_object_end\n.globl runtime_object_end\nruntime_object_end:\n.byte 0\n"
        ".previous\n");

static const struct {
    const char *name;
    int n;
} arguments[] = {
#define RUNTIME(name, n) {#name, n},
#include ET_RUNTIME_ARGUMENTS
#undef RUNTIME
};

int runtime_arguments(const char *name)
{
    for (unsigned i = 0; i < sizeof arguments / sizeof *arguments; i++)
        if (strcmp(arguments[i].name, name) == 0)
            return arguments[i].n;
    return -1;
}
