/* control.c - control lines: #pragma, #line, #error and their kin (reference 1.8).
 *
 * A control line is words, integers and quoted strings up to the newline; comments mean nothing in
 * it. */
#include "lang/lex.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16 };

struct words {
    size_t n;                    /* words found, also those that found no room */
    const char *word[WORDS_MAX]; /* NUL-terminated, quotes removed */
    struct diag_pos pos[WORDS_MAX];
    const char *rest[WORDS_MAX]; /* from the word to the end of the line */
};

static void split(struct lex *lx, struct words *w, const char *s, const char *end)
{
    w->n = 0;
    while (s < end) {
        if (*s == ' ' || (*s >= '\t' && *s <= '\r')) {
            s++;
            continue;
        }
        const char *start = s, *text = s;
        size_t len;
        if (*s == '"') {
            text = ++s;
            while (s < end && *s != '"')
                s++;
            len = (size_t)(s - text);
            s += s < end;
        } else {
            while (s < end && *s != ' ' && !(*s >= '\t' && *s <= '\r'))
                s++;
            len = (size_t)(s - text);
        }
        if (w->n < WORDS_MAX) {
            w->word[w->n] = lang_strndup(lx->l, text, len);
            w->rest[w->n] = lang_strndup(lx->l, start, (size_t)(end - start));
            w->pos[w->n] = (struct diag_pos){lx->file, lx->line, (int)(start - lx->line_start) + 1,
                                             (int)(s - start)};
        }
        w->n++;
    }
}

static void option(struct lex *lx, const struct words *w)
{
    struct lang *l = lx->l;
    if (w->n < 4) {
        lang_err(l, &w->pos[2], "D_PRAGMA_MALFORM", "#pragma D option name=value",
                 "missing argument for #pragma D option");
        return;
    }
    if (w->n > 4) {
        lang_err(l, &w->pos[4], "D_PRAGMA_MALFORM",
                 "no blanks around =, and no comment on this line",
                 "superfluous arguments specified for #pragma D option");
        return;
    }
    const char *eq = strchr(w->word[3], '=');
    const char *value = eq ? eq + 1 : NULL;
    const char *name =
        lang_strndup(l, w->word[3], eq ? (size_t)(eq - w->word[3]) : strlen(w->word[3]));
    const char *why = "Invalid option name";
    if (l->opt->setopt && l->opt->setopt(l->opt->setopt_arg, name, value, &why) == 0)
        return;
    if (value)
        lang_err(l, &w->pos[3], "D_PRAGMA_OPTSET", NULL, "failed to set option '%s' to '%s': %s",
                 name, value, why);
    else
        lang_err(l, &w->pos[3], "D_PRAGMA_OPTSET", NULL, "failed to set option '%s': %s", name,
                 why);
}

static void malformed(struct lex *lx, const struct words *w, const char *form)
{
    lang_err(lx->l, &w->pos[2], "D_PRAGMA_MALFORM", form, "malformed #pragma D %s", w->word[2]);
}

/* Attributes or a binding for a name of the program; one that is not there yet gets it when it
 * comes. */
static void apply(struct lex *lx, const struct words *w, struct attr attr)
{
    struct lang *l = lx->l;
    struct ident *id = names_find(&l->globals, w->word[4]);
    if (id && id->kind != ID_VAR && id->kind != ID_INLINE) {
        lang_err(l, &w->pos[4], "D_PRAGMA_SCOPE", NULL,
                 "#pragma D %s cannot be applied to %s, which is not of this program", w->word[2],
                 w->word[4]);
    } else if (id) {
        if (strcmp(w->word[2], "attributes") == 0)
            id->attr = attr;
    } else {
        struct lang_pragma *p = lang_alloc(l, sizeof *p);
        *p = (struct lang_pragma){w->pos[4], w->word[4], w->word[2], attr, false, l->pragmas};
        l->pragmas = p;
    }
}

/* attributes N/D/C NAME, or attributes N/D/C provider NAME PART */
static void attributes(struct lex *lx, const struct words *w)
{
    static const char *const parts[] = {"provider", "module", "function", "name", "args"};
    struct lang *l = lx->l;
    struct attr attr;
    bool provider = w->n > 4 && strcmp(w->word[4], "provider") == 0;
    if (w->n != (provider ? 7 : 5)) {
        malformed(lx, w,
                  provider ? "#pragma D attributes Stable/Stable/Common provider NAME PART"
                           : "#pragma D attributes Stable/Stable/Common NAME");
        return;
    }
    if (!attr_parse(w->word[3], &attr)) {
        lang_err(l, &w->pos[3], "D_PRAGMA_INVAL", "they are written Stable/Stable/Common",
                 "invalid attributes specified by #pragma D attributes: %s", w->word[3]);
        return;
    }
    if (!provider) {
        apply(lx, w, attr);
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(parts[i], w->word[6]) == 0) {
            struct lang_pragma *p = lang_alloc(l, sizeof *p);
            *p = (struct lang_pragma){w->pos[5], w->word[5], parts[i], attr, true, l->providers};
            l->providers = p;
            return;
        }
    }
    lang_err(l, &w->pos[6], "D_PRAGMA_INVAL", "provider, module, function, name or args",
             "invalid component specified by #pragma D attributes: %s", w->word[6]);
}

/* "1.2" or "1.2.3": 8 bits, 12 bits, 12 bits */
static bool is_version(const char *s)
{
    static const unsigned long most[] = {255, 4095, 4095};
    for (size_t i = 0; i < 3; i++) {
        char *end;
        if (*s < '0' || *s > '9' || strtoul(s, &end, 10) > most[i])
            return false;
        if (*end == '\0')
            return i > 0;
        if (*end != '.')
            return false;
        s = end + 1;
    }
    return false;
}

