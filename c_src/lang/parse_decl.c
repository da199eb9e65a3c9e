/* parse_decl.c - declarations of variables and inlines, and types (language.md 2.3, 2.5).
 *
 * Specifiers are counted first and turned into a type afterwards, so that they can appear in any
 * order, as in C. Declarators and tags are in parse_type.c. */
#include "lang/declare.h"

#include <string.h>

struct spec {
    struct diag_pos pos; /* of the first specifier */
    enum tok base;       /* TOK_EOF: none; TOK_TYPE: a typedef name */
    const struct type *typedef_type;
    bool is_signed, is_unsigned, is_short;
    unsigned longs;
    enum lang_scope scope;
    bool has_class, is_inline, is_typedef, is_extern, has_tag;
    bool is_parameter; /* or a member, or a type name: no storage class */
};

bool parse_is_type(const struct token *t)
{
    switch (t->kind) {
    case TOK_TYPE:
    case TOK_KW_CHAR:
    case TOK_KW_CONST:
    case TOK_KW_DOUBLE:
    case TOK_KW_ENUM:
    case TOK_KW_FLOAT:
    case TOK_KW_INT:
    case TOK_KW_LONG:
    case TOK_KW_RESTRICT:
    case TOK_KW_SHORT:
    case TOK_KW_SIGNED:
    case TOK_KW_STRING:
    case TOK_KW_STRUCT:
    case TOK_KW_UNION:
    case TOK_KW_UNSIGNED:
    case TOK_KW_VOID:
    case TOK_KW_VOLATILE: return true;
    default: return false;
    }
}

static void storage_class(struct lex *lx, struct spec *s)
{
    if (s->has_class && !(s->is_inline || lx->tok.kind == TOK_KW_INLINE))
        lang_fail(lx->l, &lx->tok.pos, "D_DECL_CLASS", NULL,
                  "only one storage class allowed in a declaration");
    if (s->has_class)
        lang_fail(lx->l, &lx->tok.pos, "D_DECL_BADCLASS", NULL, "an inline has no storage class");
    s->has_class = true;
    s->is_inline = lx->tok.kind == TOK_KW_INLINE;
    s->is_typedef = lx->tok.kind == TOK_KW_TYPEDEF;
    s->is_extern = lx->tok.kind == TOK_KW_EXTERN;
    s->scope = lx->tok.kind == TOK_KW_SELF   ? SCOPE_THREAD
               : lx->tok.kind == TOK_KW_THIS ? SCOPE_CLAUSE
                                             : SCOPE_GLOBAL;
}

/* Consumes one specifier; returns false if the token is not one. */
static bool specifier(struct lex *lx, struct spec *s)
{
    enum tok t = lx->tok.kind;
    switch (t) {
    case TOK_KW_SELF:
    case TOK_KW_THIS:
    case TOK_KW_TYPEDEF:
    case TOK_KW_EXTERN:
    case TOK_KW_INLINE: storage_class(lx, s); break;
    case TOK_KW_AUTO:
    case TOK_KW_REGISTER:
    case TOK_KW_STATIC:
        if (s->is_parameter && t == TOK_KW_REGISTER)
            break;
        if (s->is_parameter)
            lang_fail(lx->l, &lx->tok.pos, "D_DECL_PARMCLASS", NULL,
                      "a storage class is not allowed here");
        lang_fail(lx->l, &lx->tok.pos, "D_DECL_BADCLASS", "allowed: self, this and none (global)",
                  "storage class '%s' cannot be used in D", lex_keyword(t));
    case TOK_KW_CONST:
    case TOK_KW_VOLATILE:
    case TOK_KW_RESTRICT: break; /* no effect in a program that cannot alias */
    case TOK_KW_SIGNED: s->is_signed = true; break;
    case TOK_KW_UNSIGNED: s->is_unsigned = true; break;
    case TOK_KW_SHORT: s->is_short = true; break;
    case TOK_KW_LONG: s->longs++; break;
    case TOK_KW_STRUCT:
    case TOK_KW_UNION:
    case TOK_KW_ENUM:
    case TOK_KW_CHAR:
    case TOK_KW_INT:
    case TOK_KW_VOID:
    case TOK_KW_FLOAT:
    case TOK_KW_DOUBLE:
    case TOK_KW_STRING:
    case TOK_TYPE:
        if (s->base != TOK_EOF)
            lang_fail(lx->l, &lx->tok.pos, "D_DECL_COMBO", NULL,
                      "invalid type combination: two base types");
        s->base = t;
        s->typedef_type = lx->tok.type;
        if (t == TOK_KW_STRUCT || t == TOK_KW_UNION || t == TOK_KW_ENUM) {
            s->base = TOK_TYPE;
            s->has_tag = true;
            s->typedef_type = parse_tag(lx);
            return true;
        }
        break;
    default: return false;
    }
    lex_next(lx);
    return true;
}

