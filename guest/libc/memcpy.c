/* memcpy.c - the agent's own memcpy, which is the C library's memmove.
 *
 * A reference without a version gets the oldest memcpy of glibc on x86-64 (2.2.5). That one is
 * written for the oldest processors; only the one of 2.14 is chosen for the processor at hand, as
 * memmove is in every version. The compiler still copies small pieces in place, as it does without
 * this file, which is compiled by itself (Makefile): what is left is one jump. */
#include <string.h>

#undef memcpy /* where a header has also a macro of that name */
void *memcpy(void *to, const void *from, size_t n)
{
    return memmove(to, from, n);
}
