/* made.h - terms of every kind, made of the bytes of an input (nif.h). */
#ifndef ET_TEST_FUZZ_MADE_H
#define ET_TEST_FUZZ_MADE_H

#include "fuzz.h"

#include <erl_nif.h>

struct made {
    struct input in;
    unsigned terms; /* made so far of those that there may be */
};

/* Any term; depth: how deep it is in others. */
ERL_NIF_TERM made_any(struct made *m, unsigned depth);
/* A tuple of n terms, at most 16. */
ERL_NIF_TERM made_tuple(struct made *m, unsigned n, unsigned depth);

#endif
