/* kinsn.h - where the instructions of a function begin: a breakpoint inside one would change what
 * it does. */
#ifndef ET_LINUX_KINSN_H
#define ET_LINUX_KINSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the instruction at p, of which n may be read; 0: it is none that is known,
 * or does not end there. */
size_t kinsn_length(const unsigned char *p, size_t n);
/* The same; *at receives where in it four bytes are that count from its end to what it refers to
 * (0: there are none), *jumps whether that is code which it goes to or calls. Of x86-64 only: on
 * other machines no instruction is known. */
size_t kinsn_distance(const unsigned char *p, size_t n, size_t *at, bool *jumps);
/* Returns whether an instruction of a function begins at `offset`; `code` has its n bytes. If not,
 * *before is where the one begins that it lies in, or the last one that is known. */
bool kinsn_begins(const unsigned char *code, size_t n, uint64_t offset, uint64_t *before);
/* Returns whether the kernel may refuse a breakpoint at an instruction, as it does not run all of
 * them elsewhere: it has to be asked about each. */
bool kinsn_doubtful(const unsigned char *p, size_t n);
/* Returns whether a breakpoint at an instruction could change what the program does, though the
 * kernel takes it: Linux looks at the operation behind a VEX, EVEX or XOP prefix as if it had none,
 * takes an exchange with r8 for nothing, and, from 6.18 on, makes a call of five bytes that do
 * nothing, which writes where a function may keep data; at its entry (`entry`) none has any. */
bool kinsn_unsafe(const unsigned char *p, size_t n, bool entry);
/* Finds the next instruction from *at on by which a function returns, and leaves *at behind it;
 * `code` has all its n bytes. Returns its offset; KINSN_NONE: there is none, with *at == n, or what
 * lies there is not known. */
#define KINSN_NONE SIZE_MAX
size_t kinsn_return(const unsigned char *code, size_t n, size_t *at);

#endif
