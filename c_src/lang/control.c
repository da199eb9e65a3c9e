/* control.c - control lines: #pragma, #line, #error and the like (language.md 1.8).
 *
 * A control line consists of words, integers and quoted strings up to the newline. Comments have no
 * meaning in it. */
#include "lang/lex.h"
#include "util/render.h"
#include "util/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16 };

struct words {
    size_t n;                    /* words found, including those that did not fit */
    const char *word[WORDS_MAX]; /* NUL-terminated, quotes removed */
    struct diag_pos pos[WORDS_MAX];
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
            w->pos[w->n] = (struct diag_pos){lx->file, lx->line, (int)(start - lx->line_start) + 1,
                                             (int)(s - start), lx->line - lx->shift};
        }
        w->n++;
    }
}

/* Reports the words of an #error from the i-th on, each followed by a blank. */
static void error(struct lex *lx, const struct words *w, size_t i)
{
    const char *text = "";
    size_t at = i - 1;
    for (; i < w->n && i < WORDS_MAX; i++)
        text = lang_printf(lx->l, "%s%s ", text, w->word[i]);
    lang_err(lx->l, &w->pos[at], "D_PRAGERR", NULL, "#error: %s", text);
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
    const char *hint = l->opt->opthint ? l->opt->opthint(l->opt->setopt_arg, name) : NULL;
    if (value)
        lang_err(l, &w->pos[3], "D_PRAGMA_OPTSET", hint, "failed to set option '%s' to '%s': %s",
                 name, value, why);
    else
        lang_err(l, &w->pos[3], "D_PRAGMA_OPTSET", hint, "failed to set option '%s': %s", name,
                 why);
}

static void malformed(struct lex *lx, const struct words *w, const char *form)
{
    lang_err(lx->l, &w->pos[2], "D_PRAGMA_MALFORM", form, "malformed #pragma D %s", w->word[2]);
}

/* Gives attributes or a binding to a name of the program; a name that does not exist yet gets them
 * when it is created. */
static void apply(struct lex *lx, const struct words *w, struct attr attr, uint32_t version)
{
    struct lang *l = lx->l;
    struct ident *id = names_find(&l->globals, w->word[4]);
    bool own = id && (id->kind == ID_VAR || id->kind == ID_INLINE) && id->library == l->library;
    if (id && !own) {
        lang_err(l, &w->pos[4], "D_PRAGMA_SCOPE", NULL,
                 "#pragma D %s cannot be applied to %s, which is not of this program", w->word[2],
                 w->word[4]);
    } else if (id) {
        if (strcmp(w->word[2], "attributes") == 0) {
            id->attr = attr;
            id->attr_given = true;
        } else {
            id->version = version;
        }
    } else {
        struct lang_pragma *p = lang_alloc(l, sizeof *p);
        *p = (struct lang_pragma){.pos = w->pos[4],
                                  .name = w->word[4],
                                  .what = w->word[2],
                                  .attr = attr,
                                  .version = version,
                                  .next = l->pragmas,
                                  .same = hash_gets(&l->pragma_table, w->word[4])};
        l->pragmas = p;
        if (hash_puts(&l->pragma_table, p->name, p) != 0)
            lang_nomem(l);
    }
}

/* attributes N/D/C NAME, or attributes N/D/C provider NAME PART */
static void attributes(struct lex *lx, const struct words *w)
{
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
        apply(lx, w, attr, 0);
        return;
    }
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (strcmp(lang_parts[i], w->word[6]) == 0) {
            struct lang_pragma *p = lang_alloc(l, sizeof *p);
            *p = (struct lang_pragma){.pos = w->pos[5],
                                      .name = w->word[5],
                                      .what = lang_parts[i],
                                      .attr = attr,
                                      .used = true,
                                      .next = l->provider_attrs};
            l->provider_attrs = p;
            return;
        }
    }
    lang_err(l, &w->pos[6], "D_PRAGMA_INVAL", "provider, module, function, name or args",
             "invalid component specified by #pragma D attributes: %s", w->word[6]);
}

