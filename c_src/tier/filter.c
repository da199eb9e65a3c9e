/* filter.c - see filter.h.
 *
 * Two passes over the predicate, whose branches only go forward. The first one goes forward and
 * finds what each register holds before each instruction; where paths meet, values on which they
 * differ are unknown. It notes what each branch compares, and which instructions may fault. The
 * second one goes backward: the condition of an instruction is made of those of the instructions
 * that can follow.
 *
 * An instruction that is not known to be harmless ends the first pass on its path, and has the
 * condition "true": the call has to be seen. Work is harmless only as long as it cannot exhaust the
 * event's budget. So the work of harmless instructions is added up, and what may take much of it,
 * such as the text of a list, is let through where it would. */
#include "tier/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "engine/impl.h"
#include "etf/write.h"
#include "util/buftext.h"

/* Values. The first ones are terms. */
enum filter_op {
    OP_ARG,        /* argument k */
    OP_ELEMENT,    /* element k of a tuple */
    OP_HD,         /* the first element of a list */
    OP_TL,         /* a list without it */
    OP_VALUE_ATOM, /* the value of the key that is the atom named by string k, of a map */
    OP_VALUE_INT,  /* ... of the key that is the integer k */
    OP_ATOM,       /* the atom named by string k */
    OP_LAST_TERM = OP_ATOM,
    /* 0 or 1 */
    OP_IS,     /* it is of the kind that subroutine k asks for */
    OP_SAME,   /* it is the atom named by string k */
    OP_INT,    /* it is the integer k */
    OP_TEXT,   /* it holds the text of string k */
    OP_RECORD, /* it is a record whose name is the atom named by string k */
    OP_THERE,  /* there is such a term */
    /* numbers */
    OP_NUMBER, /* the result of subroutine k */
};

enum filter_kind { COND_FALSE, COND_TRUE, COND_AND, COND_OR, COND_TEST, COND_NUMBER };

/* The results of comparing two signed numbers, as a set. */
enum filter_order { LESS = 1, SAME = 2, MORE = 4, ANYHOW = 7 };

enum { NEVER = 0, ALWAYS = 1 /* conditions that always exist */ };

enum {
    TEXT_PARTS = 3,  /* tests that comparing a text takes */
    TEXTS = 8,       /* texts that one predicate may compare: each takes scratch */
    TEXT_MOST = 200, /* bytes of such a text */
    ATOM_MOST = 255, /* characters of an atom */
    ARGUMENTS = 16,  /* that are looked at, and the depth of a term within a term: as the agent */
    DEPTH = 8,
    ELEMENTS = 1 << 24 /* of a tuple */
};

/* Units of work beyond that of the instruction itself, at most. */
enum {
    COST_BUILTIN = WORK_ARGUMENT + WORK_CPUTIME,
    COST_SCALAR = 64,
    COST_DYNAMIC = 4 * WORK_DYN,
    COST_COMPARE = 256,                    /* of two texts, each at most that of a function */
    COST_ASK = WORK_CALL + 40 * WORK_TERM, /* a term, without its elements */
};

enum kind {
    ANY,  /* unknown; 0, so that an empty flow knows nothing */
    INT,  /* this number */
    STR,  /* the string of this index */
    TEXT, /* some text that can be read */
    NODE  /* this node */
};
struct filter_value {
    enum kind kind;
    int64_t v;
};

/* What is known before an instruction. */
struct flow {
    bool live, compared; /* some path leads here; something was compared */
    bool strings;        /* ... as strings */
    uint8_t depth;
    struct filter_value left, right; /* what was compared */
    struct filter_value r[DIF_NREGS], tuple[DIF_TUPLE_MAX];
};

/* What the first pass notes of an instruction. */
struct note {
    bool reached, stops;
    uint32_t fault;                  /* the condition under which it may fault */
    bool compared;                   /* a branch that depends on: */
    struct filter_value left, right; /* ... */
};

struct walk {
    struct filter *f;
    const uint32_t *code;
    uint32_t n, pc;
    struct flow *ahead; /* by instruction: what jumps bring there */
    struct note *note;
    uint64_t work;
    uint32_t texts;
    bool full; /* a table has no room */
};

/* -- tables ------------------------------------------------------------------------------------ */

