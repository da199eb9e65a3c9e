/* guard.h - guard bytes between the parts of an engine's memory.
 *
 * All of an engine's memory is one mapping, in which AddressSanitizer sees no boundaries. In a
 * build with it, ENGINE_GUARD poisoned bytes follow each part, so that an overrun of a part is
 * found. In all other builds there are none. */
#ifndef ET_ENGINE_GUARD_H
#define ET_ENGINE_GUARD_H

#ifdef __has_feature
#define ET_HAS_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define ET_HAS_ASAN 1
#else
#define ET_HAS_ASAN 0
#endif

#if ET_HAS_ASAN
#include <sanitizer/asan_interface.h>
enum { ENGINE_GUARD = 64 };
#define guard_set(p, n)   __asan_poison_memory_region(p, n)
#define guard_clear(p, n) __asan_unpoison_memory_region(p, n)
#else
enum { ENGINE_GUARD = 0 };
#define guard_set(p, n)   ((void)(p), (void)(n))
#define guard_clear(p, n) ((void)(p), (void)(n))
#endif

#endif