static void binding(struct lex *lx, const struct words *w)
{
    uint32_t version;
    if (w->n != 5)
        malformed(lx, w, "#pragma D binding \"1.0\" NAME");
    else if (!lang_version_parse(w->word[3], &version))
        lang_err(lx->l, &w->pos[3], "D_PRAGMA_INVAL", "it is written \"1.0\" or \"1.0.1\"",
                 "invalid version string specified by #pragma D binding: %s", w->word[3]);
    else if (strcmp(w->word[4], "translator") == 0) /* applies to the next translator */
        lx->l->xlator_version = version;
    else
        apply(lx, w, attr_stable, version);
}

static void depends_on(struct lex *lx, const struct words *w)
{
    struct lang *l = lx->l;
    if (w->n != 5) {
        malformed(lx, w, "#pragma D depends_on provider NAME");
        return;
    }
    const char *kind = w->word[3], *name = w->word[4];
    bool provider = strcmp(kind, "provider") == 0;
    if (provider || strcmp(kind, "module") == 0) {
        if (!lang_has(kind, strlen(kind), name, strlen(name)))
            lang_err(l, &w->pos[4], "D_PRAGMA_DEPEND",
                     provider ? "available: dtrace, profile and erlang"
                              : "there are no kernel modules here",
                     "program requires %s %s", kind, name);
    } else if (strcmp(kind, "library") == 0) {
        if (!l->library) /* dependencies of libraries were checked when the libraries were ordered
                          */
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
        error(lx, w, 3);
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

/* Handles "#line N ["file" ...]" and "# N "file" FLAGS": the line after this one is line N. cpp's
 * flag 1 enters an included file, 2 returns from one. */
static void set_line(struct lex *lx, const struct words *w, size_t i)
{
    char *end;
    long n = i < w->n ? strtol(w->word[i], &end, 10) : -1;
    if (n < 0 || n >= INT_MAX || *end != '\0') {
        lang_err(lx->l, &w->pos[0], "D_PRAGMA_MALFORM", NULL,
                 "line number expected in line directive");
        return;
    }
    if (lx->src->shown == lx->src->text)
        lx->shift += (int)n - 1 - lx->line;
    lx->line = (int)n - 1; /* the newline adds one */
    if (w->n > i + 1)
        lx->file = strcmp(w->word[i + 1], "/dev/stdin") == 0 ? lx->src->name : w->word[i + 1];
    for (i += 2; i < w->n && i < WORDS_MAX; i++) {
        if (strcmp(w->word[i], "1") == 0)
            lx->l->include += lx->l->include < INT_MAX;
        else if (strcmp(w->word[i], "2") == 0)
            lx->l->include -= lx->l->include > 0;
    }
}

static bool is_of_cpp(const char *what)
{
    static const char *const names[] = {"define", "elif",   "else",    "endif", "if",
                                        "ifdef",  "ifndef", "include", "undef", "warning"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(what, names[i]) == 0)
            return true;
    }
    return false;
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
        error(lx, &w, 1);
    } else if (strcmp(what, "pragma") == 0) {
        const char *kind = w.n > 1 ? w.word[1] : "";
        if (strcmp(kind, "D") == 0)
            pragma_d(lx, &w);
        else if (strcmp(kind, "error") == 0)
            error(lx, &w, 2);
    } else {
        lang_err(lx->l, &w.pos[0], "D_PRAGCTL_INVAL",
                 is_of_cpp(what)                   ? lx->src->kind == COMPILE_SCRIPT
                                                         ? "-C runs the preprocessor"
                                                         : "-C runs the preprocessor over scripts: "
                                                           "put it in a file, and give that with -s"
                 : strncmp(what, "pragma", 6) == 0 ? NULL
                                                   : "comments are written /* like this */",
                 "invalid control directive: #%s", what);
    }
    lx->p++;
    lx->line_start = lx->p;
    lx->line++;
    lx->fresh = true;
}
