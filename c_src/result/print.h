/* print.h - what print() shows (language.md 8.6). */
#ifndef ET_RESULT_PRINT_H
#define ET_RESULT_PRINT_H

#include "base/buf.h"
#include "result/value.h"

/* Appends the object at an address, from its bytes and the text that describes them. That text is
 * not trusted:
 *
 *   TYPE    s SIZE , NAME ; MEMBER... }    struct or union
 *           a COUNT , NAME ; TYPE          array
 *           e SIZE , NAME ; ENUMERATOR... }
 *           K SIZE , NAME ;                K: d signed, u unsigned, c char, p pointer, f float,
 *                                  t string
 *   MEMBER  m OFFSET , BIT , BITS , NAME ; TYPE
 *   ENUMERATOR  n VALUE , NAME ;
 *
 * Shows at most `most` of the bytes; `...` stands for the rest. */
void print_object(uint64_t address, const struct value *bytes, const char *type, size_t most,
                  struct buf *out);

#endif
