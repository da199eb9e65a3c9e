/* parse_clause.c - clauses and their probe descriptions (language.md 1.7, 2.1, 2.2).
 *
 * The four parts of a description are assigned from the right; which part is rightmost depends on
 * the source of the text (-n name, -f function ...). A part in single quotes is an Erlang name
 * taken literally: characters that are special in a glob are escaped with '\'. parse_names.c reads
 * descriptions that do not consist of four parts. */
#include "lang/lex.h"
#include "util/buftext.h"

#include <string.h>

static const char *const part_names[] = {"providers", "modules", "functions", "names"};

/* The limit on a description's parts, by its rightmost part. */
static const char *const most_parts[] = {"-P takes only a provider",
                                         "-m takes no more than provider:module",
                                         "-f takes no more than provider:module:function",
                                         "it has four parts: provider:module:function:name"};

/* The maximum bytes of each part (language.md 2.2). Names of modules and functions may be as long
 * as the VM allows: an atom, and a function's arity. */
static const struct {
    const char *what;
    size_t most;
} part_limits[] = {{"provider", 63}, {"module", 1020}, {"function", 1024}, {"name", 63}};

/* Returns which part the rightmost one is. */
static unsigned rightmost(const struct lex *lx)
{
    switch (lx->src->kind) {
    case COMPILE_PROVIDER: return 0;
    case COMPILE_MODULE: return 1;
    case COMPILE_FUNCTION: return 2;
    default: return 3;
    }
}

static _Noreturn void invalid(struct lex *lx, const char *hint, const char *why)
{
    const struct token *t = &lx->tok;
    lang_fail(lx->l, &t->pos, "D_PDESC_INVAL", hint, "invalid probe description \"%.*s\": %s",
              (int)t->len, t->str, why);
}

/* Returns one part: s[0..n) with its macro replaced and its quotes removed. */
static const char *part(struct lex *lx, const char *s, size_t n)
{
    struct buf *b = &lx->l->part;
    bool quoted = false;
    size_t i = 0;
    buf_reset(b);
    while (i < n) {
        char c = s[i];
        if (c == '\'') {
            quoted = !quoted;
            i++;
        } else if (quoted) { /* a literal character; Erlang's own quoting is \' and \\ */
            i += c == '\\' && i + 1 < n;
            if (strchr("*?[\\", s[i]))
                buf_addc(b, '\\');
            buf_addc(b, s[i++]);
        } else if (c == '\\' && i + 1 < n) {
            buf_add(b, s + i, 2);
            i += 2;
        } else if (c == '$' && i + 1 < n && s[i + 1] == '^') { /* no macro: lex.c */
            buf_add(b, s + i, 2);
            i += 2;
        } else if (c == '$') {
            size_t start = i + 1, k;
            while (start < n && s[start] == '$')
                start++;
            bool digits = start < n && s[start] >= '0' && s[start] <= '9';
            for (k = start; k < n && (!digits || (s[k] >= '0' && s[k] <= '9')); k++)
                ;
            const char *text = lex_macro_text(lx, s + start, k - start);
            if (!text) /* only this is wrong: the clause is still checked */
                lang_err(lx->l, &lx->tok.pos, "D_PDESC_INVAL", lex_macro_hint(digits),
                         "invalid probe description \"%.*s\": Undefined macro variable in probe "
                         "description",
                         (int)lx->tok.len, lx->tok.str);
            buf_adds(b, text ? text : "*");
            i = k;
        } else {
            buf_addc(b, c);
            i++;
        }
    }
    if (b->oom)
        lang_nomem(lx->l);
    return lang_strndup(lx->l, buf_str(b), b->len);
}

