/* parse_expr.c - expressions (language.md 4): precedence climbing over one table of binary
 * operators.
 *
 * The tree reflects the text; the checker resolves names and types. Nesting is counted, so that no
 * text can overflow the C stack; node_done limits the height of left-leaning chains. */
#include "lang/lex.h"

#include <string.h>

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

struct binary {
    enum tok tok;
    enum op op;
    int level; /* higher binds tighter */
};

/* clang-format off */
static const struct binary binaries[] = {
    {TOK_STAR, OP_MUL, 11}, {TOK_SLASH, OP_DIV, 11}, {TOK_PERCENT, OP_MOD, 11},
    {TOK_PLUS, OP_ADD, 10}, {TOK_MINUS, OP_SUB, 10},
    {TOK_SHL, OP_SHL, 9},   {TOK_SHR, OP_SHR, 9},
    {TOK_LT, OP_LT, 8}, {TOK_LE, OP_LE, 8}, {TOK_GT, OP_GT, 8}, {TOK_GE, OP_GE, 8},
    {TOK_EQ, OP_EQ, 7}, {TOK_NE, OP_NE, 7},
    {TOK_AMP, OP_AND, 6}, {TOK_CARET, OP_XOR, 5}, {TOK_BAR, OP_OR, 4},
    {TOK_LAND, OP_LAND, 3}, {TOK_LXOR, OP_LXOR, 2}, {TOK_LOR, OP_LOR, 1},
};
static const struct { enum tok tok; enum op op; } assigns[] = {
    {TOK_ASSIGN, OP_NONE}, {TOK_ADDEQ, OP_ADD}, {TOK_SUBEQ, OP_SUB}, {TOK_MULEQ, OP_MUL},
    {TOK_DIVEQ, OP_DIV},   {TOK_MODEQ, OP_MOD}, {TOK_SHLEQ, OP_SHL}, {TOK_SHREQ, OP_SHR},
    {TOK_ANDEQ, OP_AND},   {TOK_OREQ, OP_OR},   {TOK_XOREQ, OP_XOR},
};
static const struct { enum tok tok; enum op op; } unaries[] = {
    {TOK_MINUS, OP_NEG}, {TOK_PLUS, OP_PLUS}, {TOK_BANG, OP_NOT}, {TOK_TILDE, OP_COMPL},
    {TOK_STAR, OP_DEREF}, {TOK_AMP, OP_ADDR}, {TOK_KW_STRINGOF, OP_STRINGOF},
};
/* clang-format on */

static struct node *unary(struct lex *lx);

static void enter(struct lex *lx)
{
    if (++lx->nest > LANG_NEST_MAX)
        lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", "use variables for parts of it",
                  "expression is nested too deeply");
}

static void leave(struct lex *lx)
{
    lx->nest--;
}

void parse_expect(struct lex *lx, enum tok kind)
{
    if (lx->tok.kind == kind) {
        lex_next(lx);
        return;
    }
    if (lx->tok.kind == TOK_PREDEND && (kind == TOK_RPAR || kind == TOK_RBRACK))
        lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", NULL,
                  "closing %c expected in predicate before /", kind == TOK_RPAR ? ')' : ']');
    bool ends = lx->tok.kind == TOK_SEMI || lx->tok.kind == TOK_RBRACE || lx->tok.kind == TOK_EOF;
    ends |= lx->tok.kind == TOK_LBRACE; /* if (x { */
    const char *hint = ends && kind == TOK_RPAR     ? "a ) is missing before it"
                       : ends && kind == TOK_RBRACK ? "a ] is missing before it"
                       : lx->tok.kind == TOK_STRING ? "adjacent strings are not joined"
                                                    : NULL;
    lex_syntax(lx, hint);
}

static struct node *new_here(struct lex *lx, enum node_kind kind)
{
    return node_new(lx->l, kind, &lx->tok.pos);
}

