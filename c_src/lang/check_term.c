/* check_term.c - terms of the traced program where other values are expected (language.md 6.4). */
#include "lang/check.h"

#include <string.h>

#include "dif/dif.h"

enum { ATOM_CHARACTERS = 255, ATOMS_MOST = 1000 };

/* Returns the number of characters of a text in UTF-8; -1: it is none. */
static int characters(const char *s)
{
    int n = 0;
    for (const unsigned char *p = (const unsigned char *)s; *p; n++) {
        unsigned more = *p < 0x80                 ? 0
                        : *p >= 0xc2 && *p < 0xe0 ? 1
                        : *p >= 0xe0 && *p < 0xf0 ? 2
                                                  : 3;
        if (more == 3 && (*p < 0xf0 || *p > 0xf4))
            return -1;
        for (p++; more > 0; more--, p++)
            if ((*p & 0xc0) != 0x80)
                return -1;
    }
    return n;
}

bool check_atom(struct lang *l, const struct node *name)
{
    const char *why = NULL;
    if (name->kind != N_STR)
        why = "must be a string constant";
    else if (characters(name->str) < 0)
        why = "must be text in UTF-8";
    else if (characters(name->str) > ATOM_CHARACTERS)
        why = "is too long: an atom has at most 255 characters";
    else if (++l->natoms > ATOMS_MOST)
        why = "is one too many: a program may have 1000 such calls";
    if (why)
        lang_err(l, &name->pos, "D_PROTO_ARG",
                 name->kind == N_STR ? NULL : "term_string(x) gives the text of an atom",
                 "atom( ) argument #1 %s", why);
    return why == NULL;
}

/* Turns n into a call of a subroutine, whose arguments are checked. */
static void make_call(struct lang *l, struct node *n, enum dif_subr subr, const char *name,
                      struct node *args, enum type_id type)
{
    struct node call = {.kind = N_CALL, .pos = n->pos, .name = name, .num = subr, .args = args};
    check_replace(n, &call);
    n->type = &type_c[type];
    node_done(l, n);
}

void check_as_text(struct lang *l, struct node *n, bool other)
{
    if (!type_is_term(n->type))
        return;
    struct node *term = node_new(l, N_ERROR, &n->pos);
    check_replace(term, n);
    term->next = NULL;
    make_call(l, n, other ? DIF_SUBR_term_inspect : DIF_SUBR_term_text, "text", term, T_STRING);
}

static bool is_atom(const struct node *n)
{
    return n->kind == N_CALL && n->num == DIF_SUBR_atom && type_is_term(n->type);
}

/* NULL is a long, and the number 0 an int. */
static bool is_null(const struct node *n)
{
    return check_is_null(n) && !type_same(n->type, &type_c[T_INT]);
}

bool check_terms_compared(struct lang *l, struct node *n)
{
    struct node *a = n->kid[0], *b = n->kid[1];
    if (!type_is_term(a->type)) {
        struct node *c = a;
        a = b;
        b = c;
    }
    if ((n->op != OP_EQ && n->op != OP_NE) || !type_is_term(a->type) || is_null(b))
        return false;
    /* An atom is the same handle wherever an event has it. */
    if (type_is_term(b->type) && (is_atom(a) || is_atom(b)))
        return false;
    check_as_string(l, b);
    enum dif_subr subr = type_is_term(b->type)     ? DIF_SUBR_term_is
                         : type_is_int(b->type)    ? DIF_SUBR_term_is_int
                         : type_is_string(b->type) ? DIF_SUBR_term_is_text
                                                   : DIF_NSUBRS;
    if (subr == DIF_NSUBRS)
        return false;
    struct node *call = node_new(l, N_CALL, &n->pos), *zero = node_new(l, N_INT, &n->pos);
    a->next = b;
    b->next = NULL;
    make_call(l, call, subr, "==", a, T_INT);
    node_set_int(zero, 0, &type_c[T_INT]);
    n->op = n->op == OP_EQ ? OP_NE : OP_EQ;
    n->kid[0] = call;
    n->kid[1] = node_done(l, zero);
    node_done(l, n);
    return true;
}
