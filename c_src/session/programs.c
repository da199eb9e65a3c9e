/* programs.c - programs: from texts and files to the image of the session. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "session/handle.h"
#include "base/err.h"
#include "lang/encode.h"
#include "util/embedded.h"

/* By enum erltrace_spec, which is the compiler's enum compile_kind: the command's letter. */
static const char *const letters[] = {
    [ERLTRACE_SPEC_SCRIPT] = "-s", [ERLTRACE_SPEC_NAME] = "-n",     [ERLTRACE_SPEC_FUNCTION] = "-f",
    [ERLTRACE_SPEC_MODULE] = "-m", [ERLTRACE_SPEC_PROVIDER] = "-P", [ERLTRACE_SPEC_ID] = "-i",
};
enum { NSPECS = sizeof letters / sizeof letters[0] };
_Static_assert((int)COMPILE_SCRIPT == (int)ERLTRACE_SPEC_SCRIPT &&
                   (int)COMPILE_NAME == (int)ERLTRACE_SPEC_NAME &&
                   (int)COMPILE_FUNCTION == (int)ERLTRACE_SPEC_FUNCTION &&
                   (int)COMPILE_MODULE == (int)ERLTRACE_SPEC_MODULE &&
                   (int)COMPILE_PROVIDER == (int)ERLTRACE_SPEC_PROVIDER &&
                   (int)COMPILE_ID == (int)ERLTRACE_SPEC_ID,
               "a program's kind is the same number for programs and for the compiler");

/* Returns $target: the process of the first target, or else the first one that was given as a
 * process; 0: none is known. Of another node by name it never is. */
static pid_t target_process(const erltrace_t *h)
{
    const struct api_target *t = h->target;
    if (t != NULL && t->pid == 0)
        while ((t = t->next) != NULL && t->command == NULL && (t->node != NULL || t->by_relay))
            ;
    return t != NULL ? t->pid : 0;
}

/* Makes the compiler. Targets must be set before programs, since the compiler must know them.
 * Returns 0 or -1. */
static int prepare(erltrace_t *h)
{
    struct session *s = &h->session;
    const char *root;
    if (s->compile != NULL)
        return 0;
    root = api_root(h);
    if (root == embedded_root)
        s->libraries = root;
    else if (root != NULL)
        s->libraries = arena_printf(&s->arena, "%s/priv/lib", root);
    s->target = h->names != NULL ? h->names_process : target_process(h);
    s->compile_options.kernel = h->kernel;
    s->compile_options.nodes = api_names_node(h);
    s->may_mix = (s->flags & ERLTRACE_O_KERNEL) != 0 && !h->local;
    if (h->kernel || h->host ||
        (!h->local && (!api_names_node(h) || (s->flags & ERLTRACE_O_KERNEL) != 0)))
        s->compile_options.foreign = session_ask_kernel;
    return session_begin(s) != 0 ? api_leave(h, ET_ENOMEM) : 0;
}

/* Returns a name for diagnostics that no other program has: the second "-n" is "-n (2)". */
static const char *unique_name(erltrace_t *h, const char *name)
{
    const char *result = name;
    for (size_t n = 2;; n++) {
        const struct erltrace_prog *p = h->session.program;
        while (p != NULL && strcmp(p->name, result) != 0)
            p = p->next;
        if (p == NULL)
            return result;
        result = arena_printf(&h->session.arena, "%s (%zu)", name, n);
        if (result == NULL)
            return NULL;
    }
}

static char **copy_words(erltrace_t *h, const char *zero, int argc, char *const argv[])
{
    int n = argc > 0 ? argc : 1;
    char **v = arena_alloc(&h->session.arena, ((size_t)n + 1) * sizeof *v);
    if (v == NULL)
        return NULL;
    v[0] = api_strdup(h, argc > 0 && argv[0] != NULL ? argv[0] : zero);
    for (int i = 1; i < argc; i++)
        if ((v[i] = api_strdup(h, argv[i])) == NULL)
            return NULL;
    return v[0] != NULL ? v : NULL;
}

/* Adds a program. src must have text, len, shown and shown_len set; p: spec and text. */
static erltrace_prog_t *add(erltrace_t *h, struct erltrace_prog *p, struct compile_source *src,
                            const char *name, int argc, char *const argv[])
{
    const char *unique = unique_name(h, name);
    src->kind = (enum compile_kind)p->spec;
    src->name = unique;
    src->argc = argc > 0 ? argc : 1;
    src->argv = copy_words(h, p->spec == ERLTRACE_SPEC_SCRIPT ? p->text : "erltrace", argc, argv);
    if (unique == NULL || src->argv == NULL) {
        api_fail(h, ERLTRACE_E_NOMEM);
        return NULL;
    }
    if (prepare(h) != 0)
        return NULL;
    h->compiling = p;
    int rc = session_add(&h->session, src, p);
    h->compile_failed |= rc != 0;
    rc = api_leave(h, rc);
    h->compiling = NULL;
    return rc == 0 ? p : NULL;
}

static bool good_words(int argc, char *const argv[])
{
    for (int i = 0; i < argc; i++)
        if (argv == NULL || argv[i] == NULL)
            return false;
    return argc >= 0;
}

erltrace_prog_t *erltrace_program_strcompile(erltrace_t *h, const char *name,
                                             enum erltrace_spec spec, const char *text, int argc,
                                             char *const argv[])
{
    if (!api_enter(h, API_OPEN, API_OPEN))
        return NULL;
    if ((unsigned)spec >= NSPECS || text == NULL || !good_words(argc, argv)) {
        api_fail(h, ERLTRACE_E_INVAL);
        return NULL;
    }
    struct erltrace_prog *p = arena_alloc(&h->session.arena, sizeof *p);
    char *copy = api_strdup(h, text), *called = api_strdup(h, name);
    if (p == NULL || copy == NULL || (name != NULL && called == NULL)) {
        api_fail(h, ERLTRACE_E_NOMEM);
        return NULL;
    }
    p->spec = spec;
    p->text = spec == ERLTRACE_SPEC_SCRIPT && called != NULL ? called : copy;
    struct compile_source src = {.text = copy, .len = strlen(copy)};
    return add(h, p, &src, called != NULL ? called : letters[spec], argc, argv);
}