static void specifiers(struct lex *lx, struct spec *s, bool is_parameter)
{
    memset(s, 0, sizeof *s);
    s->is_parameter = is_parameter;
    s->base = TOK_EOF;
    s->pos = lx->tok.pos;
    while (specifier(lx, s))
        ;
}

/* Returns the type that the specifiers name; int if they name none. */
static const struct type *resolve(struct lex *lx, const struct spec *s)
{
    bool sign = s->is_signed || s->is_unsigned, size = s->is_short || s->longs > 0;
    enum type_id id = T_INT;
    const char *tag = NULL, *text = NULL;
    if (s->base == TOK_KW_CHAR && size) {
        tag = "D_DECL_CHARATTR";
        text = "short and long may not be used with char type";
    } else if (s->base == TOK_KW_VOID && (sign || size)) {
        tag = "D_DECL_VOIDATTR";
        text = "invalid attributes for void type";
    } else if (sign && s->base != TOK_EOF && s->base != TOK_KW_CHAR && s->base != TOK_KW_INT) {
        tag = "D_DECL_SIGNINT";
        text = "signed and unsigned may only be used with integer type";
    } else if (size && s->base != TOK_EOF && s->base != TOK_KW_INT &&
               !(s->base == TOK_KW_DOUBLE && s->longs == 1 && !s->is_short)) {
        tag = "D_DECL_LONGINT";
        text = "short and long may only be used with integer types and double";
    } else if ((s->is_signed && s->is_unsigned) || (s->is_short && s->longs > 0) || s->longs > 2) {
        tag = "D_DECL_COMBO";
        text = "invalid type combination";
    }
    if (tag)
        lang_fail(lx->l, &s->pos, tag, NULL, "%s", text);
    switch (s->base) {
    case TOK_TYPE: return s->typedef_type;
    case TOK_KW_STRING: id = T_STRING; break;
    case TOK_KW_VOID: id = T_VOID; break;
    case TOK_KW_FLOAT: id = T_FLOAT; break;
    case TOK_KW_DOUBLE: id = s->longs ? T_LDOUBLE : T_DOUBLE; break;
    case TOK_KW_CHAR: id = s->is_unsigned ? T_UCHAR : s->is_signed ? T_SCHAR : T_CHAR; break;
    default:
        if (s->is_short)
            id = s->is_unsigned ? T_USHORT : T_SHORT;
        else if (s->longs == 0)
            id = s->is_unsigned ? T_UINT : T_INT;
        else if (s->longs == 1)
            id = s->is_unsigned ? T_ULONG : T_LONG;
        else
            id = s->is_unsigned ? T_ULLONG : T_LLONG;
    }
    return &type_c[id];
}

const struct type *parse_spec(struct lex *lx)
{
    struct spec s;
    if (lx->tok.kind == TOK_IDENT)
        lang_fail(lx->l, &lx->tok.pos, "D_UNKNOWN", NULL,
                  "failed to resolve type %s: Unknown type name", lx->tok.str);
    if (!parse_is_type(&lx->tok) && lx->tok.kind != TOK_KW_SELF && lx->tok.kind != TOK_KW_THIS &&
        lx->tok.kind != TOK_KW_EXTERN && lx->tok.kind != TOK_KW_TYPEDEF &&
        lx->tok.kind != TOK_KW_REGISTER && lx->tok.kind != TOK_KW_STATIC &&
        lx->tok.kind != TOK_KW_AUTO && lx->tok.kind != TOK_KW_INLINE)
        lex_syntax(lx, NULL);
    specifiers(lx, &s, true);
    if (s.has_class)
        lang_fail(lx->l, &s.pos, "D_DECL_PARMCLASS", NULL, "a storage class is not allowed here");
    return resolve(lx, &s);
}

