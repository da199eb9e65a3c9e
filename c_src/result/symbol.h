/* symbol.h - stacks and addresses as text (language.md 8.4).
 *
 * The tier that runs a program knows the symbol at an address (tier_ops.symbol); this file makes
 * text of it. Without it, or where it is unknown, an address is shown in hexadecimal. */
#ifndef ET_RESULT_SYMBOL_H
#define ET_RESULT_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "result/options.h"
#include "result/value.h"
#include "tier/tier.h"

/* How addresses become text; NULL instead of one: hexadecimal. */
struct symbols {
    /* Returns false when the address is unknown. pid 0: a kernel address. */
    bool (*find)(void *arg, uint64_t pid, uint64_t address, struct tier_symbol *out);
    void *arg;
    const struct options *opt; /* stackindent, stackform, noresolve; NULL: their defaults */
};

/* Whether a value is a stack; whether it is a stack or a symbol. */
static inline bool symbol_is_stack(const struct value *v)
{
    return v->kind >= DIF_STACK && v->kind <= DIF_JSTACK;
}
static inline bool symbol_is(const struct value *v)
{
    return v->kind >= DIF_STACK && v->kind <= DIF_UADDR;
}

/* Appends an address with its offset from the function, as %a and %A print an integer. pid 0: a
 * kernel address. */
void symbol_address(const struct symbols *s, uint64_t pid, uint64_t address, struct buf *out);
/* Appends a value of sym(), mod(), usym() and the like. */
void symbol_text(const struct symbols *s, const struct value *v, struct buf *out);
/* Appends the frames of a stack up to the first address 0, each on a separate line after `indent`
 * blanks and right-justified in `width` columns. show, here and below: of enum value_show, only
 * SHOW_ELIXIR. */
void symbol_stack(const struct symbols *s, const struct value *v, int64_t indent, size_t width,
                  unsigned show, struct buf *out);
/* Returns the blanks before a frame: the option stackindent. */
int64_t symbol_indent(const struct symbols *s);
/* Appends the nth frame's text. Returns false when there is none. */
bool symbol_frame(const struct symbols *s, const struct value *v, size_t nth, struct buf *out);
/* Returns the number of frames of a stack. */
size_t symbol_depth(const struct value *v);

/* A frame as profiles have it. */
struct symbol_place {
    struct buf name;  /* the function, without an offset; NUL-terminated only by buf_str */
    const char *file; /* its source; NULL: unknown. Borrowed as those of tier_symbol are */
    uint32_t line;    /* 0: unknown */
    bool known;       /* the name is that of a function, not an address */
};
/* Fills in the nth frame of a stack; place->name is emptied first. Returns false when there is
 * none. */
bool symbol_place(const struct symbols *s, const struct value *v, size_t nth, unsigned show,
                  struct symbol_place *place);

#define SYMBOL_NO_STACK "[no stack]"

/* Whether the option stackform asks for stacks on one line. */
bool symbol_folded(const struct symbols *s);
/* Appends a text as a frame of a folded stack: what separates frames, or a stack from its value,
 * becomes something else. */
void symbol_fold_text(const char *text, size_t n, struct buf *out);
/* Appends a stack on one line, its root first, frames separated by ';'. In the place of a stack
 * without frames there is one that says so. */
void symbol_fold(const struct symbols *s, const struct value *v, unsigned show, struct buf *out);

#endif