/* -- files ------------------------------------------------------------------------------------- */

char *api_read(erltrace_t *h, FILE *f, size_t *len)
{
    struct buf b = BUF_INIT;
    char piece[8192];
    size_t n;
    while (!b.oom && (n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&b, piece, n);
    int error = ferror(f) ? errno : b.oom ? ENOMEM : 0;
    char *text = error == 0 ? arena_strndup(&h->session.arena, buf_str(&b), b.len) : NULL;
    *len = b.len;
    buf_free(&b);
    errno = error != 0 ? error : ENOMEM;
    return text;
}

/* Reads a whole file, as api_read does. */
static char *read_file(erltrace_t *h, const char *path, size_t *len)
{
    struct stat st;
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return NULL;
    /* Opening a folder succeeds, and reading it gives an unclear error. */
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
        fclose(f);
        errno = EISDIR;
        return NULL;
    }
    char *text = api_read(h, f, len);
    int error = errno;
    fclose(f);
    errno = error;
    return text;
}

erltrace_prog_t *erltrace_program_fcompile(erltrace_t *h, const char *path, int argc,
                                           char *const argv[])
{
    struct compile_source src = {0};
    const char *why;
    if (!api_enter(h, API_OPEN, API_OPEN))
        return NULL;
    if (path == NULL || !good_words(argc, argv)) {
        api_fail(h, ERLTRACE_E_INVAL);
        return NULL;
    }
    struct erltrace_prog *p = arena_alloc(&h->session.arena, sizeof *p);
    const char *name = api_strdup(h, path);
    if (p == NULL || name == NULL) {
        api_fail(h, ERLTRACE_E_NOMEM);
        return NULL;
    }
    p->spec = ERLTRACE_SPEC_SCRIPT;
    p->text = name;
    src.text = read_file(h, strcmp(path, "-") == 0 ? "/dev/stdin" : path, &src.len);
    if (src.text == NULL) {
        api_fail_text(h, ERLTRACE_E_OPEN, "failed to open %s: %s", path, strerror(errno));
        return NULL;
    }
    if (option_on(&h->session.opt, OPTION_cpp)) {
        src.shown = src.text;
        src.shown_len = src.len;
        src.text = api_preprocess(h, src.text, &src.len, &why);
        if (src.text == NULL) {
            api_fail_text(h, ERLTRACE_E_CPP, "failed to compile script %s: %s", path, why);
            return NULL;
        }
    }
    return add(h, p, &src, name, argc, argv);
}

/* -- what was compiled ------------------------------------------------------------------------- */

int api_compile(erltrace_t *h)
{
    if (h->phase >= API_COMPILED)
        return 0;
    if (h->compile_failed)
        return api_fail(h, ERLTRACE_E_COMPILE);
    if (prepare(h) != 0)
        return -1;
    h->phase = API_COMPILED;
    for (struct erltrace_prog *p = h->session.program; p != NULL; p = p->next)
        if (p->next == NULL)
            h->compiling = p; /* an error of the whole is shown as one of the last program */
    int rc = 0;
    if (h->session.program != NULL && session_asks(&h->session)) {
        rc = api_open_targets(h);
        rc = rc != 0 ? rc : session_records(&h->session);
    }
    if (rc == 0 && h->session.program != NULL)
        rc = session_compile(&h->session);
    h->compile_failed = rc != 0;
    rc = api_leave(h, rc);
    h->compiling = NULL;
    if (rc != 0)
        h->phase = ERLTRACE_STATE_FAILED;
    return rc;
}

const struct erltrace_proginfo *erltrace_program_info(erltrace_t *h, const erltrace_prog_t *p)
{
    struct erltrace_prog *known = h != NULL ? h->session.program : NULL;
    while (known != NULL && known != p)
        known = known->next;
    if (known == NULL) {
        if (h != NULL)
            api_fail(h, ERLTRACE_E_INVAL);
        return NULL;
    }
    return &known->info;
}

int erltrace_is_destructive(erltrace_t *h)
{
    if (!api_enter(h, API_OPEN, ERLTRACE_STATE_DONE) || api_compile(h) != 0)
        return -1;
    return session_is_destructive(&h->session);
}

int erltrace_prints(erltrace_t *h)
{
    if (!api_enter(h, API_OPEN, ERLTRACE_STATE_DONE) || api_compile(h) != 0)
        return -1;
    return session_prints(&h->session);
}

int erltrace_program_dump(erltrace_t *h, FILE *fp)
{
    if (!api_enter(h, API_OPEN, ERLTRACE_STATE_DONE))
        return -1;
    if (fp == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    if (api_compile(h) != 0)
        return -1;
    struct buf b = BUF_INIT;
    if (option_on(&h->session.opt, OPTION_tree))
        compile_tree(h->session.compile, &b);
    dif_disasm(&h->session.img, &b);
    int code = b.oom                                                           ? ERLTRACE_E_NOMEM
               : fwrite(buf_str(&b), 1, b.len, fp) != b.len || fflush(fp) != 0 ? ERLTRACE_E_IO
                                                                               : ERLTRACE_E_OK;
    buf_free(&b);
    return code == ERLTRACE_E_OK ? 0 : api_fail(h, code);
}
