/* subr_term.c - subroutines on terms: values of the traced program, by their handles.
 *
 * Only the tier knows the value of a handle (engine_terms); here it is just a number. 0, which
 * means no term, has no kind, text or parts, and is 0 as an integer, so that term_int(term_get(t,
 * "size")) is correct even where nothing has that name. A number that is not a handle of this
 * firing faults. */
#include "engine/subr/subr.h"

#include <string.h>

#include "base/size.h"

/* Returns whether there is a term to examine; false also after a fault. */
static bool there(struct exec *x, uint64_t term)
{
    if (term == 0)
        return false;
    if (x->ctx->terms != NULL && x->ctx->terms->known(x->ctx, term))
        return true;
    exec_fault(x, RECORD_FAULT_BADADDR, term);
    return false;
}

/* Counts what was examined in terms. All these functions are bounded, even where they exceed the
 * budget. */
static bool looked(struct exec *x)
{
    const uint64_t units = size_mul(x->ctx->looked, WORK_TERM);
    x->ctx->looked = 0;
    return exec_work(x, units);
}

static uint64_t empty(struct exec *x)
{
    return x->faulted ? 0 : subr_copy(x, "", 0);
}

static const char *kind(struct exec *x, uint64_t term)
{
    return there(x, term) ? x->ctx->terms->kind(x->ctx, term) : "";
}

uint64_t subr_term_kind(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    const char *k = kind(x, arg[0]);
    return x->faulted ? 0 : subr_copy(x, k, strlen(k));
}

/* -- kinds ------------------------------------------------------------------------------------- */

static bool is(struct exec *x, uint64_t term, const char *a, const char *b)
{
    const char *k = kind(x, term);
    return strcmp(k, a) == 0 || strcmp(k, b) == 0;
}

#define IS(name, a, b)                                                                             \
    uint64_t subr_is_##name(struct exec *x, const uint64_t *arg, unsigned n)                       \
    {                                                                                              \
        (void)n;                                                                                   \
        return is(x, arg[0], a, b);                                                                \
    }
IS(atom, "atom", "atom")
IS(binary, "binary", "binary")
IS(bitstring, "binary", "bitstring")
IS(float, "float", "float")
IS(function, "fun", "fun")
IS(integer, "integer", "integer")
IS(list, "list", "list")
IS(map, "map", "map")
IS(number, "integer", "float")
IS(pid, "pid", "pid")
IS(port, "port", "port")
IS(reference, "reference", "reference")
IS(tuple, "tuple", "tuple")

uint64_t subr_is_boolean(struct exec *x, const uint64_t *arg, unsigned n)
{
    char name[8]; /* a longer one is cut */
    (void)n;
    if (!is(x, arg[0], "atom", "atom"))
        return 0;
    x->ctx->terms->string(x->ctx, arg[0], name, sizeof name);
    return looked(x) && (strcmp(name, "true") == 0 || strcmp(name, "false") == 0);
}

uint64_t subr_is_record(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return there(x, arg[0]) && there(x, arg[1]) && x->ctx->terms->is_record(x->ctx, arg[0], arg[1]);
}

/* -- numbers ----------------------------------------------------------------------------------- */

static uint64_t ask(struct exec *x, uint64_t term, enum engine_ask what, int64_t with)
{
    if (!there(x, term))
        return 0;
    x->ctx->least = false;
    int64_t number = x->ctx->terms->ask(x->ctx, term, what, with);
    if (x->ctx->least)
        exec_lower(x);
    return looked(x) ? (uint64_t)number : 0;
}

