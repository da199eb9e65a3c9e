/* lang.c - creates, extends and frees a program; memory and errors of the room. */
#include "lang/lex.h"
#include "util/buftext.h"
#include "util/render.h"
#include "util/table.h"

#include <stdarg.h>
#include <string.h>

struct lang *lang_new(const struct lang_options *opt, struct diags *d)
{
    struct lang *l = et_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    arena_init(&l->arena);
    l->opt = opt;
    l->diags = d;
    l->clause_tail = &l->clauses;
    l->var_tail = &l->vars;
    l->agg_tail = &l->agglist;
    l->record_tail = &l->records;
    l->field_tail = &l->fields;
    if (setjmp(l->trap) != 0) {
        lang_free(l);
        return NULL;
    }
    names_init(l);
    return l;
}

void lang_free(struct lang *l)
{
    if (!l)
        return;
    hash_free(&l->globals.table);
    hash_free(&l->threads.table);
    hash_free(&l->locals.table);
    hash_free(&l->agg_table);
    hash_free(&l->members);
    hash_free(&l->pragma_table);
    hash_free(&l->types);
    hash_free(&l->ctypes);
    hash_free(&l->foreign_types);
    buf_free(&l->tmp);
    buf_free(&l->part);
    arena_free(&l->arena);
    et_free(l);
}

_Noreturn void lang_nomem(struct lang *l)
{
    longjmp(l->trap, LANG_TRAP_NOMEM);
}

void *lang_alloc(struct lang *l, size_t size)
{
    void *p = arena_alloc(&l->arena, size);
    if (!p)
        lang_nomem(l);
    return p;
}

char *lang_strndup(struct lang *l, const char *s, size_t n)
{
    char *p = arena_strndup(&l->arena, s, n);
    if (!p)
        lang_nomem(l);
    return p;
}

char *lang_printf(struct lang *l, const char *fmt, ...)
{
    va_list ap;
    buf_reset(&l->tmp);
    va_start(ap, fmt);
    buf_vprintf(&l->tmp, fmt, ap);
    va_end(ap);
    if (l->tmp.oom)
        lang_nomem(l);
    return lang_strndup(l, buf_str(&l->tmp), l->tmp.len);
}

static void report(struct lang *l, const struct diag_pos *pos, const char *tag, const char *hint,
                   const char *fmt, va_list ap)
{
    l->errors++;
    buf_reset(&l->tmp);
    buf_vprintf(&l->tmp, fmt, ap);
    if (l->tmp.oom)
        lang_nomem(l);
    diag_error(l->diags, ET_ECOMPILE, pos, tag, hint, "%s", buf_str(&l->tmp));
}

void lang_err(struct lang *l, const struct diag_pos *pos, const char *tag, const char *hint,
              const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(l, pos, tag, hint, fmt, ap);
    va_end(ap);
}

_Noreturn void lang_fail(struct lang *l, const struct diag_pos *pos, const char *tag,
                         const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(l, pos, tag, hint, fmt, ap);
    va_end(ap);
    longjmp(l->trap, LANG_TRAP_ERROR);
}

void lang_drop(struct lang *l, const char *from, const char *to)
{
    struct lang_dropped *d = lang_alloc(l, sizeof *d);
    *d = (struct lang_dropped){from, to, l->dropped};
    l->dropped = d;
}

static bool is_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool lang_was_dropped(const struct lang *l, const char *name)
{
    size_t n = strlen(name);
    for (const struct lang_dropped *d = l->dropped; d && n > 0; d = d->next) {
        for (const char *p = d->from; p + n <= d->to; p++) {
            const char *q = p + n;
            if (memcmp(p, name, n) != 0 || (p > d->from && is_name(p[-1])))
                continue;
            while (q < d->to && (*q == ' ' || *q == '\t'))
                q++;
            if (q < d->to && strchr("=[;,{", *q) && !(q[0] == '=' && q + 1 < d->to && q[1] == '='))
                return true;
        }
    }
    return false;
}

_Noreturn void lang_fail_quietly(struct lang *l)
{
    longjmp(l->trap, LANG_TRAP_ERROR);
}