static struct filter_value unknown(void)
{
    return (struct filter_value){ANY, 0};
}

static struct filter_value number(int64_t v)
{
    return (struct filter_value){INT, v};
}

/* Returns how many terms a term is in. */
static unsigned depth(const struct filter *f, enum filter_op op, uint32_t of)
{
    unsigned n = 0;
    for (; op != OP_ARG && n <= DEPTH; n++) {
        op = (enum filter_op)f->node[of].op;
        of = f->node[of].of;
    }
    return n;
}

/* Returns the node of this value, of which there is one only. */
static struct filter_value node(struct walk *w, enum filter_op op, uint32_t of, int64_t k)
{
    struct filter *f = w->f;
    uint32_t i = 0;
    while (i < f->nnodes && (f->node[i].op != op || f->node[i].of != of || f->node[i].k != k))
        i++;
    if (i == FILTER_NODES || (op < OP_ATOM && depth(f, op, of) > DEPTH)) {
        w->full = true;
        return unknown();
    }
    if (i == f->nnodes) {
        f->node[f->nnodes++] = (struct filter_node){(uint8_t)op, of, k};
        f->terms += op <= OP_LAST_TERM;
    }
    return (struct filter_value){NODE, i};
}

static const struct filter_node *node_of(const struct filter *f, struct filter_value v)
{
    return v.kind == NODE ? &f->node[v.v] : NULL;
}

static bool is_term(const struct filter *f, struct filter_value v)
{
    return v.kind == NODE && f->node[v.v].op <= OP_LAST_TERM;
}

static bool is_text(struct filter_value v)
{
    return v.kind == STR || v.kind == TEXT;
}

static uint32_t cond(struct walk *w, struct filter_cond c)
{
    struct filter *f = w->f;
    for (uint32_t i = 0; i < f->nconds; i++) {
        const struct filter_cond *o = &f->cond[i];
        if (o->kind == c.kind && o->when == c.when && o->a == c.a && o->b == c.b && o->k == c.k)
            return i;
    }
    if (f->nconds == FILTER_CONDS) {
        w->full = true;
        return ALWAYS;
    }
    f->cond[f->nconds] = c;
    return f->nconds++;
}

static bool is_and(const struct walk *w, uint32_t c, uint32_t last)
{
    return w->f->cond[c].kind == COND_AND && w->f->cond[c].b == last;
}

static bool is_or(const struct walk *w, uint32_t c, uint32_t last)
{
    return w->f->cond[c].kind == COND_OR && w->f->cond[c].b == last;
}

static uint32_t both(struct walk *w, uint32_t a, uint32_t b)
{
    if (a == NEVER || b == NEVER)
        return NEVER;
    if (a == ALWAYS || a == b)
        return b;
    return b == ALWAYS ? a : cond(w, (struct filter_cond){.kind = COND_AND, .a = a, .b = b});
}

static uint32_t either(struct walk *w, uint32_t a, uint32_t b)
{
    if (a == ALWAYS || b == ALWAYS)
        return ALWAYS;
    if (a == NEVER || a == b || is_and(w, a, b))
        return b;
    if (b == NEVER || is_and(w, b, a))
        return a;
    if (w->f->cond[a].kind == COND_AND && is_and(w, b, w->f->cond[a].b)) /* what both end with */
        return both(w, either(w, w->f->cond[a].a, w->f->cond[b].a), w->f->cond[a].b);
    return cond(w, (struct filter_cond){.kind = COND_OR, .a = a, .b = b});
}

static uint32_t test(struct walk *w, struct filter_value v, bool when)
{
    if (v.kind != NODE)
        return ALWAYS;
    return cond(w, (struct filter_cond){.kind = COND_TEST, .when = when, .a = (uint32_t)v.v});
}

/* -- branches ---------------------------------------------------------------------------------- */

static unsigned order(int64_t a, int64_t b)
{
    return a < b ? LESS : a > b ? MORE : SAME;
}

/* Returns the orders after which a branch is taken; ANYHOW + 1: not told by signed ones. */
static unsigned taken_after(enum dif_op op)
{
    switch (op) {
    case DIF_OP_BE: return SAME;
    case DIF_OP_BNE: return LESS | MORE;
    case DIF_OP_BG: return MORE;
    case DIF_OP_BGE: return MORE | SAME;
    case DIF_OP_BL: return LESS;
    case DIF_OP_BLE: return LESS | SAME;
    default: return ANYHOW + 1;
    }
}

