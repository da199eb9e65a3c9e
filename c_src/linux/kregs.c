/* kregs.c - registers. See kregs.h. */
#include "linux/kregs.h"

#include <stdlib.h>
#include <string.h>

#ifdef __aarch64__

unsigned kregs_argument(unsigned i)
{
    return i;
}

bool kregs_find(const char *name, size_t len, struct kreg *out)
{
    enum { LAST = 30 };
    unsigned n = 0;
    if (len == 2 && memcmp(name, "sp", 2) == 0) {
        *out = (struct kreg){KREGS_SP, 0, 8};
        return true;
    }
    if (len < 2 || len > 3 || (name[0] != 'x' && name[0] != 'w'))
        return false;
    for (size_t i = 1; i < len; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        n = n * 10 + (unsigned)(name[i] - '0');
    }
    *out = (struct kreg){(uint8_t)n, 0, name[0] == 'x' ? 8 : 4};
    return n <= LAST;
}

#else

/* In the order of struct pt_regs; NULL: not a register of the machine's instructions. */
static const struct {
    const char *name[5]; /* of 8 bytes, 4, 2, 1, and the second lowest byte */
} registers[] = {
    {{"r15", "r15d", "r15w", "r15b"}},
    {{"r14", "r14d", "r14w", "r14b"}},
    {{"r13", "r13d", "r13w", "r13b"}},
    {{"r12", "r12d", "r12w", "r12b"}},
    {{"rbp", "ebp", "bp", "bpl"}},
    {{"rbx", "ebx", "bx", "bl", "bh"}},
    {{"r11", "r11d", "r11w", "r11b"}},
    {{"r10", "r10d", "r10w", "r10b"}},
    {{"r9", "r9d", "r9w", "r9b"}},
    {{"r8", "r8d", "r8w", "r8b"}},
    {{"rax", "eax", "ax", "al", "ah"}},
    {{"rcx", "ecx", "cx", "cl", "ch"}},
    {{"rdx", "edx", "dx", "dl", "dh"}},
    {{"rsi", "esi", "si", "sil"}},
    {{"rdi", "edi", "di", "dil"}},
    {{NULL}},
    {{"rip"}},
    {{NULL}},
    {{NULL}},
    {{"rsp", "esp", "sp", "spl"}},
};

unsigned kregs_argument(unsigned i)
{
    static const uint8_t place[KREGS_PASSED] = {14, 13, 12, 11, 9, 8};
    return place[i];
}

bool kregs_find(const char *name, size_t len, struct kreg *out)
{
    static const uint8_t size[] = {8, 4, 2, 1, 1};
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        for (size_t k = 0; k < sizeof size; k++) {
            const char *is = registers[i].name[k];
            if (is == NULL || strlen(is) != len || memcmp(is, name, len) != 0)
                continue;
            *out = (struct kreg){(uint8_t)i, k == 4 ? 8 : 0, size[k]};
            return true;
        }
    return false;
}

#endif
