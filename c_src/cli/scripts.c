/* scripts.c - see scripts.h. */
#include "cli/scripts.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/buftext.h"
#include "util/embedded.h"
#include "util/render.h"
#include "util/json.h"

enum { HEADER_BYTES = 1024 }; /* bytes of a script that are searched for a header */

struct found {
    struct arena *arena;
    struct script *script;
    size_t n, room;
    bool no_memory;
};

/* -- the header -------------------------------------------------------------------------------- */

/* Skips blanks and the marks of a comment. */
static const char *behind_marks(const char *s)
{
    return s + strspn(s, " \t*/");
}

/* Returns the first line of the first comment, after "#!" and empty lines, without comment
 * marks. */
static const char *first_line(const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        const char *s = behind_marks(text);
        if (strncmp(text, "#!", 2) != 0 && s < text + n)
            return s;
        text += n + (text[n] == '\n');
    }
    return text;
}

static void read_header(struct found *f, struct script *s)
{
    char text[HEADER_BYTES + 1] = "";
    FILE *file = s->text == NULL ? fopen(s->path, "re") : NULL;
    if (s->text != NULL)
        snprintf(text, sizeof text, "%s", s->text);
    if (file != NULL) {
        text[fread(text, 1, HEADER_BYTES, file)] = '\0';
        fclose(file);
    }
    const char *line = first_line(text);
    size_t named = strlen(s->name);
    s->arguments = s->what = "";
    if (strncmp(line, s->name, named) != 0 || strncmp(line + named, ".d", 2) != 0)
        return;
    const char *arguments = line + named + 2, *end = line + strcspn(line, "\n");
    const char *dash = strstr(arguments, " - ");
    if (dash == NULL || dash > end)
        return;
    arguments += strspn(arguments, " ");
    size_t len = arguments < dash ? (size_t)(dash - arguments) : 0;
    s->arguments = arena_strndup(f->arena, arguments, len);
    s->what = arena_strndup(f->arena, dash + 3, (size_t)(end - dash) - 3);
    f->no_memory |= s->arguments == NULL || s->what == NULL;
}

/* -- folders ----------------------------------------------------------------------------------- */

static bool is_known(const struct found *f, const char *name, size_t len)
{
    for (size_t i = 0; i < f->n; i++)
        if (strlen(f->script[i].name) == len && strncmp(f->script[i].name, name, len) == 0)
            return true;
    return false;
}

/* `text`: of a script that is inside the program, NULL: the file is read. */
static void add(struct found *f, const char *folder, const char *file, const char *text)
{
    size_t len = strlen(file);
    if (len < 3 || strcmp(file + len - 2, ".d") != 0 || is_known(f, file, len - 2))
        return;
    if (f->n == f->room) {
        struct script *more = arena_alloc(f->arena, (f->room * 2 + 16) * sizeof *more);
        if (more == NULL) {
            f->no_memory = true;
            return;
        }
        if (f->n > 0)
            memcpy(more, f->script, f->n * sizeof *more);
        f->script = more;
        f->room = f->room * 2 + 16;
    }
    struct script *s = &f->script[f->n];
    s->name = arena_strndup(f->arena, file, len - 2);
    s->path = arena_printf(f->arena, "%s/%s", folder, file);
    s->text = text;
    if (s->name == NULL || s->path == NULL) {
        f->no_memory = true;
    } else if (text != NULL || access(s->path, R_OK) == 0) {
        read_header(f, s);
        f->n++;
    }
}

static void add_folder(struct found *f, const char *folder)
{
    DIR *d = folder != NULL ? opendir(folder) : NULL;
    const struct dirent *e;
    while (d != NULL && !f->no_memory && (e = readdir(d)) != NULL)
        add(f, folder, e->d_name, NULL);
    if (d != NULL)
        closedir(d);
}

/* Adds the folders of ERLTRACE_SCRIPTS. */
static void add_listed(struct found *f)
{
    const char *list = getenv("ERLTRACE_SCRIPTS");
    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ":");
        if (n > 0)
            add_folder(f, arena_strndup(f->arena, list, n));
        list += n + (list[n] == ':');
    }
}

static void add_own(struct found *f)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config != NULL && *config != '\0')
        add_folder(f, arena_printf(f->arena, "%s/erltrace/scripts", config));
    else if (home != NULL && *home != '\0')
        add_folder(f, arena_printf(f->arena, "%s/.config/erltrace/scripts", home));
}

/* Adds a folder that is inside the program. */
static void add_embedded(struct found *f, const char *folder)
{
    const char *shown = arena_printf(f->arena, "%s/%s", embedded_root, folder);
    f->no_memory |= shown == NULL;
    for (const struct embedded *e = NULL; !f->no_memory && (e = embedded_next(folder, e)) != NULL;)
        add(f, shown, strrchr(e->path, '/') + 1, e->text);
}

