/* path.c - subroutines on path names (engine/subr/subr_path.c). */
#include "rt.h"

/* Returns the length of a path without trailing slashes. */
INLINE u64 without_slashes(u64 s, u64 n)
{
    return rt_find(s, n, FIND_LAST | FIND_OTHER | '/') + 1;
}

/* Returns the length of a path up to and including its last slash. */
INLINE u64 up_to_slash(u64 s, u64 n)
{
    return rt_find(s, n, FIND_LAST | '/') + 1;
}

RT rt_basename(u64 p, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = text(p, k, addr, ~0ul), n = k->LENGTH;
    if (to == 0)
        return 0;
    u64 end = without_slashes(to, n);
    if (end == 0) {
        PUT(u8, to, n == 0 ? '.' : '/', 0);
        return rt_cut(p, to, 0, 1);
    }
    u64 start = up_to_slash(to, end);
    return rt_cut(p, to, start, end - start);
}

RT rt_dirname(u64 p, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = text(p, k, addr, ~0ul), n = k->LENGTH;
    if (to == 0)
        return 0;
    u64 end = without_slashes(to, up_to_slash(to, without_slashes(to, n)));
    if (end > 0)
        return rt_cut(p, to, 0, end);
    PUT(u8, to, GET(u8, to, 0) == '/' ? '/' : '.', 0);
    return rt_cut(p, to, 0, 1);
}

struct path {
    u64 s, left; /* what is to be read */
    u64 to, n;   /* the path being built */
    u64 kept;    /* bytes at its beginning that ".." cannot remove */
    u64 absolute;
};

static long add_part(u32 i, struct path *w)
{
    (void)i;
    u64 part = w->s, n = rt_find(part, w->left, '/');
    u64 rest = n < w->left ? w->left - n - 1 : 0;
    if (w->left == 0)
        return 1;
    if (n > w->left)
        n = w->left;
    w->s = part + n + 1;
    w->left = rest;
    u64 two = GET(uint16_t, part, 1), up = n == 2 && two == ('.' << 8 | '.');
    if (n == 0 || (n == 1 && (two & 255) == '.'))
        return 0;
    if (up && w->n > w->kept) {
        u64 m = rt_find(w->to, w->n, FIND_LAST | '/') + 1;
        m -= m > w->kept; /* the slash before it */
        w->n = m < w->kept ? w->kept : m;
        return 0;
    }
    if (up && w->absolute)
        return 0;
    if (w->n > 0 && GET(u8, w->to + w->n - 1, 1) != '/') {
        PUT(u8, w->to + w->n, '/', 1);
        w->n++;
    }
    rt_move(w->to + w->n, part, n);
    w->n += n;
    if (up) /* a ".." at the beginning of a relative path */
        w->kept = w->n;
    return 0;
}

RT rt_cleanpath(u64 p, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 s = text(p, k, addr, ~0ul), n = k->LENGTH, to = s ? rt_take(p, n + 2) : 0;
    if (to == 0)
        return 0;
    u64 absolute = GET(u8, s, 0) == '/';
    struct path w = {ANY(s), ANY(n), to, ANY(absolute), ANY(absolute), absolute};
    if (absolute)
        PUT(u8, to, '/', 0);
    if (n <= KMEM_STRING_MOST)
        bpf_loop((u32)n, add_part, &w, 0);
    if (w.n == 0 && n > 0) {
        PUT(u8, to, '.', 0);
        w.n = 1;
    }
    return rt_cut(p, s, to - s, w.n);
}
