/* subr_path.c - subroutines on path names: basename, dirname, cleanpath (language.md 6.3). */
#include "engine/subr/subr.h"

#include <string.h>

/* Returns the length of s without trailing slashes. */
static size_t without_slashes(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] == '/')
        n--;
    return n;
}

/* Returns the length of s up to and including its last slash. */
static size_t up_to_slash(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] != '/')
        n--;
    return n;
}

uint64_t subr_basename(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    (void)n;
    if (!subr_text(x, arg[0], &s) || !exec_work(x, s.n))
        return 0;
    size_t end = without_slashes(s.s, s.n), start = up_to_slash(s.s, end);
    if (end == 0)
        return subr_copy(x, s.n == 0 ? "." : "/", 1);
    return subr_copy(x, s.s + start, end - start);
}

uint64_t subr_dirname(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    (void)n;
    if (!subr_text(x, arg[0], &s) || !exec_work(x, s.n))
        return 0;
    size_t dir = up_to_slash(s.s, without_slashes(s.s, s.n)), end = without_slashes(s.s, dir);
    if (end > 0)
        return subr_copy(x, s.s, end);
    return subr_copy(x, s.n > 0 && s.s[0] == '/' ? "/" : ".", 1);
}

/* The kernel's struct path cannot be resolved here. */
uint64_t subr_d_path(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)arg;
    (void)n;
    return subr_address(x->e->self.unknown);
}

/* The path being built. */
struct path {
    char *p;
    size_t n;
    size_t kept; /* bytes at its beginning that ".." cannot remove */
};

static void add_part(struct path *to, const char *s, size_t n)
{
    if (to->n > 0 && to->p[to->n - 1] != '/')
        to->p[to->n++] = '/';
    memcpy(to->p + to->n, s, n);
    to->n += n;
}

static void drop_part(struct path *to)
{
    to->n = up_to_slash(to->p, to->n);
    if (to->n > to->kept)
        to->n--; /* the slash before it */
    if (to->n < to->kept)
        to->n = to->kept;
}

enum { WORK_PART = 3 }; /* units per byte, when every other one is a slash */

uint64_t subr_cleanpath(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    (void)n;
    bool may = subr_text(x, arg[0], &s) && exec_work(x, s.n * WORK_PART);
    struct path to = {may ? exec_scratch(x, s.n + 2) : NULL, 0, 0};
    if (to.p == NULL)
        return 0;
    bool absolute = s.n > 0 && s.s[0] == '/';
    if (absolute) {
        to.p[0] = '/';
        to.n = to.kept = 1;
    }
    for (size_t i = 0, end; i < s.n; i = end + 1) {
        const char *part = s.s + i, *slash = memchr(part, '/', s.n - i);
        end = slash != NULL ? (size_t)(slash - s.s) : s.n;
        size_t len = end - i;
        bool up = len == 2 && memcmp(part, "..", 2) == 0;
        if (len == 0 || (len == 1 && part[0] == '.') || (up && absolute && to.n == to.kept))
            continue;
        if (up && to.n > to.kept) {
            drop_part(&to);
        } else {
            add_part(&to, part, len);
            if (up)
                to.kept = to.n; /* a ".." at the beginning of a relative path */
        }
    }
    if (to.n == 0 && s.n > 0)
        to.p[to.n++] = '.';
    to.p[to.n] = '\0';
    return subr_address(to.p);
}