static struct lang_desc *description(struct lex *lx)
{
    struct lang_desc *d = lang_alloc(lx->l, sizeof *d);
    const struct token *t = &lx->tok;
    struct desc_part parts[4] = {{.text = ""}, {.text = ""}, {.text = ""}, {.text = ""}};
    unsigned right = rightmost(lx);
    d->pos = t->pos;
    if (t->kind == TOK_INT) {
        if (right != 3)
            lang_fail(lx->l, &t->pos, "D_PDESC_INVAL", NULL,
                      "probe identifier %llu not permitted when specifying %s",
                      (unsigned long long)t->num, part_names[right]);
        if (t->num == 0 || t->num > UINT32_MAX)
            lang_fail(lx->l, &t->pos, "D_PDESC_INVAL", NULL,
                      "invalid probe identifier %llu: Unknown probe identifier",
                      (unsigned long long)t->num);
        d->id = (uint32_t)t->num;
    } else {
        const char *s = t->str, *end = s + t->len, *start[5];
        size_t len[5];
        unsigned n = 0;
        if (lx->src->kind == COMPILE_ID)
            lang_fail(lx->l, &t->pos, "D_PDESC_INVAL", "-i takes a probe id; -n takes a name",
                      "invalid probe identifier %.*s", (int)t->len, s);
        bool quoted = false;
        start[0] = s;
        for (; s <= end; s++) {
            if (s < end && *s == '\'')
                quoted = !quoted;
            if (s + 1 < end && *s == '\\') {
                s++;
                continue;
            }
            if (s < end && (*s != ':' || quoted))
                continue;
            if (n > right)
                invalid(lx, most_parts[right], "Overspecified probe description");
            len[n] = (size_t)(s - start[n]);
            start[++n] = s + 1;
        }
        for (unsigned i = 0; i < n; i++)
            parts[right + 1 - n + i] = (struct desc_part){
                part(lx, start[i], len[i]), memchr(start[i], '\'', len[i]) != NULL,
                len[i] > 0 && start[i][len[i] - 1] == '\''};
        parse_names(lx->l, parts, right == 3, t->str[0] == ':');
        for (unsigned i = 0; i < 4; i++) {
            if (strlen(parts[i].text) > part_limits[i].most)
                invalid(lx, NULL,
                        lang_printf(lx->l, "the %s is longer than %zu characters",
                                    part_limits[i].what, part_limits[i].most));
        }
    }
    d->prov = parts[0].text;
    lx->l->knows_foreign |= probe_kernel_provider(d->prov);
    d->mod = parts[1].text;
    d->func = parts[2].text;
    d->name = parts[3].text;
    return d;
}

static struct lang_desc *descriptions(struct lex *lx)
{
    struct lang_desc *list = NULL, **tail = &list;
    for (;;) {
        if (lx->tok.kind != TOK_DESC && lx->tok.kind != TOK_INT)
            lex_syntax(lx, NULL);
        *tail = description(lx);
        tail = &(*tail)->next;
        lex_next(lx);
        if (lx->tok.kind != TOK_COMMA)
            return list;
        lex_next(lx);
    }
}

static struct lang_stmt *statements(struct lex *lx);

/* Parses the branch of an if ( ) or else: one statement, or several in braces. NULL: an empty
 * branch. */
static struct lang_stmt *branch(struct lex *lx);

/* Returns a hint on what may be missing before a token that cannot continue the statement. */
static const char *unclosed(struct lex *lx, const struct node *expr)
{
    switch (lx->tok.kind) {
    case TOK_IDENT:
    case TOK_AGG: return "is a ; missing before it?";
    case TOK_EOF: return "a } is missing";
    case TOK_LBRACE: /* END {: the name of a probe was taken for a variable */
        return expr->kind == N_IDENT ? "is a } missing before this clause?" : NULL;
    default: return NULL;
    }
}

/* Runs parse under a trap of its own. Returns what the trap caught, 0 for nothing. */
static int guarded(struct lex *lx, void (*parse)(struct lex *lx, void *to), void *to)
{
    struct lang *l = lx->l;
    jmp_buf outer;
    memcpy(&outer, &l->trap, sizeof outer);
    int caught = setjmp(l->trap);
    if (caught == 0)
        parse(lx, to);
    memcpy(&l->trap, &outer, sizeof outer);
    return caught;
}

/* Passes an error on that its place cannot recover from. */
static _Noreturn void pass_on(struct lang *l, int caught)
{
    longjmp(l->trap, caught);
}

/* Parses one statement and its ;, which is optional before a }. */
static struct lang_stmt *statement(struct lex *lx)
{
    struct lang_stmt *s = lang_alloc(lx->l, sizeof *s);
    s->pos = lx->tok.pos;
    if (lx->tok.kind == TOK_KW_IF) {
        s->act = ACT_IF;
        lex_next(lx);
        parse_expect(lx, TOK_LPAR);
        s->expr = parse_expr(lx);
        parse_expect(lx, TOK_RPAR);
        s->yes = branch(lx);
        if (lx->tok.kind == TOK_KW_ELSE) {
            lex_next(lx);
            s->no = branch(lx);
        }
        return s;
    }
    s->expr = parse_expr(lx);
    if (lx->tok.kind == TOK_SEMI)
        lex_next(lx);
    else if (lx->tok.kind != TOK_RBRACE)
        lex_syntax(lx, unclosed(lx, s->expr));
    return s;
}