/* Parses expressions separated by commas up to and including `close`. */
static struct node *arguments(struct lex *lx, enum tok close)
{
    struct node *list = NULL, **tail = &list;
    if (lx->tok.kind != close) {
        for (;;) {
            *tail = parse_assign(lx);
            tail = &(*tail)->next;
            if (lx->tok.kind != TOK_COMMA)
                break;
            lex_next(lx);
        }
    }
    parse_expect(lx, close);
    return list;
}

static void next_name(struct lex *lx)
{
    lx->ctx = LEX_MEMBER;
    lex_next(lx);
    lx->ctx = LEX_EXPR;
}

/* Parses "record.field" after "#", which is the current token. */
static void record_field(struct lex *lx, struct node *n)
{
    const struct diag_pos pos = lx->tok.pos;
    const char *start = lx->tok.raw;
    next_name(lx);
    if (lx->tok.kind != TOK_IDENT)
        lang_fail(lx->l, &lx->tok.pos, "D_OP_IDENT", "a record's field is written x.#record.field",
                  "name of a record expected after #");
    n->str = lx->tok.str;
    lex_next(lx);
    if (lx->tok.kind != TOK_DOT)
        lex_syntax(lx, "a record's field is written x.#record.field");
    next_name(lx);
    if (lx->tok.kind != TOK_IDENT)
        lang_fail(lx->l, &lx->tok.pos, "D_OP_IDENT", NULL, "name of a field expected after #%s.",
                  n->str);
    n->pos = pos;
    if (lx->tok.pos.line == pos.line)
        n->pos.len = (int)(lx->tok.raw - start) + lx->tok.pos.len;
    n->name = lx->tok.str;
    lex_next(lx);
}

/* Parses the name after "." or "->", or a record's field after ".". */
static void member_name(struct lex *lx, struct node *n)
{
    next_name(lx);
    if (lx->tok.kind == TOK_HASH && n->kind == N_MEMBER && !n->post) {
        record_field(lx, n);
        return;
    }
    if (lx->tok.kind != TOK_IDENT)
        lang_fail(lx->l, &lx->tok.pos, "D_OP_IDENT", lex_meant(lx), "name expected after %s",
                  n->post ? "->" : ".");
    n->name = lx->tok.str;
    lex_next(lx);
}

/* Returns whether the "#" that is the current token stands before a name, as Erlang writes fields
 * of records: x#record.field. */
static bool before_name(const struct lex *lx)
{
    const char c = lx->p < lx->end ? *lx->p : '\0';
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'';
}

