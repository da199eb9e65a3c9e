/* check_term.c - terms of the traced program where other values are expected (language.md 6.4). */
#include "lang/check.h"

#include <string.h>

#include "dif/dif.h"

enum { ATOM_CHARACTERS = 255, ATOMS_MOST = 1000 };

int check_characters(const char *s)
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
    else if (check_characters(name->str) < 0)
        why = "must be text in UTF-8";
    else if (check_characters(name->str) > ATOM_CHARACTERS)
        why = "is too long: an atom has at most 255 characters";
    else if (++l->natoms > ATOMS_MOST)
        why = "is one too many: a program may have 1000 such calls";
    if (why)
        lang_err(l, &name->pos, "D_PROTO_ARG",
                 name->kind == N_STR ? NULL : "term_string(x) gives the text of an atom",
                 "atom( ) argument #1 %s", why);
    return why == NULL;
}

void check_make_call(struct lang *l, struct node *n, unsigned subr, const char *name,
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
    check_make_call(l, n, other ? DIF_SUBR_term_inspect : DIF_SUBR_term_text, "text", term,
                    T_STRING);
}

bool check_is_atom(const struct node *n)
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
    if (type_is_term(b->type) && (check_is_atom(a) || check_is_atom(b)))
        return false;
    check_as_string(l, b);
    enum dif_subr subr = type_is_term(b->type)     ? DIF_SUBR_term_is
                         : type_is_int(b->type)    ? DIF_SUBR_term_is_int
                         : type_is_string(b->type) ? DIF_SUBR_term_is_text
                                                   : DIF_NSUBRS;
    if (subr == DIF_NSUBRS)
        return false;
    if (subr == DIF_SUBR_term_is_int)
        check_term_as_number(l, n, b);
    struct node *call = node_new(l, N_CALL, &n->pos), *zero = node_new(l, N_INT, &n->pos);
    a->next = b;
    b->next = NULL;
    check_make_call(l, call, subr, "==", a, T_INT);
    node_set_int(zero, 0, &type_c[T_INT]);
    n->op = n->op == OP_EQ ? OP_NE : OP_EQ;
    n->kid[0] = call;
    n->kid[1] = node_done(l, zero);
    node_done(l, n);
    return true;
}

/* -- members ----------------------------------------------------------------------------------- */

/* Replaces x.key by map_get(atom("key"), x). */
static const struct type *key_of(struct lang *l, struct node *n)
{
    struct node *name = node_new(l, N_STR, &n->pos), *atom = node_new(l, N_CALL, &n->pos);
    name->str = n->name;
    name->len = strlen(n->name);
    name->type = &type_c[T_STRING];
    if (!check_atom(l, name))
        return check_bad(n);
    check_make_call(l, atom, DIF_SUBR_atom, "atom", name, T_TERM);
    atom->next = n->kid[0];
    n->kid[0]->next = NULL;
    check_make_call(l, n, DIF_SUBR_map_get, "map_get", atom, T_TERM);
    return n->type;
}

/* Returns the clause's use of this field, a new one or one that was met before. */
static struct lang_field *field_of(struct lang *l, const struct node *n)
{
    for (struct lang_field *f = l->fields; f; f = f->next)
        if (f->descs == l->desc && strcmp(f->name, n->name) == 0 && strcmp(f->record, n->str) == 0)
            return f;
    struct lang_field *f = lang_alloc(l, sizeof *f);
    *f = (struct lang_field){.record = n->str, .name = n->name, .pos = n->pos, .descs = l->desc};
    if (l->desc) { /* else an inline is checked, which is checked again where it is used */
        *l->field_tail = f;
        l->field_tail = &f->next;
    }
    return f;
}

const struct type *check_term_member(struct lang *l, struct node *n)
{
    struct node *term = n->kid[0];
    if (!type_is_term(term->type)) {
        lang_err(l, &n->pos, "D_OP_TERM", "records are terms: argv[0], retval, message, args[2]",
                 "operator .# must be applied to a term_t, not %s", term->type->name);
        return check_bad(n);
    }
    if (!n->str)
        return key_of(l, n);
    for (unsigned i = 0; i < 2; i++) {
        const char *name = i == 0 ? n->str : n->name, *fault = record_name_fault(name);
        if (fault) {
            lang_err(l, &n->pos, "D_RECORD_NAME", NULL, "the name of a %s %s",
                     i == 0 ? "record" : "field", fault);
            return check_bad(n);
        }
    }
    struct lang_field *f = field_of(l, n);
    struct lang_record *r = record_find(l, n->str);
    if (r && !f->of && !record_settle(l, f, r))
        return check_bad(n);
    check_make_call(l, n, DIF_SUBR_term_field, lang_printf(l, ".#%s.%s", f->record, f->name), term,
                    T_TERM);
    n->field = f;
    return n->type;
}