static bool is_branch(uint32_t in)
{
    return in >> 24 >= DIF_OP_BA && in >> 24 <= DIF_OP_BLEU;
}

/* Returns the condition for a number of a term to be in one of these orders with k. */
static uint32_t compare_number(struct walk *w, uint32_t n, unsigned orders, int64_t k)
{
    /* term_int() limits integers: at its ends more of them are equal. */
    if (orders == ANYHOW ||
        (w->f->node[n].k == DIF_SUBR_term_int && (k == INT64_MIN || k == INT64_MAX)))
        return ALWAYS;
    return cond(w,
                (struct filter_cond){.kind = COND_NUMBER, .when = (uint8_t)orders, .a = n, .k = k});
}

/* Returns the condition under which two values can be in one of these orders. */
static uint32_t compare(struct walk *w, struct filter_value a, struct filter_value b,
                        unsigned orders)
{
    static const uint8_t swapped[] = {0,    MORE,        SAME,        MORE | SAME,
                                      LESS, LESS | MORE, LESS | SAME, 7};
    if (orders > ANYHOW)
        return ALWAYS;
    if (a.kind == INT && b.kind == INT)
        return (order(a.v, b.v) & orders) != 0 ? ALWAYS : NEVER;
    if (b.kind == NODE && a.kind == INT)
        return compare(w, b, a, swapped[orders]);
    const struct filter_node *l = node_of(w->f, a), *r = node_of(w->f, b);
    if (l == NULL || (r == NULL && b.kind != INT))
        return ALWAYS;
    const bool equal = orders == SAME, differ = orders == (LESS | MORE);
    if (is_term(w->f, a)) { /* handles, of which only equality says something */
        if (!equal && !differ)
            return ALWAYS;
        if (r != NULL && r->op == OP_ATOM && l->op != OP_ATOM)
            return test(w, node(w, OP_SAME, (uint32_t)a.v, r->k), equal);
        if (r != NULL && l->op == OP_ATOM && is_term(w->f, b) && r->op != OP_ATOM)
            return compare(w, b, a, orders);
        return r == NULL && b.v == 0 && l->op != OP_ATOM /* which always is */
                   ? test(w, node(w, OP_THERE, (uint32_t)a.v, 0), differ)
                   : ALWAYS;
    }
    if (r != NULL)
        return ALWAYS;
    if (l->op == OP_NUMBER)
        return compare_number(w, (uint32_t)a.v, orders, b.v);
    const bool if_true = (order(1, b.v) & orders) != 0, if_false = (order(0, b.v) & orders) != 0;
    return if_true && if_false ? ALWAYS : !if_true && !if_false ? NEVER : test(w, a, if_true);
}

/* -- subroutines ------------------------------------------------------------------------------- */

/* Returns whether the instructions before this call are those of atom("name"), as the compiler
 * writes them; only then it is a term (terms_constants in the agent). */
static bool names_atom(const struct walk *w)
{
    if (w->pc < 2)
        return false;
    const uint32_t *at = &w->code[w->pc - 2];
    return (at[0] >> 24 == DIF_OP_SETI || at[0] >> 24 == DIF_OP_SETX) &&
           at[1] == dif_abc(DIF_OP_PUSHTV, at[0] >> 16 & 255, 0, 0);
}

/* Returns whether a string of the image is compared as it is: none of it is cut, and no character
 * of it could stand for another one (a zero byte in a term is written as \0). */
static bool is_plain(const struct filter *f, int64_t string)
{
    const char *s = dif_str(f->img, (uint32_t)string);
    size_t n = strlen(s);
    return n > 0 && n <= TEXT_MOST && n < f->img->strsize && strstr(s, "\\0") == NULL;
}

