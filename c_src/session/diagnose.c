/* diagnose.c - diagnostics on their way to the program: in erltrace's form, as JSON, or, with the
 * option errform=dtrace, in the form that dtrace gives compile errors (language.md 12.1). */
#include <string.h>

#include "session/handle.h"
#include "util/buftext.h"
#include "util/render.h"

/* Returns the program that a compile error is about: the one with its file's name or, if a #line
 * changed that name, the one being compiled. Returns NULL if it is not a compile error. */
static const struct erltrace_prog *program_of(const erltrace_t *h, const struct diag *g)
{
    const struct erltrace_prog *p = h->session.program;
    if (g->severity != DIAG_ERROR || strncmp(g->tag, "D_", 2) != 0)
        return NULL;
    while (p != NULL && (g->pos.file == NULL || strcmp(g->pos.file, p->name) != 0))
        p = p->next;
    return p != NULL ? p : h->compiling != NULL ? h->compiling : h->session.program;
}

/* Returns whether to show the diagnostic in dtrace's one-line form. */
static bool is_classic(const erltrace_t *h, const struct diag *g)
{
    return option_on(&h->session.opt, OPTION_errform) &&
           (h->session.flags & ERLTRACE_O_JSON) == 0 && program_of(h, g) != NULL;
}

/* Appends a text. Where erltrace names two types in one line, dtrace uses two more lines. */
static void put_text(const char *text, struct buf *out)
{
    static const struct {
        const char *before, *between, *behind; /* text around the two types in erltrace's form */
        const char *head, *first, *second;     /* their replacements */
    } forms[] = {
        {" prototype: ", " expected, ", " passed", " prototype:", "prototype: ", " argument: "},
        {" (current: ", ", previous: ", ")", "", " current: ", "previous: "},
    };
    size_t len = strlen(text);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const char *a = strstr(text, forms[i].before), *b;
        size_t tail = strlen(forms[i].behind);
        if (a == NULL || (b = strstr(a, forms[i].between)) == NULL || len < tail ||
            strcmp(text + len - tail, forms[i].behind) != 0)
            continue;
        const char *first = a + strlen(forms[i].before), *second = b + strlen(forms[i].between);
        if (first > b || second > text + len - tail)
            continue;
        buf_printf(out, "%.*s%s\n\t%s%.*s\n\t%s%.*s\n", (int)(a - text), text, forms[i].head,
                   forms[i].first, (int)(b - first), first, forms[i].second,
                   (int)(text + len - tail - second), second);
        return;
    }
    buf_printf(out, "%s\n", text);
}

static void render_classic(const erltrace_t *h, const struct diag *g, struct buf *out)
{
    const struct erltrace_prog *p = program_of(h, g);
    bool script = p->spec == ERLTRACE_SPEC_SCRIPT;
    buf_printf(out,
               script ? "erltrace: failed to compile script %s: "
                      : "erltrace: invalid probe specifier %s: ",
               p->text);
    if (option_on(&h->session.opt, OPTION_errtags))
        buf_printf(out, "[%s] ", g->tag);
    if (g->pos.file != NULL && strcmp(g->pos.file, p->name) != 0)
        buf_printf(out, "\"%s\", line %d: ", g->pos.file, g->pos.line);
    else if (script && g->pos.line > 0)
        buf_printf(out, "line %d: ", g->pos.line);
    else if (!script && g->during != NULL)
        buf_printf(out, "%s: ", g->during);
    put_text(g->text, out);
}

static void render(const erltrace_t *h, const struct diag *g, struct buf *out)
{
    if ((h->session.flags & ERLTRACE_O_JSON) != 0)
        diag_render_json(g, out);
    else if (g->severity == DIAG_NOTE && g->pos.file == NULL)
        buf_printf(out, "erltrace: %s\n", g->text); /* a notice, in dtrace's form */
    else if (is_classic(h, g))
        render_classic(h, g, out);
    else
        diag_render(&h->session.diags, g, out);
}

static void hand_out(erltrace_t *h, const struct diag *g)
{
    static const enum erltrace_severity severities[] = {[DIAG_ERROR] = ERLTRACE_ERROR,
                                                        [DIAG_WARNING] = ERLTRACE_WARNING,
                                                        [DIAG_NOTE] = ERLTRACE_NOTE};
    struct buf text = BUF_INIT, line = BUF_INIT;
    size_t len;
    const char *source = diag_line(&h->session.diags, g, &len);
    render(h, g, &text);
    if (source != NULL) {
        buf_add(&line, source, len);
        source = buf_str(&line);
    }
    struct erltrace_diag d = {.severity = severities[g->severity],
                              .tag = g->tag,
                              .text = g->text,
                              .hint = g->hint,
                              .file = g->pos.file,
                              .line = g->pos.line,
                              .column = g->pos.col,
                              .length = g->pos.len,
                              .source = source,
                              .rendered = buf_str(&text)};
    h->session.watch.diagnostic(h->session.watch.arg, &d);
    buf_free(&text);
    buf_free(&line);
}

void api_hand_out(erltrace_t *h)
{
    bool busy = h->busy, one = false; /* dtrace reports only the first one */
    for (size_t i = 0; i < h->session.diags.count && !one; i++)
        one = is_classic(h, &h->session.diags.list[i]);
    unsigned errors_seen = 0;
    if (h->session.diags.errors > DIAG_MAX_ERRORS && !one &&
        (h->session.flags & ERLTRACE_O_JSON) == 0)
        diag_add(&h->session.diags, DIAG_NOTE, NULL, "", NULL, "%u more error%s",
                 h->session.diags.errors - DIAG_MAX_ERRORS,
                 h->session.diags.errors == DIAG_MAX_ERRORS + 1 ? "" : "s");
    h->busy = true;
    for (size_t i = 0; i < h->session.diags.count && h->diag_fn != NULL; i++) {
        const struct diag *g = &h->session.diags.list[i];
        if (g->severity == DIAG_ERROR && errors_seen++ > 0 && one)
            continue;
        hand_out(h, g);
    }
    h->busy = busy;
}

int erltrace_handle_diag(erltrace_t *h, erltrace_diag_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->diag_fn = fn;
    h->diag_arg = arg;
    return 0;
}
