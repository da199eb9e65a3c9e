/* json.c - json(document, path) (engine/subr/subr_json.c). Places ~0 mean that something is not
 * there. Documents and paths end with a NUL. */
#include "rt.h"

INLINE u64 is_blank(u64 c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct value {
    u64 at, start, end;
    u64 depth, text, quoted; /* text: within a string; quoted: the value is one */
};

static long skip_blank(u32 i, struct value *w)
{
    (void)i;
    u64 blank = is_blank(GET(u8, w->at, 1));
    w->at += blank;
    return !blank;
}

/* Returns the first place from `at` on that is no blank. */
RT rt_json_blanks(u64 at)
{
    struct value w = {.at = ANY(at)};
    bpf_loop(KMEM_STRING_MOST, skip_blank, &w, 0);
    return w.at;
}

static long skip_char(u32 i, struct value *w)
{
    (void)i;
    u64 at = w->at, c = GET(u8, at, 1);
    if (at >= w->end) {
        if (w->depth > 0 || w->text || at == w->start)
            w->at = ~0ul;
        return 1;
    }
    if (w->text) {
        w->at = at + 1 + (c == '\\');
        w->text = c != '"';
        return c == '"' && w->depth == 0 && w->quoted;
    }
    u64 opens = c == '{' || c == '[', closes = c == '}' || c == ']';
    if (w->depth == 0 && (c == ',' || closes || is_blank(c))) {
        if (at == w->start)
            w->at = ~0ul;
        return 1;
    }
    w->text = c == '"';
    w->at = at + 1;
    w->depth += opens - closes;
    return closes && w->depth == 0;
}

/* Returns the place behind the value that begins at `at`, in a document that ends at `end`. */
RT rt_json_value(u64 at, u64 end)
{
    if (at > end || end - at > KMEM_STRING_MOST)
        return ~0ul;
    struct value w = {ANY(at), at, end, ZERO, ZERO, GET(u8, at, ~0ul) == '"'};
    bpf_loop((u32)(end - at + 1), skip_char, &w, 0);
    return w.at;
}

struct number {
    u64 at, v;
};

static long index_digit(u32 i, struct number *w)
{
    (void)i;
    u64 d = GET(u8, w->at, 1) - '0';
    if (d > 9)
        return 1;
    w->v = w->v > KMEM_STRING_MOST ? w->v : w->v * 10 + d; /* no document has more elements */
    w->at++;
    return 0;
}

enum { STEP, KEY, ELEMENT, FOUND, MISSING };

struct search {
    u64 at, end;    /* the document */
    u64 path, stop; /* the rest of the path, and its end */
    u64 what;
    u64 key, n; /* KEY: its place and length; ELEMENT: how many are before it */
};

/* Begins a step of the path: its key or index, and the value's opening bracket. */
INLINE u64 begin_step(struct search *w)
{
    u64 s = w->path, next, array = GET(u8, s, MISSING) == '[';
    if (array) {
        struct number d = {ANY(s + 1), ZERO};
        bpf_loop(KMEM_STRING_MOST, index_digit, &d, 0);
        if (d.at == s + 1 || GET(u8, d.at, MISSING) != ']')
            return MISSING;
        w->n = d.v;
        next = d.at + 1;
    } else {
        u64 left = w->stop - s, dot = rt_find(s, left, '.'), open = rt_find(s, left, '[');
        u64 n = dot < open ? dot : open;
        w->key = s;
        w->n = n < left ? n : left;
        next = s + w->n;
    }
    if (GET(u8, next, MISSING) == '.') {
        next++;
        if (next == w->stop)
            return MISSING;
    }
    w->path = next;
    u64 at = rt_json_blanks(w->at);
    w->at = at + 1;
    return GET(u8, at, MISSING) == (array ? '[' : '{') ? KEY + array : MISSING;
}

static long search_on(u32 i, struct search *w)
{
    (void)i;
    if (w->what == STEP) {
        w->what = w->path >= w->stop ? FOUND : begin_step(w);
        return w->what >= FOUND;
    }
    u64 at = rt_json_blanks(w->at), c = GET(u8, at, 1);
    if (w->what == KEY) {
        u64 start = at + 1, after = c == '"' ? rt_json_value(at, w->end) : ~0ul;
        u64 same = after - 1 - start == w->n && rt_same(start, w->key, w->n);
        at = after == ~0ul ? w->end : rt_json_blanks(after);
        if (GET(u8, at, 1) != ':') {
            w->what = MISSING;
            return 1;
        }
        at = rt_json_blanks(at + 1);
        w->what = same ? STEP : KEY;
    } else {
        if (c == ']') {
            w->what = MISSING;
            return 1;
        }
        w->what = w->n == 0 ? STEP : ELEMENT;
        w->n--;
    }
    w->at = at;
    if (w->what == STEP)
        return 0;
    u64 after = rt_json_value(at, w->end);
    at = after == ~0ul ? w->end : rt_json_blanks(after);
    w->at = at + 1;
    if (GET(u8, at, 1) == ',')
        return 0;
    w->what = MISSING;
    return 1;
}

RT rt_json(u64 p, u64 document, u64 path)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, s = text(p, k, document, ~0ul), n = k->LENGTH;
    u64 t = s ? text(p, k, path, ~0ul) : 0, m = k->LENGTH;
    k->scratch = mark;
    if (t == 0 || m == 0 || n > KMEM_STRING_MOST || m > KMEM_STRING_MOST)
        return 0;
    struct search w = {ANY(s), s + n, ANY(t), t + m, ZERO, ZERO, ZERO};
    bpf_loop((u32)(n + m + 2), search_on, &w, 0);
    if (w.what != FOUND)
        return 0;
    u64 start = rt_json_blanks(w.at), end = rt_json_value(start, s + n);
    if (end == ~0ul)
        return 0;
    u64 quoted = GET(u8, start, 0) == '"';
    return rt_cut(p, s, start + quoted - s, end - start - 2 * quoted);
}