static struct node *primary(struct lex *lx)
{
    struct node *n;
    switch (lx->tok.kind) {
    case TOK_INT:
        n = new_here(lx, N_INT);
        n->num = lx->tok.num;
        n->type = lx->tok.type;
        n->is_char = lx->tok.is_char;
        break;
    case TOK_STRING:
        n = new_here(lx, N_STR);
        n->str = lx->tok.str;
        n->len = lx->tok.len;
        break;
    case TOK_IDENT:
        n = new_here(lx, N_IDENT);
        n->name = lx->tok.str;
        break;
    case TOK_AGG:
        n = new_here(lx, N_AGG);
        n->name = lx->tok.str;
        break;
    case TOK_KW_SELF:
    case TOK_KW_THIS: {
        struct diag_pos pos = lx->tok.pos;
        enum lang_scope scope = lx->tok.kind == TOK_KW_SELF ? SCOPE_THREAD : SCOPE_CLAUSE;
        const char *start = lx->tok.raw;
        lex_next(lx);
        if (lx->tok.kind != TOK_ARROW)
            lex_syntax(lx, scope == SCOPE_THREAD ? "thread-local variables are written self->name"
                                                 : "clause-local variables are written this->name");
        n = node_new(lx->l, N_IDENT, &pos);
        n->scope = (uint8_t)scope;
        lx->ctx = LEX_MEMBER;
        lex_next(lx);
        lx->ctx = LEX_EXPR;
        if (lx->tok.kind != TOK_IDENT || lx->tok.quoted)
            lang_fail(lx->l, &lx->tok.pos, "D_OP_IDENT", NULL, "name expected after ->");
        if (lx->tok.pos.line == pos.line)
            n->pos.len = (int)(lx->tok.raw - start) + lx->tok.pos.len;
        n->name = lx->tok.str;
        break;
    }
    case TOK_KW_OFFSETOF:
        n = new_here(lx, N_OFFSETOF);
        lex_next(lx);
        parse_expect(lx, TOK_LPAR);
        n->cast = parse_type(lx);
        if (lx->tok.kind != TOK_COMMA)
            lex_syntax(lx, NULL);
        member_name(lx, n);
        if (lx->tok.kind != TOK_RPAR)
            lex_syntax(lx, "offsetof(type, member) takes a member's name");
        break;
    case TOK_KW_XLATE:
        n = new_here(lx, N_XLATE);
        lex_next(lx);
        parse_expect(lx, TOK_LT);
        n->cast = parse_type(lx);
        parse_expect(lx, TOK_GT);
        parse_expect(lx, TOK_LPAR);
        n->kid[0] = parse_expr(lx);
        if (lx->tok.kind != TOK_RPAR)
            parse_expect(lx, TOK_RPAR);
        node_done(lx->l, n);
        break;
    case TOK_KW_IF:
    case TOK_KW_ELSE:
        lex_syntax(lx, lx->tok.kind == TOK_KW_ELSE
                           ? "else follows the one statement, or the { }, of an if"
                           : "if is a statement; in an expression use the operator ?:");
    case TOK_KW_WHILE:
    case TOK_KW_FOR:
    case TOK_KW_DO: lex_syntax(lx, "D has no loops, so every clause ends");
    case TOK_KW_INT:
    case TOK_KW_STRING:
    case TOK_KW_CHAR:
    case TOK_KW_LONG:
    case TOK_KW_UNSIGNED:
    case TOK_TYPE:
        lex_syntax(lx, "variables are declared outside clauses, or by assigning to them");
    default: lex_syntax(lx, NULL);
    }
    lex_next(lx);
    return n;
}

/* Parses the indices, calls, members and ++ that follow n. */
static struct node *postfix(struct lex *lx, struct node *n)
{
    struct node *up;
    for (;;) {
        switch (lx->tok.kind) {
        case TOK_LBRACK:
            up = node_new(lx->l, N_INDEX, &n->pos);
            lex_next(lx);
            if (lx->tok.kind == TOK_RBRACK)
                lex_syntax(lx, NULL);
            up->args = arguments(lx, TOK_RBRACK);
            break;
        case TOK_LPAR:
            up = node_new(lx->l, N_CALL, &n->pos);
            lex_next(lx);
            up->args = arguments(lx, TOK_RPAR);
            break;
        case TOK_DOT:
        case TOK_ARROW:
            up = new_here(lx, N_MEMBER);
            up->post = lx->tok.kind == TOK_ARROW;
            member_name(lx, up);
            break;
        case TOK_HASH:
            if (!before_name(lx))
                return n;
            up = new_here(lx, N_MEMBER);
            record_field(lx, up);
            break;
        case TOK_INC:
        case TOK_DEC:
            up = new_here(lx, N_INCDEC);
            up->op = lx->tok.kind == TOK_INC ? OP_ADD : OP_SUB;
            up->post = true;
            lex_next(lx);
            break;
        default: return n;
        }
        up->kid[0] = n;
        n = node_done(lx->l, up);
    }
}

/* "(" is the current token: parses a type in parentheses, or an expression with everything that may
 * follow it. */
static struct node *parenthesised(struct lex *lx, const struct type **type)
{
    *type = NULL;
    lex_next(lx);
    if (parse_is_type(&lx->tok)) {
        *type = parse_type(lx);
        parse_expect(lx, TOK_RPAR);
        return NULL;
    }
    struct node *n = parse_expr(lx);
    parse_expect(lx, TOK_RPAR);
    return postfix(lx, n);
}