/* Follows a call. Returns false when it may do anything. */
static bool call(struct walk *w, struct flow *fl, unsigned which, struct filter_value *out)
{
    const struct filter_value *a = fl->tuple;
    const unsigned n = fl->depth;
    const struct filter_value t = n > 0 ? a[n - 1] : unknown(); /* most take the term last */
    fl->depth = 0;
    w->work += COST_ASK;
    *out = unknown();
    if (which == DIF_SUBR_atom) {
        if (n != 1 || a[0].kind != INT || a[0].v < 0 || a[0].v >= w->f->img->nstr || !names_atom(w))
            return false;
        *out = node(w, OP_ATOM, 0, a[0].v);
        return true;
    }
    if ((which == DIF_SUBR_copyinstr || which == DIF_SUBR_strdup) && n == 1 && is_text(a[0])) {
        w->work += COST_COMPARE;
        *out = (struct filter_value){TEXT, 0};
        return ++w->texts <= TEXTS;
    }
    const struct filter_value of = which == DIF_SUBR_term_is_int ||
                                           which == DIF_SUBR_term_is_text ||
                                           which == DIF_SUBR_is_record
                                       ? a[0]
                                       : t;
    if (n == 0 || n > 2 || !is_term(w->f, of) || w->f->node[of.v].op == OP_ATOM)
        return false;
    switch (which) {
    case DIF_SUBR_is_atom:
    case DIF_SUBR_is_binary:
    case DIF_SUBR_is_bitstring:
    case DIF_SUBR_is_boolean:
    case DIF_SUBR_is_float:
    case DIF_SUBR_is_function:
    case DIF_SUBR_is_integer:
    case DIF_SUBR_is_list:
    case DIF_SUBR_is_map:
    case DIF_SUBR_is_number:
    case DIF_SUBR_is_pid:
    case DIF_SUBR_is_port:
    case DIF_SUBR_is_reference:
    case DIF_SUBR_is_tuple: *out = node(w, OP_IS, (uint32_t)of.v, which); return true;
    case DIF_SUBR_is_record:
        if (n != 2 || a[1].kind != NODE || w->f->node[a[1].v].op != OP_ATOM)
            return false;
        *out = node(w, OP_RECORD, (uint32_t)of.v, w->f->node[a[1].v].k);
        return true;
    case DIF_SUBR_term_int:
    case DIF_SUBR_tuple_size:
    case DIF_SUBR_map_size:
    case DIF_SUBR_byte_size: *out = node(w, OP_NUMBER, (uint32_t)of.v, which); return true;
    case DIF_SUBR_hd: *out = node(w, OP_HD, (uint32_t)of.v, 0); return true;
    case DIF_SUBR_tl: *out = node(w, OP_TL, (uint32_t)of.v, 0); return true;
    case DIF_SUBR_element:
        if (n != 2 || a[0].kind != INT || a[0].v < 1 || a[0].v > ELEMENTS)
            return false;
        *out = node(w, OP_ELEMENT, (uint32_t)of.v, a[0].v);
        return true;
    case DIF_SUBR_map_get_int:
        if (n != 2 || a[0].kind != INT || a[0].v <= -ELEMENTS || a[0].v >= ELEMENTS)
            return false;
        *out = node(w, OP_VALUE_INT, (uint32_t)of.v, a[0].v);
        return true;
    case DIF_SUBR_map_get:
        if (n != 2 || a[0].kind != NODE || w->f->node[a[0].v].op != OP_ATOM)
            return false;
        *out = node(w, OP_VALUE_ATOM, (uint32_t)of.v, w->f->node[a[0].v].k);
        return true;
    case DIF_SUBR_term_is_int:
        if (n != 2 || a[1].kind != INT)
            return false;
        *out = node(w, OP_INT, (uint32_t)of.v, a[1].v);
        return true;
    case DIF_SUBR_term_is_text: {
        if (n != 2 || a[1].kind != STR || !is_plain(w->f, a[1].v) || ++w->texts > TEXTS)
            return false;
        w->work += TEXT_MOST;
        *out = node(w, OP_TEXT, (uint32_t)of.v, a[1].v);
        /* The text of a list takes any amount of work. */
        const struct filter_value list = node(w, OP_IS, (uint32_t)of.v, DIF_SUBR_is_list);
        w->note[w->pc].fault = test(w, list, true);
        return true;
    }
    default: return false;
    }
}

/* -- the first pass ---------------------------------------------------------------------------- */

