/* looks.h - every look of the agent at a term of somebody else. */
#ifndef ET_TEST_FUZZ_LOOKS_H
#define ET_TEST_FUZZ_LOOKS_H

#include <erl_nif.h>

/* Looks at a term with each function there is for it, and compares it with another. Both may be
 * copies of the agent. */
void looks_at(ERL_NIF_TERM t, ERL_NIF_TERM other);

#endif