static void binding(struct lex *lx, const struct words *w)
{
    if (w->n != 5)
        malformed(lx, w, "#pragma D binding \"1.0\" NAME");
    else if (!is_version(w->word[3]))
        lang_err(lx->l, &w->pos[3], "D_PRAGMA_INVAL", "it is written \"1.0\" or \"1.0.1\"",
                 "invalid version string specified by #pragma D binding: %s", w->word[3]);
    else
        apply(lx, w, attr_stable);
}

static void depends_on(struct lex *lx, const struct words *w)
{
    struct lang *l = lx->l;
    if (w->n != 5) {
        malformed(lx, w, "#pragma D depends_on provider NAME");
        return;
    }
    const char *kind = w->word[3], *name = w->word[4];
    if (strcmp(kind, "provider") == 0) {
        if (strcmp(name, "dtrace") != 0 && strcmp(name, "profile") != 0 &&
            strncmp(name, "erlang", 6) != 0)
            lang_err(l, &w->pos[4], "D_PRAGMA_DEPEND", "there are dtrace, profile and erlang",
                     "program requires provider %s", name);
    } else if (strcmp(kind, "module") == 0) {
        lang_err(l, &w->pos[4], "D_PRAGMA_DEPEND", "there are no modules of a kernel here",
                 "program requires module %s", name);
    } else if (strcmp(kind, "library") == 0) {
        lang_err(l, &w->pos[3], "D_PRAGMA_DEPEND", NULL,
                 "main program may not explicitly depend on a library");
    } else {
        lang_err(l, &w->pos[3], "D_PRAGMA_INVAL", "provider, module or library",
                 "invalid class specified by #pragma D depends_on: %s", kind);
    }
}

static const struct {
    const char *name;
    void (*run)(struct lex *lx, const struct words *w);
} more[] = {{"attributes", attributes}, {"binding", binding}, {"depends_on", depends_on}};

static void pragma_d(struct lex *lx, const struct words *w)
{
    const char *what = w->n > 2 ? w->word[2] : "";
    if (strcmp(what, "option") == 0) {
        option(lx, w);
        return;
    }
    if (strcmp(what, "error") == 0) {
        lang_err(lx->l, &w->pos[2], "D_PRAGERR", NULL, "#error: %s", w->n > 3 ? w->rest[3] : "");
        return;
    }
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        if (strcmp(what, more[i].name) == 0) {
            more[i].run(lx, w);
            return;
        }
    }
    lang_err(lx->l, &w->pos[w->n > 2 ? 2 : 1], "D_PRAGMA_INVAL",
             diag_nearest(what, (const char *const[]){"option"}, 1) ? "did you mean 'option'?"
                                                                    : NULL,
             "invalid #pragma D directive: %s", what);
}

/* "#line N ["file" ...]", "# N "file" ...": the line after this one is line N. */
static void set_line(struct lex *lx, const struct words *w, size_t i)
{
    char *end;
    long n = i < w->n ? strtol(w->word[i], &end, 10) : -1;
    if (n < 0 || n >= INT_MAX || *end != '\0') {
        lang_err(lx->l, &w->pos[0], "D_PRAGMA_MALFORM", NULL,
                 "line number expected in line directive");
        return;
    }
    lx->line = (int)n - 1; /* the newline adds one */
    if (w->n > i + 1)
        lx->file = strcmp(w->word[i + 1], "/dev/stdin") == 0 ? lx->src->name : w->word[i + 1];
}

void lex_control(struct lex *lx)
{
    struct words w;
    const char *nl = memchr(lx->p, '\n', (size_t)(lx->end - lx->p));
    if (!nl) {
        struct diag_pos pos = {lx->file, lx->line, (int)(lx->p - lx->line_start), 1};
        lx->p = lx->end;
        lang_fail(lx->l, &pos, "D_SYNTAX", "a control line ends with a newline",
                  "end-of-file encountered before end of control line");
    }
    split(lx, &w, lx->p, nl);
    lx->p = nl;
    const char *what = w.n > 0 ? w.word[0] : "";
    if (w.n == 0 || strcmp(what, "ident") == 0) {
        /* ignored */
    } else if (what[0] >= '0' && what[0] <= '9') {
        set_line(lx, &w, 0);
    } else if (strcmp(what, "line") == 0) {
        set_line(lx, &w, 1);
    } else if (strcmp(what, "error") == 0) {
        lang_err(lx->l, &w.pos[0], "D_PRAGERR", NULL, "#error: %s", w.n > 1 ? w.rest[1] : "");
    } else if (strcmp(what, "pragma") == 0) {
        const char *kind = w.n > 1 ? w.word[1] : "";
        if (strcmp(kind, "D") == 0)
            pragma_d(lx, &w);
        else if (strcmp(kind, "error") == 0)
            lang_err(lx->l, &w.pos[1], "D_PRAGERR", NULL, "#error: %s", w.n > 2 ? w.rest[2] : "");
    } else {
        lang_err(lx->l, &w.pos[0], "D_PRAGCTL_INVAL",
                 strcmp(what, "define") == 0 || strcmp(what, "include") == 0
                     ? "-C runs the preprocessor"
                     : NULL,
                 "invalid control directive: #%s", what);
    }
    lx->p++;
    lx->line_start = lx->p;
    lx->line++;
    lx->fresh = true;
}
