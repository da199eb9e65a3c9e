/* parse_xlator.c - translator OUT < IN x > { member = expr; ... }; (language.md 2.6). */
#include "lang/declare.h"

#include <string.h>

/* Parses "member = expr" for a complete output type. */
static struct lang_xmember *member(struct lex *lx, const struct lang_xlator *xl)
{
    struct lang *l = lx->l;
    struct lang_xmember *x = lang_alloc(l, sizeof *x);
    if (lx->tok.kind != TOK_IDENT)
        lex_syntax(lx, "member = expression;");
    x->pos = lx->tok.pos;
    const char *name = lx->tok.str;
    for (x->member = lang_members(l, xl->out); x->member; x->member = x->member->next) {
        if (strcmp(x->member->name, name) == 0)
            break;
    }
    if (!x->member)
        lang_fail(l, &x->pos, "D_XLATE_MEMB", NULL, "translator member %s is not a member of %s",
                  name, xl->out->name);
    for (const struct lang_xmember *o = xl->members; o; o = o->next) {
        if (o->member == x->member)
            lang_fail(l, &x->pos, "D_UNKNOWN", NULL, "translator member %s is given twice", name);
    }
    lex_next(lx);
    parse_expect(lx, TOK_ASSIGN);
    x->expr = parse_assign(lx);
    return x;
}

void parse_translator(struct lex *lx)
{
    struct lang *l = lx->l;
    struct lang_xlator *xl = lang_alloc(l, sizeof *xl);
    struct lang_xmember **tail = &xl->members;
    struct declared in;
    lex_next(lx);
    struct diag_pos pos = lx->tok.pos;
    xl->out = parse_type(lx);
    if (!type_is_sou(xl->out) || lang_incomplete(l, xl->out))
        lang_fail(l, &pos, "D_XLATE_SOU", NULL,
                  "translator output type must be a complete struct or union, not %s",
                  xl->out->name);
    parse_expect(lx, TOK_LT);
    declarator(lx, &in, parse_spec(lx), DECLARE_PARAM);
    if (!in.name)
        lang_fail(l, &in.pos, "D_DECL_PROTO_NAME", "translator OUT < IN x > { ... };",
                  "translator input requires a name");
    if (in.nkeys > 0)
        lang_fail(l, &in.pos, "D_DECL_PROTO_TYPE", NULL,
                  "a translator's input cannot be an associative array");
    xl->in = (struct lang_param){in.name, in.type};
    parse_expect(lx, TOK_GT);
    parse_expect(lx, TOK_LBRACE);
    while (lx->tok.kind != TOK_RBRACE) {
        *tail = member(lx, xl);
        tail = &(*tail)->next;
        if (lx->tok.kind != TOK_SEMI)
            lex_syntax(lx, NULL);
        lex_next(lx);
    }
    lex_next(lx);
    if (lx->tok.kind != TOK_SEMI)
        lex_syntax(lx, "a translator ends with };");
    decl_translator(l, &pos, xl);
}
