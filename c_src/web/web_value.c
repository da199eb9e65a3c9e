/* web_value.c - see web_value.h. */
#include "web/web_value.h"

#include <string.h>

#include "util/buftext.h"
#include "util/merge.h"
#include "util/json.h"
#include "words/words.h"

__extension__ typedef unsigned __int128 wide;

struct value_kind value_kind(const char *function, size_t nbuckets)
{
    const struct word_agg_info *f = word_agg_named(function);
    struct value_kind kind = {SHAPE_WORDS, (unsigned)nbuckets};
    if (f == NULL)
        return kind;
    if (f->result == WORD_BUCKETS)
        kind.shape = SHAPE_BUCKETS;
    else
        kind = (struct value_kind){f->merge == WORD_LEAST         ? SHAPE_MIN
                                   : f->merge == WORD_MOST        ? SHAPE_MAX
                                   : f->merge == WORD_ADD_SQUARES ? SHAPE_STDDEV
                                                                  : SHAPE_WORDS,
                                   f->words};
    return kind;
}

void value_start(struct value_kind kind, uint64_t *words)
{
    memset(words, 0, kind.nwords * sizeof *words);
    if (kind.shape == SHAPE_MIN)
        words[0] = INT64_MAX;
    if (kind.shape == SHAPE_MAX)
        words[0] = (uint64_t)INT64_MIN;
}

/* -- arithmetic -------------------------------------------------------------------------------- */

static wide square_of(const uint64_t *words)
{
    return (wide)words[3] << 64 | words[2];
}

static void set_square(uint64_t *words, wide square)
{
    words[2] = (uint64_t)square;
    words[3] = (uint64_t)(square >> 64);
}

/* Returns the number of words that are added one by one: all except stddev's square. */
static unsigned plain_words(struct value_kind kind)
{
    return kind.shape == SHAPE_STDDEV ? 2 : kind.nwords;
}

void value_add(struct value_kind kind, uint64_t *to, const uint64_t *from)
{
    for (unsigned i = 0, n = plain_words(kind); i < n; i++)
        to[i] += from[i];
    if (kind.shape == SHAPE_STDDEV)
        set_square(to, square_of(to) + square_of(from));
}

void value_subtract(struct value_kind kind, uint64_t *to, const uint64_t *from)
{
    for (unsigned i = 0, n = plain_words(kind); i < n; i++)
        to[i] -= from[i];
    if (kind.shape == SHAPE_STDDEV)
        set_square(to, square_of(to) - square_of(from));
}

void value_difference(struct value_kind kind, uint64_t *to, const uint64_t *from)
{
    for (unsigned i = 0, n = plain_words(kind); i < n; i++)
        to[i] = from[i] - to[i];
    if (kind.shape == SHAPE_STDDEV)
        set_square(to, square_of(from) - square_of(to));
}

bool value_is_extreme(struct value_kind kind)
{
    return kind.shape == SHAPE_MIN || kind.shape == SHAPE_MAX;
}

bool value_is_nothing(struct value_kind kind, uint64_t word)
{
    return (int64_t)word == (kind.shape == SHAPE_MIN ? INT64_MAX : INT64_MIN);
}

int64_t value_more_extreme(struct value_kind kind, int64_t x, int64_t y)
{
    return (kind.shape == SHAPE_MIN) == (x < y) ? x : y;
}

/* -- rows -------------------------------------------------------------------------------------- */

static bool add_buckets(struct buf *out, struct value_kind kind, const uint64_t *words)
{
    bool any = false;
    for (unsigned i = 0; i < kind.nwords; i++) {
        if (words[i] == 0)
            continue;
        any = true;
        buf_addc(out, ',');
        json_safe_uint(out, i);
        buf_addc(out, ',');
        json_safe_int(out, (int64_t)words[i]);
    }
    return any;
}

static bool add_words(struct buf *out, struct value_kind kind, const uint64_t *words)
{
    bool any = false;
    for (unsigned i = 0, n = plain_words(kind); i < n; i++) {
        any |= words[i] != 0;
        buf_addc(out, ',');
        json_safe_int(out, (int64_t)words[i]);
    }
    return value_is_extreme(kind) ? !value_is_nothing(kind, words[0]) : any;
}

static bool add_square(struct buf *out, const uint64_t *words)
{
    buf_addc(out, ',');
    if (words[3] == 0 && words[2] <= INT64_MAX)
        json_safe_uint(out, words[2]);
    else
        json_wide(out, words[2], words[3]);
    return square_of(words) != 0;
}

bool value_row(struct buf *out, struct value_kind kind, int64_t number, const uint64_t *words)
{
    size_t start = out->len;
    buf_adds(out, start > 0 ? ",[" : "[");
    json_safe_int(out, number);
    bool any =
        kind.shape == SHAPE_BUCKETS ? add_buckets(out, kind, words) : add_words(out, kind, words);
    if (kind.shape == SHAPE_STDDEV)
        any |= add_square(out, words);
    if (!any && !out->oom) {
        out->len = start;
        out->data[start] = '\0';
        return false;
    }
    buf_addc(out, ']');
    return true;
}