/* Adds the folder that came with this program, and the one in it of scripts for the kernel: in a
 * checkout, or in share if it is installed. The Erlang application has the program in priv/bin. */
static void add_built_in(struct found *f)
{
    static const char *const near[] = {"../share/erltrace/scripts", "../scripts", "../../scripts"};
    char self[PATH_MAX], folder[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        char path[PATH_MAX];
        snprintf(folder, sizeof folder, "%s/%s", self, near[i]);
        if (realpath(folder, path) == NULL)
            continue;
        size_t before = f->n;
        add_folder(f, arena_strdup(f->arena, path));
        add_folder(f, arena_printf(f->arena, "%s/kernel", path));
        if (f->n > before)
            return;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct script *)a)->name, ((const struct script *)b)->name);
}

struct script *scripts_all(struct arena *arena, size_t *n)
{
    struct found f = {.arena = arena, .script = arena_alloc(arena, sizeof *f.script), .room = 1};
    f.no_memory = f.script == NULL;
    add_listed(&f);
    add_own(&f);
    if (embedded_static()) {
        add_embedded(&f, "scripts");
        add_embedded(&f, "scripts/kernel");
    } else {
        add_built_in(&f);
    }
    if (f.no_memory)
        return NULL;
    qsort(f.script, f.n, sizeof *f.script, by_name);
    *n = f.n;
    return f.script;
}

const struct script *scripts_find(struct arena *arena, const char *name, const char **near)
{
    size_t n = 0, len = strlen(name);
    struct script *s = scripts_all(arena, &n);
    const char **names = arena_alloc(arena, (n + 1) * sizeof *names);
    *near = NULL;
    if (len > 2 && strcmp(name + len - 2, ".d") == 0)
        len -= 2;
    for (size_t i = 0; s != NULL && i < n; i++)
        if (strlen(s[i].name) == len && strncmp(s[i].name, name, len) == 0)
            return &s[i];
    for (size_t i = 0; names != NULL && i < n; i++)
        names[i] = s[i].name;
    if (names != NULL && n > 0)
        *near = diag_nearest(name, names, n);
    return NULL;
}

size_t scripts_arguments(const struct script *s, size_t *needed)
{
    size_t n = 0;
    *needed = 0;
    for (const char *p = s->arguments; *(p += strspn(p, " ")) != '\0'; p += strcspn(p, " ")) {
        n++;
        *needed += *p != '[';
    }
    return n;
}

/* -- erltrace list ----------------------------------------------------------------------------- */

static void put_json(struct buf *b, const struct script *s)
{
    buf_adds(b, "{\"type\":\"script\"");
    json_text_field(b, "name", s->name);
    json_text_field(b, "arguments", s->arguments);
    json_text_field(b, "what", s->what);
    json_text_field(b, "path", s->path);
    buf_adds(b, "}\n");
}

static int list(erltrace_t *h, const struct args *a, struct screen *screen, void *arg)
{
    struct arena *arena = arg;
    struct buf b = BUF_INIT, part[3] = {BUF_INIT, BUF_INIT, BUF_INIT};
    size_t n = 0, width = 0;
    const struct script *s = scripts_all(arena, &n);
    (void)h;
    for (size_t i = 0; s != NULL && i < n; i++) {
        size_t wide = strlen(s[i].name) + 1 + strlen(s[i].arguments);
        width = wide > width ? wide : width;
    }
    for (size_t i = 0; s != NULL && i < n; i++) {
        if (a->json) {
            put_json(&b, &s[i]);
            continue;
        }
        buf_shown(&part[0], s[i].name);
        buf_printf(&part[0], " %s", buf_shown(&part[1], s[i].arguments));
        buf_printf(&b, "%-*s  %s\n", (int)width, buf_str(&part[0]), buf_shown(&part[2], s[i].what));
    }
    bool ok = s != NULL && !b.oom;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        ok = ok && !part[i].oom;
        buf_free(&part[i]);
    }
    if (!ok)
        screen_error(screen, "out of memory");
    else if (n == 0)
        screen_error_hint(screen,
                          "ERLTRACE_SCRIPTS names folders of scripts, with colons between them",
                          "no ready scripts were found");
    else
        screen_data(screen, buf_str(&b), b.len);
    buf_free(&b);
    return ok && n > 0 ? EXIT_OK : EXIT_ERROR;
}

int cli_list(const struct args *a, struct arena *arena)
{
    return cli_ask(a, list, arena);
}