static struct lang_stmt *branch(struct lex *lx)
{
    struct lang_stmt *s = NULL;
    if (++lx->nest > LANG_NEST_MAX)
        lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", NULL, "statements are nested too deeply");
    if (lx->tok.kind == TOK_LBRACE) {
        lex_next(lx);
        s = statements(lx);
        lex_next(lx);
    } else if (lx->tok.kind == TOK_SEMI) {
        lex_next(lx);
    } else {
        s = statement(lx);
    }
    lx->nest--;
    return s;
}

static void parse_statement(struct lex *lx, void *to)
{
    struct lang_stmt **s = to;
    *s = statement(lx);
}

/* Parses one statement. NULL: it has an error, which is reported, and is skipped. */
static struct lang_stmt *statement_or_none(struct lex *lx)
{
    struct lang_stmt *s = NULL;
    const char *from = lx->tok.raw;
    const struct lex first = *lx;
    bool branches = lx->tok.kind == TOK_KW_IF;
    int caught = guarded(lx, parse_statement, &s);
    if (caught == 0)
        return s;
    lx->nest = first.nest;
    if (caught != LANG_TRAP_ERROR || lx->l->errors >= DIAG_MAX_ERRORS)
        pass_on(lx->l, caught);
    const struct lex wrong = *lx;
    if (!lex_recover_statement(lx, first.depth, branches, first.tok.kind == TOK_KW_FOR)) {
        if (branches || !(lex_recover_unclosed(lx, &first) || lex_recover_unclosed(lx, &wrong)))
            pass_on(lx->l, caught);
        lang_drop(lx->l, lx->unit, lx->tok.raw);
        pass_on(lx->l, LANG_TRAP_UNIT);
    }
    lang_drop(lx->l, from, lx->tok.raw);
    return NULL;
}

/* Parses the statements up to the } that closes them. */
static struct lang_stmt *statements(struct lex *lx)
{
    struct lang_stmt *list = NULL, **tail = &list;
    while (lx->tok.kind != TOK_RBRACE) {
        if (lx->tok.kind == TOK_SEMI) {
            lex_next(lx);
            continue;
        }
        if (lx->tok.kind == TOK_EOF)
            lex_syntax(lx, "a } is missing");
        *tail = statement_or_none(lx);
        if (*tail)
            tail = &(*tail)->next;
    }
    return list;
}

/* Returns the only provider that a description can mean, or the provider it names. */
static const char *provider_of(const struct lang_desc *d)
{
    static const struct {
        const char *name;
        size_t len; /* compared */
        const char *prov;
    } known[] = {{"BEGIN", 6, "dtrace"},  {"END", 4, "dtrace"},       {"ERROR", 6, "dtrace"},
                 {"tick-", 5, "profile"}, {"profile-", 8, "profile"}, {"wall-", 5, "profile"}};
    if (d->id >= 1 && d->id <= 3) /* these ids never change */
        return "dtrace";
    for (size_t i = 0; d->prov[0] == '\0' && i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(d->name, known[i].name, known[i].len) == 0)
            return known[i].prov;
    }
    return d->prov;
}

/* Records the stability of the program's descriptions, including the pragmas for providers. */
static void uses_probes(struct lang *l, const struct lang_desc *d)
{
    for (; d; d = d->next) {
        const char *prov = provider_of(d);
        struct attr a = attr_standard;
        for (int i = PART_PROVIDER; i <= PART_NAME; i++)
            a = attr_min(a, lang_provider_attr(l, prov, (enum lang_part)i));
        l->probe_attr = attr_min(l->probe_attr, a);
        if (l->opt->amin >= 0 && !attr_reaches(a, attr_unpack(l->opt->amin)))
            lang_err(l, &d->pos, "D_ATTR_MIN", NULL,
                     "attributes for probe description (%s/%s/%s) are less than predefined minimum",
                     attr_stability(a.name), attr_stability(a.data), attr_class(a.class));
    }
}

/* Checks and keeps a parsed clause. */
static void add_clause(struct lang *l, struct lang_clause *c)
{
    l->desc = c->descs;
    check_clause(l, c);
    l->desc = NULL;
    uses_probes(l, c->descs);
    *l->clause_tail = c;
    l->clause_tail = &c->next;
}

/* Adds one clause for each description, because each has its own types. An error is reported for
 * the first one only. */
static void add_copies(struct lang *l, const struct lang_clause *c)
{
    unsigned before = l->errors;
    for (const struct lang_desc *d = c->descs; d && l->errors == before; d = d->next)
        add_clause(l, check_clause_copy(l, c, d));
}

