/* kregs.h - the registers of a thread of a program, by their places in what the kernel passes to
 * programs of user-space probes (struct pt_regs), and what functions keep in them. */
#ifndef ET_LINUX_KREGS_H
#define ET_LINUX_KREGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
#ifdef __aarch64__
    KREGS_SP = 31,    /* the stack pointer */
    KREGS_RESULT = 0, /* what a function returns */
    KREGS_PASSED = 8, /* arguments that are passed in registers */
    KREGS_PUSHED = 0  /* words on the stack at a function's begin, below its further arguments */
#else
    KREGS_SP = 19,
    KREGS_RESULT = 10,
    KREGS_PASSED = 6,
    KREGS_PUSHED = 1
#endif
};

/* The place of a function's i-th argument, of KREGS_PASSED. */
unsigned kregs_argument(unsigned i);

/* A register of the machine by its name, or a part of it. */
struct kreg {
    uint8_t place, shift; /* its lowest bit there */
    uint8_t size;         /* bytes */
};
bool kregs_find(const char *name, size_t len, struct kreg *out);

#endif
