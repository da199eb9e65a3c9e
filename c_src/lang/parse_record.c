/* parse_record.c - record NAME { field, field ... }; (language.md 2.9).
 *
 * Names are atoms of Erlang: words, also D's keywords, or any characters in single quotes. */
#include "lang/declare.h"

#include <string.h>

enum { FIELDS_MAX = 500 /* of one record */ };

static const char form[] = "record order { id, price, items };";

static void next(struct lex *lx)
{
    lx->ctx = LEX_MEMBER;
    lex_next(lx);
}

/* Returns the atom that is the current token. */
static const char *atom(struct lex *lx, const char *what)
{
    if (lx->tok.kind != TOK_IDENT)
        lex_syntax(lx, form);
    const char *fault = record_name_fault(lx->tok.str);
    if (fault)
        lang_fail(lx->l, &lx->tok.pos, "D_RECORD_NAME", NULL, "the name of a %s %s", what, fault);
    return lx->tok.str;
}

/* Parses the fields up to the "}", which is then the current token. */
static void fields(struct lex *lx, struct lang_record *r)
{
    const char **field = lang_alloc(lx->l, FIELDS_MAX * sizeof *field);
    for (next(lx); lx->tok.kind != TOK_RBRACE;) {
        const char *name = atom(lx, "field");
        for (uint32_t i = 0; i < r->nfields; i++)
            if (strcmp(field[i], name) == 0)
                lang_fail(lx->l, &lx->tok.pos, "D_RECORD_NAME", NULL,
                          "the record %s has the field %s twice", r->name, name);
        if (r->nfields == FIELDS_MAX)
            lang_fail(lx->l, &lx->tok.pos, "D_RECORD_NAME", NULL, "a record has at most %d fields",
                      FIELDS_MAX);
        field[r->nfields++] = name;
        next(lx);
        if (lx->tok.kind == TOK_COMMA)
            next(lx);
        else if (lx->tok.kind == TOK_ASSIGN || lx->tok.kind == TOK_COLON)
            lex_syntax(lx, "only the names of the fields are written, without defaults and types");
        else if (lx->tok.kind != TOK_RBRACE)
            lex_syntax(lx, form);
    }
    r->field = field;
}

void parse_record(struct lex *lx)
{
    struct lang_record r = {.in_d = true, .library = lx->l->library};
    next(lx);
    r.pos = lx->tok.pos;
    r.name = atom(lx, "record");
    next(lx);
    if (lx->tok.kind != TOK_LBRACE)
        lex_syntax(lx, form);
    fields(lx, &r);
    lx->ctx = LEX_EXPR;
    lex_next(lx);
    if (lx->tok.kind != TOK_SEMI)
        lex_syntax(lx, "the definition of a record ends with };");
    decl_record(lx->l, &r);
}