static void finish(struct lex *lx, bool empty)
{
    struct lang *l = lx->l;
    const struct compile_source *src = lx->src;
    if (l->errors == 0 && empty && !l->opt->empty && !l->library) {
        const struct diag_pos pos = {src->name, 1, 1, 0};
        lang_err(l, &pos, "D_EMPTY", NULL, "empty D program specified");
    }
    for (struct lang_pragma *p = l->pragmas; p; p = p->next) {
        if (!p->used)
            lang_err(l, &p->pos, "D_PRAGMA_UNUSED", NULL,
                     "#pragma D %s applied to an identifier that is never defined: %s", p->what,
                     p->name);
    }
    l->pragmas = NULL;
    hash_free(&l->pragma_table);
    if (l->errors == 0 && src->argc > 1 && !lx->last_arg_used && !l->opt->argref) {
        lang_err(l, NULL, "D_MACRO_UNUSED",
                 "use it in the program, or allow it with the option argref",
                 "%s: extraneous argument '%s' ($%d is not referenced)", src->name,
                 src->argv[src->argc - 1], src->argc - 1);
    }
}

/* Runs one step of lang_add under the trap. Returns what the trap caught, 0 for nothing. */
enum step {
    STEP_FIRST,   /* the first token */
    STEP_UNIT,    /* one clause or declaration */
    STEP_RECOVER, /* skipping to the next unit after an error */
    STEP_END,     /* checks on the whole text */
    STEP_END_EMPTY
};
static int guarded(struct lex *lx, enum step step)
{
    const char *from;
    int caught = setjmp(lx->l->trap);
    lx->l->diags->during = NULL;
    if (caught != 0)
        return caught;
    switch (step) {
    case STEP_FIRST: lex_next(lx); break;
    case STEP_UNIT: parse_unit(lx); break;
    case STEP_RECOVER:
        from = lx->unit;
        lex_recover(lx);
        if (from)
            lang_drop(lx->l, from, lx->tok.raw);
        break;
    case STEP_END: finish(lx, false); break;
    case STEP_END_EMPTY: finish(lx, true); break;
    }
    return 0;
}

int lang_add(struct lang *l, const struct compile_source *src)
{
    struct lex lx;
    bool empty = true;
    l->errors = 0;
    l->include = 0;
    l->probe_attr = attr_standard;
    l->stmt_attr = attr_stable;
    l->library = src->kind == COMPILE_LIBRARY;
    l->xlator_version = 0;
    l->dropped = NULL;
    diags_source(l->diags, src->name, src->shown, src->shown_len);
    lex_init(&lx, l, src);
    int caught = guarded(&lx, STEP_FIRST);
    for (;;) {
        /* Each recovery consumes text, so the loop ends. */
        while (caught == LANG_TRAP_ERROR && l->errors < DIAG_MAX_ERRORS)
            caught = guarded(&lx, STEP_RECOVER);
        if (caught != 0 || l->errors >= DIAG_MAX_ERRORS || lx.tok.kind == TOK_EOF)
            break;
        empty = false;
        caught = guarded(&lx, STEP_UNIT);
        if (caught == LANG_TRAP_UNIT) /* it begins after the one that went wrong */
            caught = 0;
    }
    if (caught == 0)
        caught = guarded(&lx, empty ? STEP_END_EMPTY : STEP_END);
    l->library = false;
    if (caught == LANG_TRAP_NOMEM)
        return ET_ENOMEM;
    return l->errors == 0 ? 0 : ET_ECOMPILE;
}

int lang_constants(struct lang *l)
{
    int caught = setjmp(l->trap);
    l->library = caught == 0;
    if (caught == 0)
        names_constants(l);
    l->library = false;
    return caught == 0 ? 0 : ET_ENOMEM;
}

void lang_uses(struct lang *l, const struct diag_pos *pos, const char *name, struct attr attr)
{
    if (l->sealed > 0)
        return;
    l->stmt_attr = attr_min(l->stmt_attr, attr);
    if (l->opt->amin >= 0 && !attr_reaches(attr, attr_unpack(l->opt->amin)))
        lang_err(l, pos, "D_ATTR_MIN", NULL,
                 "attributes for %s (%s/%s/%s) are less than predefined minimum", name,
                 attr_stability(attr.name), attr_stability(attr.data), attr_class(attr.class));
}

void lang_stability(const struct lang *l, struct attr *probes, struct attr *statements)
{
    *probes = l->probe_attr;
    *statements = l->stmt_attr;
}

const struct lang_clause *lang_clauses(const struct lang *l)
{
    return l->clauses;
}

const struct lang_var *lang_vars(const struct lang *l, uint32_t *n)
{
    *n = l->nvars;
    return l->vars;
}

const struct lang_agg *lang_aggs(const struct lang *l, uint32_t *n)
{
    *n = l->naggs;
    return l->agglist;
}