static struct filter_value join(struct filter_value a, struct filter_value b)
{
    return a.kind == b.kind && a.v == b.v ? a : unknown();
}

static void arrive(struct flow *to, const struct flow *from)
{
    if (!to->live) {
        *to = *from;
        return;
    }
    if (to->strings != from->strings)
        to->compared = false;
    to->compared = to->compared && from->compared;
    to->left = join(to->left, from->left);
    to->right = join(to->right, from->right);
    for (unsigned i = 0; i < DIF_NREGS; i++)
        to->r[i] = join(to->r[i], from->r[i]);
    for (unsigned i = 0; i < to->depth; i++) /* the verifier has ensured that depths agree */
        to->tuple[i] = join(to->tuple[i], from->tuple[i]);
}

static struct filter_value builtin(unsigned which)
{
    switch (which) {
    case DIF_BUILTIN_probeprov:
    case DIF_BUILTIN_probemod:
    case DIF_BUILTIN_probefunc:
    case DIF_BUILTIN_probename:
    case DIF_BUILTIN_node:
    case DIF_BUILTIN_execname: return (struct filter_value){TEXT, 0};
    default: return unknown();
    }
}

/* Reads a variable. Returns false when that may do anything: strings take scratch, and work. */
static bool variable(struct walk *w, struct flow *f, enum dif_op op, unsigned which)
{
    const struct dif_var *v = &w->f->img->vars[which];
    const bool keyed = op == DIF_OP_LDGAA || op == DIF_OP_LDTAA;
    for (unsigned i = 0; keyed && i < v->keys.n; i++)
        if (v->keys.key[i].kind > DIF_UINT)
            return false;
    w->work += op == DIF_OP_LDGS || op == DIF_OP_LDLS ? COST_SCALAR : COST_DYNAMIC;
    if (keyed)
        f->depth = 0;
    return v->type.kind <= DIF_UINT;
}

/* Runs one instruction that is not a branch. Returns false when it may do anything. */
static bool step(struct walk *w, struct flow *f, uint32_t in)
{
    const enum dif_op op = (enum dif_op)(in >> 24);
    const unsigned imm = in & 65535;
    struct filter_value *a = &f->r[in >> 16 & 15];
    const struct filter_value b = f->r[in >> 8 & 15], c = f->r[in & 15];
    w->work++;
    switch (op) {
    case DIF_OP_NOP: return true;
    case DIF_OP_OR:
    case DIF_OP_XOR:
    case DIF_OP_AND:
    case DIF_OP_SLL:
    case DIF_OP_SRL:
    case DIF_OP_SRA:
    case DIF_OP_SUB:
    case DIF_OP_ADD:
    case DIF_OP_MUL:
    case DIF_OP_NOT:
    case DIF_OP_EXTS:
    case DIF_OP_EXTU: *a = unknown(); return true;
    case DIF_OP_SDIV:
    case DIF_OP_UDIV:
    case DIF_OP_SREM:
    case DIF_OP_UREM:
        w->work += WORK_DIVIDE;
        *a = unknown();
        return c.kind == INT && c.v != 0;
    case DIF_OP_MOV: *a = b; return true;
    case DIF_OP_SETI: *a = number((int16_t)imm); return true;
    case DIF_OP_SETX: *a = number((int64_t)w->f->img->ints[imm]); return true;
    case DIF_OP_SETS: *a = (struct filter_value){STR, imm}; return true;
    case DIF_OP_CMP:
    case DIF_OP_TST:
        f->left = *a;
        f->right = op == DIF_OP_TST ? number(0) : b;
        f->compared = true;
        f->strings = false;
        return true;
    case DIF_OP_SCMP:
        f->compared = f->strings = true;
        f->left = f->right = unknown();
        w->work += COST_COMPARE;
        return is_text(*a) && is_text(b);
    case DIF_OP_LDARG: /* of a function, the first two are texts */
        w->work += WORK_ARGUMENT;
        *a = (in & 255) < 2 ? (struct filter_value){TEXT, 0} : unknown();
        return true;
    case DIF_OP_LDB:
        w->work += COST_BUILTIN;
        *a = builtin(imm);
        return true;
    case DIF_OP_LDBA:
        w->work += WORK_ARGUMENT;
        if (imm != DIF_BUILTIN_argv || a->kind != INT || a->v < 0 || a->v >= ARGUMENTS)
            return false;
        *a = node(w, OP_ARG, 0, a->v);
        return true;
    case DIF_OP_LDGS:
    case DIF_OP_LDLS:
    case DIF_OP_LDTS:
    case DIF_OP_LDGAA:
    case DIF_OP_LDTAA: *a = unknown(); return variable(w, f, op, imm);
    case DIF_OP_PUSHTR:
    case DIF_OP_PUSHTV: f->tuple[f->depth++] = *a; return true;
    case DIF_OP_FLUSHTS: f->depth = 0; return true;
    case DIF_OP_CALL: return call(w, f, imm, a);
    default: return false; /* changes something, or reads at an address */
    }
}