static void declare(struct lex *lx, const struct spec *s, const struct type *base)
{
    struct declared d;
    lx->open_arrays = s->is_extern;
    declarator(lx, &d, base, DECLARE_NAME);
    lx->open_arrays = false;
    if (lx->tok.kind == TOK_IDENT)
        lang_fail(lx->l, &d.pos, "D_DECL_IDENT", NULL,
                  "'%s' is not a type, but another name follows it", d.name);
    if (d.nkeys > 0 && (s->is_typedef || s->is_extern))
        lang_fail(lx->l, &d.pos, "D_DECL_DYNOBJ", NULL, "'%s' cannot be an associative array",
                  d.name);
    if (d.nkeys > 0 && s->scope == SCOPE_CLAUSE)
        lang_fail(lx->l, &d.pos, "D_DECL_LOCASSC", "clause-local variables have no keys",
                  "associative array '%s' cannot be declared clause-local", d.name);
    if (lx->tok.kind == TOK_ASSIGN)
        lex_syntax(lx, "declarations have no initialiser: assign in a clause, such as BEGIN");
    if (s->is_typedef)
        decl_typedef(lx->l, &d.pos, d.name, d.type);
    else if (s->is_extern || d.type->kind == TYPE_FUNC)
        decl_extern(lx->l, &d.pos, d.name, d.type);
    else
        decl_variable(lx->l, &d.pos, d.name, s->scope, d.type, d.nkeys > 0, d.key, d.nkeys);
}

/* Parses "[" type name, type name ... "]": the parameters of an inline. */
static void params(struct lex *lx, struct lang_inline *in)
{
    do {
        lex_next(lx);
        if (!parse_is_type(&lx->tok))
            lex_syntax(lx, "a parameter has a type and a name: inline int f[int x] = x + 1;");
        if (in->nparams == WORD_KEYS_MAX)
            lang_fail(lx->l, &lx->tok.pos, "D_UNKNOWN", NULL, "an inline has at most %d parameters",
                      WORD_KEYS_MAX);
        struct lang_param *p = &in->param[in->nparams++];
        p->type = parse_type(lx);
        if (lx->tok.kind != TOK_IDENT)
            lang_fail(lx->l, &lx->tok.pos, "D_DECL_PROTO_NAME", NULL,
                      "parameter declaration requires a name");
        p->name = lx->tok.str;
        lex_next(lx);
    } while (lx->tok.kind == TOK_COMMA);
    parse_expect(lx, TOK_RBRACK);
}

static void inline_decl(struct lex *lx, const struct spec *s, const struct type *type)
{
    (void)s;
    for (; lx->tok.kind == TOK_STAR; lex_next(lx))
        type = type_pointer(lx->l, type);
    if (lx->tok.kind != TOK_IDENT)
        lex_syntax(lx, NULL);
    struct diag_pos pos = lx->tok.pos;
    const char *name = lx->tok.str;
    lex_next(lx);
    struct lang_inline *in = lang_alloc(lx->l, sizeof *in);
    in->type = type;
    if (lx->tok.kind == TOK_LBRACK)
        params(lx, in);
    parse_expect(lx, TOK_ASSIGN);
    in->expr = parse_assign(lx);
    if (lx->tok.kind != TOK_SEMI)
        lex_syntax(lx, NULL);
    decl_inline(lx->l, &pos, name, in);
}

/* Parses a declaration up to its ";", which is then the current token. */
static void declaration(struct lex *lx)
{
    struct spec s;
    specifiers(lx, &s, false);
    const struct type *type = resolve(lx, &s);
    if (lx->tok.kind == TOK_SEMI) {
        if (!s.has_tag || s.has_class)
            lang_fail(lx->l, &s.pos, "D_DECL_USELESS", NULL, "declaration declares nothing");
    } else if (s.is_inline) {
        inline_decl(lx, &s, type);
    } else {
        for (;;) {
            declare(lx, &s, type);
            if (lx->tok.kind != TOK_COMMA)
                break;
            lex_next(lx);
        }
        if (lx->tok.kind != TOK_SEMI)
            lex_syntax(lx, NULL);
    }
}

void parse_decl(struct lex *lx)
{
    lx->ctx = LEX_EXPR;
    switch (lx->tok.kind) {
    case TOK_KW_TRANSLATOR: parse_translator(lx); break;
    case TOK_KW_PROVIDER: parse_provider(lx); break;
    case TOK_RECORD: parse_record(lx); break;
    case TOK_KW_IMPORT: /* reserved words without a meaning */
    case TOK_KW_COUNTER: lex_syntax(lx, NULL);
    default: declaration(lx);
    }
    lx->ctx = LEX_OUTER;
    lex_next(lx);
}