static struct node *unary_node(struct lex *lx)
{
    struct node *n;
    if (lx->tok.kind == TOK_INC || lx->tok.kind == TOK_DEC) {
        n = new_here(lx, N_INCDEC);
        n->op = lx->tok.kind == TOK_INC ? OP_ADD : OP_SUB;
        lex_next(lx);
        n->kid[0] = unary(lx);
        return node_done(lx->l, n);
    }
    if (lx->tok.kind == TOK_KW_SIZEOF) {
        n = new_here(lx, N_SIZEOF);
        lex_next(lx);
        if (lx->tok.kind == TOK_LPAR)
            n->kid[0] = parenthesised(lx, &n->cast);
        else
            n->kid[0] = unary(lx);
        return node_done(lx->l, n);
    }
    if (lx->tok.kind == TOK_LPAR) {
        const struct diag_pos pos = lx->tok.pos;
        const struct type *cast;
        struct node *inner = parenthesised(lx, &cast);
        if (!cast)
            return inner;
        n = node_new(lx->l, N_CAST, &pos);
        n->cast = cast;
        n->kid[0] = unary(lx);
        return node_done(lx->l, n);
    }
    for (size_t i = 0; i < NELEM(unaries); i++) {
        if (lx->tok.kind == unaries[i].tok) {
            n = new_here(lx, N_UNARY);
            n->op = (uint8_t)unaries[i].op;
            lex_next(lx);
            n->kid[0] = unary(lx);
            return node_done(lx->l, n);
        }
    }
    return postfix(lx, primary(lx));
}

static struct node *unary(struct lex *lx)
{
    enter(lx);
    struct node *n = unary_node(lx);
    leave(lx);
    return n;
}

static struct node *binary(struct lex *lx, int level)
{
    struct node *left = unary(lx);
    for (;;) {
        const struct binary *b = NULL;
        for (size_t i = 0; i < NELEM(binaries) && !b; i++) {
            if (binaries[i].tok == lx->tok.kind && binaries[i].level >= level)
                b = &binaries[i];
        }
        if (!b)
            return left;
        struct node *n = new_here(lx, N_BINARY);
        n->op = (uint8_t)b->op;
        lex_next(lx);
        n->kid[0] = left;
        n->kid[1] = binary(lx, b->level + 1);
        left = node_done(lx->l, n);
    }
}

static struct node *conditional(struct lex *lx)
{
    struct node *cond = binary(lx, 1);
    if (lx->tok.kind != TOK_QUEST)
        return cond;
    struct node *n = new_here(lx, N_COND);
    lex_next(lx);
    n->kid[0] = cond;
    n->kid[1] = parse_expr(lx);
    parse_expect(lx, TOK_COLON);
    enter(lx);
    n->kid[2] = conditional(lx);
    leave(lx);
    return node_done(lx->l, n);
}

struct node *parse_assign(struct lex *lx)
{
    enter(lx);
    struct node *left = conditional(lx);
    for (size_t i = 0; i < NELEM(assigns); i++) {
        if (lx->tok.kind == assigns[i].tok) {
            struct node *n = new_here(lx, N_ASSIGN);
            n->op = (uint8_t)assigns[i].op;
            lex_next(lx);
            n->kid[0] = left;
            n->kid[1] = parse_assign(lx);
            left = node_done(lx->l, n);
            break;
        }
    }
    leave(lx);
    return left;
}

struct node *parse_expr(struct lex *lx)
{
    struct node *left = parse_assign(lx);
    while (lx->tok.kind == TOK_COMMA) {
        struct node *n = new_here(lx, N_BINARY);
        n->op = OP_COMMA;
        lex_next(lx);
        n->kid[0] = left;
        n->kid[1] = parse_assign(lx);
        left = node_done(lx->l, n);
    }
    return left;
}
