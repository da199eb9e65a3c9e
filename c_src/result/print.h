/* print.h - what print() shows (language.md 8.6). */
#ifndef ET_RESULT_PRINT_H
#define ET_RESULT_PRINT_H

#include "base/buf.h"
#include "result/value.h"

/* The object at an address: its bytes, and the text that says what they are. That text, of which
 * nothing is believed:
 *
 *   TYPE    s SIZE , NAME ; MEMBER... }    struct or union
 *           a COUNT , NAME ; TYPE          array
 *           e SIZE , NAME ; ENUMERATOR... }
 *           K SIZE , NAME ;                K: d signed, u unsigned, c char, p pointer, f float,
 *                                  t string
 *   MEMBER  m OFFSET , BIT , BITS , NAME ; TYPE
 *   ENUMERATOR  n VALUE , NAME ;
 *
 * Of the bytes at most `most` are shown; `...` stands for what is left out. */
void print_object(uint64_t address, const struct value *bytes, const char *type, size_t most,
                  struct buf *out);

#endif
