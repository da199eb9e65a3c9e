/* ast.c - creates and copies nodes. */
#include "lang/prog.h"

#include <string.h>

/* clang-format off */
const char *const op_text[OP_COUNT] = {
    [OP_NONE] = "=", [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/",
    [OP_MOD] = "%", [OP_SHL] = "<<", [OP_SHR] = ">>", [OP_AND] = "&", [OP_OR] = "|",
    [OP_XOR] = "^", [OP_EQ] = "==", [OP_NE] = "!=", [OP_LT] = "<", [OP_LE] = "<=",
    [OP_GT] = ">", [OP_GE] = ">=", [OP_LAND] = "&&", [OP_LOR] = "||", [OP_LXOR] = "^^",
    [OP_COMMA] = ",", [OP_NEG] = "-", [OP_PLUS] = "+", [OP_NOT] = "!", [OP_COMPL] = "~",
    [OP_DEREF] = "*", [OP_ADDR] = "&", [OP_STRINGOF] = "stringof",
};
/* clang-format on */

enum {
    CLONES_MAX = 200000
}; /* limit on nodes from inline expansion, over all programs of a session */

struct node *node_new(struct lang *l, enum node_kind kind, const struct diag_pos *pos)
{
    struct node *n = lang_alloc(l, sizeof *n);
    n->kind = (uint8_t)kind;
    n->pos = *pos;
    n->height = 1;
    return n;
}

struct node *node_done(struct lang *l, struct node *n)
{
    unsigned h = 0;
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i] && n->kid[i]->height > h)
            h = n->kid[i]->height;
    }
    for (const struct node *a = n->args; a; a = a->next) {
        if (a->height > h)
            h = a->height;
    }
    if (h >= LANG_HEIGHT_MAX)
        lang_fail(l, &n->pos, "D_SYNTAX", "use variables for parts of it",
                  "expression is nested too deeply");
    n->height = (uint16_t)(h + 1);
    return n;
}

struct node *node_clone(struct lang *l, const struct node *n)
{
    if (++l->nclones > CLONES_MAX)
        lang_fail(l, &n->pos, "D_UNKNOWN", NULL, "inlines expand to too large a program");
    struct node *c = lang_alloc(l, sizeof *c);
    *c = *n;
    c->next = NULL;
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i])
            c->kid[i] = node_clone(l, n->kid[i]);
    }
    struct node **tail = &c->args;
    for (const struct node *a = n->args; a; a = a->next) {
        *tail = node_clone(l, a);
        tail = &(*tail)->next;
    }
    return c;
}

void node_set_int(struct node *n, uint64_t v, const struct type *type)
{
    n->kind = N_INT;
    n->num = v;
    n->type = type;
    n->is_char = false;
    n->args = NULL;
    memset(n->kid, 0, sizeof n->kid);
}

void node_set_error(struct node *n)
{
    n->kind = N_ERROR;
    n->type = &type_c[T_ERROR];
    n->args = NULL;
    memset(n->kid, 0, sizeof n->kid);
}

bool node_has_effect(const struct node *n)
{
    if (n->kind == N_ASSIGN || n->kind == N_INCDEC || (n->kind == N_CALL && n->post))
        return true;
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i] && node_has_effect(n->kid[i]))
            return true;
    }
    for (const struct node *a = n->args; a; a = a->next) {
        if (node_has_effect(a))
            return true;
    }
    return false;
}