static void parse_predicate(struct lex *lx, void *to)
{
    struct lang_clause *c = to;
    lex_next(lx);
    c->pred = parse_expr(lx);
    if (lx->tok.kind == TOK_LBRACE || lx->tok.kind == TOK_EOF || lx->tok.kind == TOK_COMMA)
        lex_syntax(lx, "a predicate is closed by / directly before {");
    parse_expect(lx, TOK_PREDEND);
}

/* Parses a predicate. If it has an error, the clause goes on without one. */
static void predicate(struct lex *lx, struct lang_clause *c)
{
    const char *from = lx->tok.raw;
    lx->ctx = LEX_EXPR;
    lx->paren = 0;
    int caught = guarded(lx, parse_predicate, c);
    if (caught == 0)
        return;
    lx->nest = 0;
    c->pred = NULL;
    if (caught != LANG_TRAP_ERROR || lx->l->errors >= DIAG_MAX_ERRORS || !lex_recover_predicate(lx))
        pass_on(lx->l, caught);
    lang_drop(lx->l, from, lx->tok.raw);
}

/* Returns whether the token ends a function's name that began before a blank: "m:with blank/0". */
static bool ends_name(const struct token *t, const struct diag_pos *first)
{
    const char *slash = t->raw != NULL ? memchr(t->raw, '/', (size_t)t->pos.len) : NULL;
    return t->kind == TOK_DESC && t->pos.line == first->line && slash != NULL &&
           slash + 1 < t->raw + t->pos.len && slash[1] >= '0' && slash[1] <= '9';
}

void parse_clause(struct lex *lx)
{
    struct lang *l = lx->l;
    struct lang_clause *c = lang_alloc(l, sizeof *c);
    struct diag_pos first = lx->tok.pos;
    c->descs = descriptions(lx);
    const char *part =
        lx->tok.kind == TOK_SLASH || lx->tok.kind == TOK_LBRACE ? lex_meant_part(lx) : NULL;
    if (part)
        lex_syntax(lx, part);
    if (lx->tok.kind == TOK_SLASH) {
        predicate(lx, c);
        if (lx->tok.kind != TOK_LBRACE)
            lang_fail(l, &first, "D_SYNTAX", NULL,
                      "expected actions { } following probe description and predicate");
    }
    if (lx->tok.kind == TOK_LBRACE) {
        lx->ctx = LEX_EXPR;
        lx->paren = 0;
        lex_next(lx);
        c->stmts = statements(lx);
    } else if (lx->src->kind == COMPILE_SCRIPT || lx->tok.kind != TOK_EOF) {
        if (lx->src->kind != COMPILE_SCRIPT && lx->tok.kind != TOK_DESC && lx->tok.kind != TOK_SEMI)
            lex_syntax(lx, NULL);
        const char *meant = lex_meant(lx);
        lang_fail(l, &first, "D_SYNTAX",
                  meant                         ? meant
                  : ends_name(&lx->tok, &first) ? LEX_QUOTES
                  : lx->tok.kind == TOK_SEMI    ? "a declaration begins with a type: int x;"
                                                : "an empty { } records only the firing",
                  "expected predicate and/or actions following probe description");
    }
    if (c->descs->next && check_uses_args(c))
        add_copies(l, c);
    else
        add_clause(l, c);
    lx->ctx = LEX_OUTER;
    lex_next(lx);
}

void parse_unit(struct lex *lx)
{
    lx->nest = 0;
    lx->unit = lx->tok.raw;
    lx->l->depth = 0;
    lx->l->sealed = 0;
    lx->l->desc = NULL;
    lx->declares = lx->tok.kind != TOK_DESC && lx->tok.kind != TOK_INT;
    bool clause = lx->tok.kind == TOK_DESC || lx->tok.kind == TOK_INT;
    if (clause && lx->l->library)
        lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", "it may contain only declarations",
                  "a library may not contain clauses");
    if (clause)
        parse_clause(lx);
    else if (lx->tok.kind == TOK_IDENT || lx->tok.kind == TOK_TYPE || lx->tok.kind == TOK_RECORD ||
             lex_keyword(lx->tok.kind)[0])
        parse_decl(lx);
    else
        lex_syntax(lx, lx->tok.kind == TOK_RBRACE ? "it closes no {"
                       : lx->tok.kind == TOK_LBRACE || lx->tok.kind == TOK_SLASH
                           ? "a clause begins with a probe description, such as BEGIN"
                           : NULL);
}
