/* symbol.h - stacks and addresses as text (language.md 8.4).
 *
 * Whoever runs a program knows what lies at an address (tier_ops.symbol); here that becomes text.
 * Without it, or where it does not know, an address is shown in hexadecimal. */
#ifndef ET_RESULT_SYMBOL_H
#define ET_RESULT_SYMBOL_H

#include "base/buf.h"
#include "result/options.h"
#include "result/value.h"
#include "tier/tier.h"

/* How addresses become text; NULL in place of one: hexadecimal. */
struct symbols {
    /* False: nothing is known of the address. pid 0: it is the kernel's. */
    bool (*find)(void *arg, uint64_t pid, uint64_t address, struct tier_symbol *out);
    void *arg;
    const struct options *opt; /* stackindent, noresolve; NULL: as when nobody sets them */
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

/* An address with its offset from the function: what %a and %A print of an integer. pid 0: the
 * kernel's. */
void symbol_address(const struct symbols *s, uint64_t pid, uint64_t address, struct buf *out);
/* A value of sym(), mod(), usym() and the like. */
void symbol_text(const struct symbols *s, const struct value *v, struct buf *out);
/* The frames of a stack, each on a line of its own after so many blanks and right-justified in so
 * many columns, up to the first address 0. */
void symbol_stack(const struct symbols *s, const struct value *v, int64_t indent, size_t width,
                  struct buf *out);
/* Blanks before a frame: the option stackindent. */
int64_t symbol_indent(const struct symbols *s);
/* The nth frame's text; false when there is none. */
bool symbol_frame(const struct symbols *s, const struct value *v, size_t nth, struct buf *out);

#endif