static void forward(struct walk *w)
{
    struct flow now = {.live = true};
    for (w->pc = 0; w->pc < w->n; w->pc++) {
        const uint32_t in = w->code[w->pc];
        struct note *note = &w->note[w->pc];
        if (w->ahead[w->pc].live) {
            if (now.live)
                arrive(&w->ahead[w->pc], &now);
            now = w->ahead[w->pc];
        }
        if (!now.live)
            continue;
        note->reached = true;
        if (is_branch(in)) {
            const uint32_t to = in & 0xffffff;
            w->work++;
            note->compared = now.compared;
            note->left = now.left;
            note->right = now.right;
            if (to < w->n)
                arrive(&w->ahead[to], &now);
            now.live = in >> 24 != DIF_OP_BA;
        } else if (in >> 24 == DIF_OP_RET) {
            now.live = false;
        } else if (!step(w, &now, in)) {
            note->stops = true;
            now.live = false;
        }
    }
}

/* -- the second pass --------------------------------------------------------------------------- */

/* Returns the condition of the path that goes on at this instruction. */
static uint32_t onward(const struct walk *w, const uint32_t *pass, uint32_t to)
{
    if (to < w->n)
        return pass[to];
    return to > w->n && w->code[to] >> 24 == DIF_OP_RET ? NEVER : ALWAYS;
}

/* Returns the condition of a branch, whose ways onward have these. */
static uint32_t choose(struct walk *w, const struct note *note, uint32_t in, uint32_t taken,
                       uint32_t other)
{
    const unsigned orders = note->compared ? taken_after((enum dif_op)(in >> 24)) : ANYHOW + 1;
    if (taken == other)
        return taken;
    const uint32_t yes = compare(w, note->left, note->right, orders);
    const uint32_t no =
        compare(w, note->left, note->right, orders > ANYHOW ? orders : ANYHOW & ~orders);
    if (taken == ALWAYS || is_and(w, other, taken)) /* if not yes, then no */
        return no == NEVER ? both(w, yes, taken) : either(w, both(w, yes, taken), other);
    if (other == ALWAYS || is_and(w, taken, other))
        return yes == NEVER ? both(w, no, other) : either(w, both(w, no, other), taken);
    if (is_or(w, taken, other)) /* of `A && B || C` */
        return either(w, both(w, yes, w->f->cond[taken].a), other);
    if (is_or(w, other, taken))
        return either(w, both(w, no, w->f->cond[other].a), taken);
    return either(w, both(w, yes, taken), both(w, no, other));
}

static uint32_t backward(struct walk *w, uint32_t *pass)
{
    for (uint32_t pc = w->n; pc-- > 0;) {
        const uint32_t in = w->code[pc], next = onward(w, pass, pc + 1);
        const struct note *note = &w->note[pc];
        if (!note->reached || in >> 24 == DIF_OP_RET)
            pass[pc] = NEVER;
        else if (note->stops)
            pass[pc] = ALWAYS;
        else if (in >> 24 == DIF_OP_BA)
            pass[pc] = onward(w, pass, in & 0xffffff);
        else if (is_branch(in))
            pass[pc] = choose(w, note, in, onward(w, pass, in & 0xffffff), next);
        else
            pass[pc] = either(w, note->fault, next);
    }
    return pass[0];
}

/* Returns the number of parts of a condition, each counted where it occurs; more than FILTER_PARTS
 * need not be exact. */
