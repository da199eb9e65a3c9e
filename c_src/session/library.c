/* library.c - finds D libraries, orders them, and compiles them before the first program
 * (language.md 1.8, 9.4).
 *
 * A library is a file DIR/NAME.d; of the static command, those that came with it are inside the
 * program. Folders are searched in their order, and the files of a folder by
 * name. A library comes after those that it depends on, which are looked for in its own folder
 * first, then in all others. One that depends on a missing provider or module is silently left out,
 * and so is any library that depends on it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "session/session.h"
#include "util/embedded.h"
#include "util/render.h"

enum state { NEW, BUSY /* what it depends on is being looked at */, DONE, LEFT_OUT };

struct library {
    const char *dir, *path, *name;
    const char *text;
    size_t len;
    enum state state;
};

struct libraries {
    struct session *s;
    struct library *list; /* by folder, then name */
    size_t n, cap;
};

static int no_memory(struct session *s)
{
    return diag_error(&s->diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
}

static int unreadable(struct session *s, const char *what, const char *path)
{
    return diag_error(&s->diags, ET_EINVAL, NULL, "", NULL, "failed to open %s %s: %s", what, path,
                      strerror(errno));
}

/* -- finding ----------------------------------------------------------------------------------- */

static int read_file(struct session *s, struct library *l)
{
    struct stat st;
    int fd = open(l->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int rc = unreadable(s, "library", l->path);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    size_t size = st.st_size > 0 ? (size_t)st.st_size : 0;
    char *text = arena_alloc(&s->arena, size + 1);
    ssize_t n = 1;
    while (text != NULL && l->len < size && n > 0) {
        n = read(fd, text + l->len, size - l->len);
        l->len += n > 0 ? (size_t)n : 0;
    }
    int rc = text == NULL ? no_memory(s) : n < 0 ? unreadable(s, "library", l->path) : 0;
    close(fd);
    l->text = text;
    return rc;
}

/* `inside`: the file, if it is inside the program; NULL: it is read. */
static int add_file(struct libraries *all, const char *dir, const char *name,
                    const struct embedded *inside)
{
    struct session *s = all->s;
    if (all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 16;
        struct library *list = et_realloc(all->list, cap * sizeof *list);
        if (list == NULL)
            return no_memory(s);
        all->list = list;
        all->cap = cap;
    }
    struct library *l = &all->list[all->n];
    *l = (struct library){.dir = dir,
                          .path = arena_printf(&s->arena, "%s/%s", dir, name),
                          .name = arena_strdup(&s->arena, name)};
    if (l->path == NULL || l->name == NULL)
        return no_memory(s);
    all->n++;
    if (inside == NULL)
        return read_file(s, l);
    l->text = inside->text;
    l->len = (size_t)(inside->end - inside->text);
    return 0;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct library *)x)->name, ((const struct library *)y)->name);
}

static int add_dir(struct libraries *all, const char *dir, bool must)
{
    size_t first = all->n;
    DIR *d = opendir(dir);
    int rc = 0;
    if (d == NULL)
        return must ? unreadable(all->s, "library directory", dir) : 0;
    for (const struct dirent *e; rc == 0 && (e = readdir(d)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (e->d_name[0] != '.' && n > 2 && strcmp(e->d_name + n - 2, ".d") == 0)
            rc = add_file(all, dir, e->d_name, NULL);
    }
    closedir(d);
    if (all->n > first)
        qsort(&all->list[first], all->n - first, sizeof *all->list, by_name);
    return rc;
}

/* Adds the libraries that are inside the program. */
static int add_embedded(struct libraries *all)
{
    static const char folder[] = "priv/lib";
    const struct embedded *f = NULL;
    int rc = 0;
    while (rc == 0 && (f = embedded_next(folder, f)) != NULL)
        rc = add_file(all, embedded_root, f->path + sizeof folder, f);
    return rc;
}

/* -- order ------------------------------------------------------------------------------------- */

static struct library *find(const struct libraries *all, const char *dir,
                            const struct compile_depend *d)
{
    struct library *other = NULL;
    for (size_t i = 0; i < all->n; i++) {
        struct library *l = &all->list[i];
        if (strlen(l->name) != d->name_len || memcmp(l->name, d->name, d->name_len) != 0)
            continue;
        if (strcmp(l->dir, dir) == 0)
            return l;
        other = other != NULL ? other : l;
    }
    return other;
}

static int bad_dependency(struct session *s, const struct library *l,
                          const struct compile_depend *d, const char *why)
{
    struct diag_pos pos = {l->path, d->line, (int)(d->name - l->text) + 1, (int)d->name_len};
    for (const char *p = d->name; p > l->text && p[-1] != '\n'; p--)
        pos.col = (int)(d->name - p) + 2;
    diags_source(&s->diags, l->path, l->text, l->len);
    return diag_error(&s->diags, ET_ECOMPILE, &pos, "D_PRAGMA_DEPEND", NULL,
                      "library %s requires library %.*s, %s", l->name, (int)d->name_len, d->name,
                      why);
}

/* Compiles a library after those that it depends on. */
static int load(struct libraries *all, struct library *l)
{
    struct session *s = all->s;
    struct compile_depend d;
    size_t at = 0;
    int line = 1, rc;
    l->state = BUSY;
    while (compile_depends(l->text, l->len, &at, &line, &d)) {
        if (d.needs == COMPILE_NEEDS_UNMET)
            l->state = LEFT_OUT;
    }
    at = 0;
    line = 1;
    while (l->state == BUSY && compile_depends(l->text, l->len, &at, &line, &d)) {
        struct library *needed = d.needs == COMPILE_NEEDS_LIBRARY ? find(all, l->dir, &d) : NULL;
        if (d.needs != COMPILE_NEEDS_LIBRARY)
            continue;
        if (needed == NULL)
            return bad_dependency(s, l, &d, "which is not there");
        if (needed->state == BUSY)
            return bad_dependency(s, l, &d, "which requires it in turn");
        if (needed->state == NEW && (rc = load(all, needed)) != 0)
            return rc;
        if (needed->state == LEFT_OUT)
            l->state = LEFT_OUT;
    }
    if (l->state == LEFT_OUT)
        return 0;
    l->state = DONE;
    const struct compile_source src = {
        .kind = COMPILE_LIBRARY, .name = l->path, .text = l->text, .len = l->len};
    return compile_add(s->compile, &src);
}

int session_libraries(struct session *s)
{
    const struct options *o = &s->opt;
    struct libraries all = {.s = s};
    int rc = 0;
    if (s->has_libraries)
        return 0;
    s->has_libraries = true;
    if (option_on(o, OPTION_nolibs))
        return 0;
    if (compile_constants(s->compile) != 0)
        return no_memory(s);
    if (o->syslibdir != NULL)
        rc = add_dir(&all, o->syslibdir, true);
    else if (s->libraries == embedded_root)
        rc = add_embedded(&all);
    else if (s->libraries != NULL)
        rc = add_dir(&all, s->libraries, false);
    for (size_t i = 0; rc == 0 && i < o->nlibdirs; i++)
        rc = add_dir(&all, o->libdir[i], true);
    for (size_t i = 0; rc == 0 && i < all.n; i++)
        if (all.list[i].state == NEW)
            rc = load(&all, &all.list[i]);
    et_free(all.list);
    return rc;
}