#define ASK(name, what)                                                                            \
    uint64_t subr_##name(struct exec *x, const uint64_t *arg, unsigned n)                          \
    {                                                                                              \
        return ask(x, arg[0], ENGINE_ASK_##what, n > 1 ? (int64_t)arg[1] : 0);                     \
    }
ASK(term_int, INT)
ASK(term_is_int, EQUALS)
ASK(term_float, FLOAT)
ASK(term_size, SIZE)
ASK(length, LENGTH)
ASK(term_words, WORDS)
ASK(term_hash, HASH)

#define SIZE(name, kind)                                                                           \
    uint64_t subr_##name(struct exec *x, const uint64_t *arg, unsigned n)                          \
    {                                                                                              \
        (void)n;                                                                                   \
        return is(x, arg[0], kind, kind) ? ask(x, arg[0], ENGINE_ASK_SIZE, 0) : 0;                 \
    }
SIZE(tuple_size, "tuple")
SIZE(map_size, "map")
SIZE(byte_size, "binary")

uint64_t subr_term_is(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    if (arg[0] == arg[1] || arg[0] == 0 || arg[1] == 0)
        return arg[0] == arg[1];
    if (!there(x, arg[0]) || !there(x, arg[1]))
        return 0;
    bool same = x->ctx->terms->equal(x->ctx, arg[0], arg[1]);
    return looked(x) && same;
}

/* -- texts ------------------------------------------------------------------------------------- */

enum form { FORM_TEXT, FORM_OTHER, FORM_STRING };

/* Returns the term's text in scratch. */
static uint64_t written(struct exec *x, uint64_t term, enum form form)
{
    const struct engine_terms *ops = x->ctx->terms;
    if (!there(x, term))
        return empty(x);
    const size_t all = (size_t)x->e->img.strsize + 1;
    const size_t cap = size_min(all, x->left / WORK_TERM + 1);
    char *p = exec_scratch(x, cap);
    if (p == NULL)
        return 0;
    size_t n = form == FORM_STRING ? ops->string(x->ctx, term, p, cap)
                                   : ops->text(x->ctx, term, form == FORM_OTHER, p, cap);
    if (!looked(x))
        return 0;
    if (n + 1 == cap && cap < all)
        return exec_overdrawn(x); /* it would have been longer */
    return subr_address(p);
}

uint64_t subr_term_text(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return written(x, arg[0], FORM_TEXT);
}

uint64_t subr_term_inspect(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return written(x, arg[0], FORM_OTHER);
}

uint64_t subr_term_string(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return written(x, arg[0], FORM_STRING);
}

/* Returns whether the term holds this text: one that contains none does not hold "". */
uint64_t subr_term_is_text(struct exec *x, const uint64_t *arg, unsigned n)
{
    enum { MORE = 8 /* than a character has bytes */ };
    struct text s;
    (void)n;
    if (!there(x, arg[0]) || !subr_text(x, arg[1], &s))
        return 0;
    if (s.n == 0 && !is(x, arg[0], "atom", "list") && !is(x, arg[0], "binary", "binary"))
        return 0;
    char *p = exec_scratch(x, s.n + MORE);
    if (p == NULL || !exec_work(x, s.n / WORK_COPY))
        return 0;
    size_t len = x->ctx->terms->string(x->ctx, arg[0], p, s.n + MORE);
    if (!looked(x) || len != s.n)
        return 0;
    return len > 0 ? memcmp(p, s.s, len) == 0 : ask(x, arg[0], ENGINE_ASK_SIZE, 0) == 0;
}

/* -- parts ------------------------------------------------------------------------------------- */

static uint64_t found(struct exec *x, uint64_t term)
{
    if (!looked(x))
        return 0;
    if (term == ENGINE_TERMS_OTHER)
        return exec_fault(x, RECORD_FAULT_BADRECORD, 0);
    if (term == ENGINE_TERMS_OLD)
        return exec_fault(x, RECORD_FAULT_OLDRECORD, 0);
    return term == ENGINE_TERMS_FULL ? exec_fault(x, RECORD_FAULT_NOSCRATCH, 0) : term;
}

static uint64_t part(struct exec *x, uint64_t term, enum engine_part which, uint64_t i)
{
    return there(x, term) ? found(x, x->ctx->terms->part(x->ctx, term, which, (int64_t)i)) : 0;
}

uint64_t subr_term_element(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return part(x, arg[0], ENGINE_PART_ANY, arg[1]);
}

uint64_t subr_element(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return part(x, arg[1], ENGINE_PART_ELEMENT, arg[0]);
}

uint64_t subr_hd(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return part(x, arg[0], ENGINE_PART_HEAD, 0);
}

uint64_t subr_tl(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return part(x, arg[0], ENGINE_PART_TAIL, 0);
}

/* The second argument says which record and element, as the tier numbers them. */
uint64_t subr_term_field(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return there(x, arg[0]) ? found(x, x->ctx->terms->field(x->ctx, arg[0], arg[1])) : 0;
}

uint64_t subr_term_get(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text name;
    (void)n;
    return there(x, arg[0]) && subr_text(x, arg[1], &name)
               ? found(x, x->ctx->terms->get(x->ctx, arg[0], name.s, name.n))
               : 0;
}

uint64_t subr_map_get(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return there(x, arg[0]) && there(x, arg[1])
               ? found(x, x->ctx->terms->value(x->ctx, arg[1], arg[0]))
               : 0;
}

uint64_t subr_map_get_int(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return is(x, arg[1], "map", "map") ? part(x, arg[1], ENGINE_PART_ANY, arg[0]) : 0;
}

uint64_t subr_map_get_name(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return is(x, arg[1], "map", "map") ? subr_term_get(x, (uint64_t[]){arg[1], arg[0]}, 2) : 0;
}

/* The argument is the number of a string of the image. */
uint64_t subr_atom(struct exec *x, const uint64_t *arg, unsigned n)
{
    const uint64_t *word = x->e->constants;
    (void)n;
    if (word == NULL || x->ctx->terms == NULL || arg[0] >= x->e->img.nstr || word[arg[0]] == 0)
        return 0;
    return found(x, x->ctx->terms->constant(x->ctx, word[arg[0]]));
}