static uint32_t parts(const struct filter *f, uint32_t c, uint32_t most)
{
    const struct filter_cond *o = &f->cond[c];
    if (o->kind != COND_AND && o->kind != COND_OR)
        return o->kind == COND_TEST && f->node[o->a].op == OP_TEXT ? TEXT_PARTS : 1;
    const uint32_t n = most > 0 ? 1 + parts(f, o->a, most - 1) : 1;
    return n < most ? n + parts(f, o->b, most - n) : n + 1;
}

bool filter_find(struct filter *f, const struct dif_image *img, uint32_t clause, uint64_t budget)
{
    const struct dif_clause *c = &img->clauses[clause];
    struct walk w = {.f = f, .code = img->code + c->code, .n = c->npred, .work = WORK_CLAUSE};
    f->img = img;
    f->nnodes = f->terms = 0;
    f->cond[NEVER] = (struct filter_cond){.kind = COND_FALSE};
    f->cond[ALWAYS] = (struct filter_cond){.kind = COND_TRUE};
    f->nconds = 2;
    f->root = ALWAYS;
    if (c->npred == 0 || c->npred > FILTER_CODE)
        return false;
    w.ahead = et_calloc(c->npred, sizeof *w.ahead);
    w.note = et_calloc(c->npred, sizeof *w.note);
    uint32_t *pass = et_calloc(c->npred, sizeof *pass);
    if (w.ahead != NULL && w.note != NULL && pass != NULL) {
        forward(&w);
        f->root = backward(&w, pass);
    }
    et_free(w.ahead);
    et_free(w.note);
    et_free(pass);
    /* Predicates of one event that examine at most FILTER_TERMS terms, at least one each, stay
     * within the budget together. */
    return !w.full && f->root != ALWAYS && f->root != NEVER && f->terms > 0 &&
           f->terms <= FILTER_TERMS && w.work <= budget / FILTER_TERMS &&
           parts(f, f->root, FILTER_PARTS) <= FILTER_PARTS;
}

/* -- the result -------------------------------------------------------------------------------- */

static void put_name(struct buf *x, const struct filter *f, int64_t string)
{
    const char *s = dif_str(f->img, (uint32_t)string);
    etf_put_binary(x, s, strlen(s));
}

static void put_term(const struct filter *f, uint32_t i, struct buf *x)
{
    const struct filter_node *t = &f->node[i];
    switch (t->op) {
    case OP_ARG: etf_put_int(x, t->k); return;
    case OP_HD:
    case OP_TL:
        etf_put_tuple(x, 2);
        etf_put_atom(x, t->op == OP_HD ? "hd" : "tl");
        break;
    case OP_ELEMENT:
        etf_put_tuple(x, 3);
        etf_put_atom(x, "element");
        etf_put_int(x, t->k);
        break;
    case OP_VALUE_INT:
    case OP_VALUE_ATOM:
        etf_put_tuple(x, 3);
        etf_put_atom(x, "map_get");
        if (t->op == OP_VALUE_INT)
            etf_put_int(x, t->k);
        else
            put_name(x, f, t->k);
        break;
    default: /* an atom is no argument, nor part of one */ etf_put_nil(x); return;
    }
    put_term(f, t->of, x);
}

static void put_test(const struct filter *f, const struct filter_node *t, struct buf *x)
{
    switch (t->op) {
    case OP_IS:
    case OP_THERE:
        etf_put_tuple(x, 2);
        etf_put_atom(x, t->op == OP_IS ? dif_subr_info((unsigned)t->k)->name : "there");
        put_term(f, t->of, x);
        return;
    case OP_INT:
        etf_put_tuple(x, 3);
        etf_put_atom(x, "int");
        put_term(f, t->of, x);
        etf_put_int(x, t->k);
        return;
    default:
        etf_put_tuple(x, 3);
        etf_put_atom(x, t->op == OP_SAME ? "atom" : t->op == OP_RECORD ? "record" : "text");
        put_term(f, t->of, x);
        put_name(x, f, t->k);
    }
}

