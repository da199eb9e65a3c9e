/* pf.h - printf and printa formats (language.md 8.5).
 *
 * A format is parsed once, when a session starts, and applied to each record. The compiler has
 * checked it against the types of its arguments; here only the shape is checked again. */
#ifndef ET_RESULT_PF_H
#define ET_RESULT_PF_H

#include "base/arena.h"
#include "base/buf.h"
#include "result/symbol.h"
#include "result/value.h"

enum pf_flag {
    PRINTF_ALT = 1 << 0,       /* # */
    PRINTF_ZERO = 1 << 1,      /* 0 */
    PRINTF_LEFT = 1 << 2,      /* - */
    PRINTF_PLUS = 1 << 3,      /* + */
    PRINTF_SPACE = 1 << 4,     /* blank */
    PRINTF_GROUP = 1 << 5,     /* ' */
    PRINTF_AGG = 1 << 6,       /* @: the value of an aggregation */
    PRINTF_WIDTH_ARG = 1 << 7, /* width is an argument */
    PRINTF_PREC_ARG = 1 << 8,  /* precision is an argument */
    PRINTF_WIDE = 1 << 9,      /* l or w with c or s: wide characters */
    PRINTF_VISIBLE = 1 << 10,  /* make texts visible: see env.show */
    PRINTF_ELIXIR = 1 << 11    /* likewise, for Elixir's names */
};

struct pf_conv {
    const char *text; /* literal text before the conversion */
    size_t len;
    unsigned flags; /* enum pf_flag */
    int width;      /* 0: none */
    int prec;       /* 0: none (a precision of 0 is ignored) */
    char conv;      /* the letter; 0: only text, the end of the format */
};
struct pf {
    struct pf_conv *conv; /* the last one has conv 0 */
    size_t n;
};

/* Parses a format into the arena; the text is borrowed. 0, ET_ENOMEM, or ET_EINVAL when it is
 * malformed. */
int pf_parse(struct arena *a, const char *format, struct pf *out);

/* Applies a conversion with @: appends the nth aggregation's value through pf_integer, or its
 * table. */
typedef void (*pf_agg_fn)(void *arg, unsigned nth, const struct pf_conv *c, struct buf *out);

/* What a format needs besides its values. Any member may be 0. */
struct pf_env {
    pf_agg_fn agg;
    void *arg;                     /* of agg */
    const struct symbols *symbols; /* for stacks and addresses */
    uint64_t target;               /* the process that %A looks up an integer in */
    unsigned show;                 /* enum value_show: of texts and characters */
};

/* Applies a format to the values, left to right; a missing value counts as 0 or "". env may be
 * NULL. */
void pf_format(const struct pf *f, const struct value *v, size_t n, const struct pf_env *env,
               struct buf *out);
/* Applies one integer conversion to a value. */
void pf_integer(const struct pf_conv *c, const struct value *v, struct buf *out);
/* Applies a conversion that may have an @, an integer's or a time's. */
void pf_value(const struct pf_conv *c, const struct value *v, struct buf *out);

#endif
