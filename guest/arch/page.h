/* page.h - the pages in which the system gives memory and takes it back: 4 KiB on x86-64; on other
 * processors as the kernel was built, up to 64 KiB. */
#ifndef ET_ARCH_PAGE_H
#define ET_ARCH_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* Returns the bytes of a page, a power of two. */
static inline size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns the bytes of the whole pages in the n bytes from `at` on, and how many bytes lie before
 * them; of memory without a whole page all lie before. */
static inline size_t page_inside(uintptr_t at, size_t n, size_t page, size_t *before)
{
    const size_t first = -at & (page - 1);
    *before = n > first ? first : n;
    return (n - *before) & ~(page - 1);
}

#endif