static void put_cond(const struct filter *f, uint32_t i, struct buf *x)
{
    const struct filter_cond *c = &f->cond[i];
    switch (c->kind) {
    case COND_AND:
    case COND_OR:
        etf_put_tuple(x, 3);
        etf_put_atom(x, c->kind == COND_AND ? "and" : "or");
        put_cond(f, c->a, x);
        put_cond(f, c->b, x);
        return;
    case COND_TEST:
        etf_put_tuple(x, 3);
        etf_put_atom(x, "is");
        etf_put_int(x, c->when);
        put_test(f, &f->node[c->a], x);
        return;
    default:
        etf_put_tuple(x, 5);
        etf_put_atom(x, "number");
        etf_put_int(x, c->when);
        etf_put_atom(x, dif_subr_info((unsigned)f->node[c->a].k)->name);
        put_term(f, f->node[c->a].of, x);
        etf_put_int(x, c->k);
    }
}

void filter_put(const struct filter *f, struct buf *x)
{
    put_cond(f, f->root, x);
}

static void say_string(const struct filter *f, int64_t string, struct buf *out)
{
    buf_addc(out, '"');
    for (const char *s = dif_str(f->img, (uint32_t)string); *s != '\0'; s++)
        buf_printf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    buf_addc(out, '"');
}

static void say_node(const struct filter *f, uint32_t i, struct buf *out)
{
    const struct filter_node *t = &f->node[i];
    switch (t->op) {
    case OP_ARG: buf_printf(out, "argv[%lld]", (long long)t->k); return;
    case OP_ATOM:
        buf_adds(out, "atom(");
        say_string(f, t->k, out);
        break;
    case OP_ELEMENT: buf_printf(out, "element(%lld, ", (long long)t->k); break;
    case OP_HD: buf_adds(out, "hd("); break;
    case OP_TL: buf_adds(out, "tl("); break;
    case OP_VALUE_INT: buf_printf(out, "map_get(%lld, ", (long long)t->k); break;
    case OP_VALUE_ATOM:
        buf_adds(out, "map_get(atom(");
        say_string(f, t->k, out);
        buf_adds(out, "), ");
        break;
    default: buf_printf(out, "%s(", dif_subr_info((unsigned)t->k)->name);
    }
    if (t->op != OP_ATOM)
        say_node(f, t->of, out);
    buf_addc(out, ')');
}

static void say_test(const struct filter *f, const struct filter_cond *c, struct buf *out)
{
    const struct filter_node *t = &f->node[c->a];
    if (t->op == OP_IS) {
        buf_adds(out, c->when ? "" : "!");
        say_node(f, c->a, out);
        return;
    }
    if (t->op == OP_RECORD) {
        buf_adds(out, c->when ? "is_record(" : "!is_record(");
        say_node(f, t->of, out);
        buf_adds(out, ", atom(");
        say_string(f, t->k, out);
        buf_adds(out, "))");
        return;
    }
    say_node(f, t->of, out);
    buf_adds(out, (c->when != 0) == (t->op != OP_THERE) ? " == " : " != ");
    switch (t->op) {
    case OP_THERE: buf_adds(out, "NULL"); return;
    case OP_INT: buf_printf(out, "%lld", (long long)t->k); return;
    case OP_SAME: buf_adds(out, "atom("); break;
    default: break;
    }
    say_string(f, t->k, out);
    if (t->op == OP_SAME)
        buf_addc(out, ')');
}

static void say_cond(const struct filter *f, uint32_t i, bool inner, struct buf *out)
{
    static const char *const sign[] = {"", "<", "==", "<=", ">", "!=", ">="};
    const struct filter_cond *c = &f->cond[i];
    switch (c->kind) {
    case COND_AND:
    case COND_OR: {
        const enum filter_kind kind = (enum filter_kind)c->kind;
        buf_adds(out, inner ? "(" : "");
        say_cond(f, c->a, f->cond[c->a].kind != kind, out);
        buf_adds(out, kind == COND_AND ? " && " : " || ");
        say_cond(f, c->b, f->cond[c->b].kind != kind, out);
        buf_adds(out, inner ? ")" : "");
        return;
    }
    case COND_TEST: say_test(f, c, out); return;
    default:
        say_node(f, c->a, out);
        buf_printf(out, " %s %lld", sign[c->when & 7], (long long)c->k);
    }
}

void filter_text(const struct filter *f, struct buf *out)
{
    say_cond(f, f->root, false, out);
}
