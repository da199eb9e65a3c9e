/* test_kept.c - copies of terms, and the calls that keep them. What a copy shows is compared with
 * the term it was made from, which is then destroyed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "beam/probe/frozen.h"
#include "beam/probe/kept.h"
#include "beam/probe/redact.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

#include "../fuzz/nif.h"

enum { ROOM = 4096, TEXT = 2000 };

static uint64_t seed = 1;

static unsigned any(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* A small integer, which lasts for ever in the emulator; here it is made before what is forgotten.
 */
enum { SMALL = 1000 };
static ERL_NIF_TERM small[SMALL];
static void *before;

static int make_small(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL; i++)
        small[i] = nif_int(i - SMALL / 2);
    before = nif_mark();
    return 0;
}

static ERL_NIF_TERM some_term(unsigned depth)
{
    ERL_NIF_TERM e[8], t = nif_nil();
    unsigned n = any(5);
    switch (any(depth > 0 ? 18 : 14)) {
    case 0: return small[any(SMALL)];
    case 1: return nif_int(INT64_MIN + (int64_t)any(1000));
    case 2: return nif_uint(UINT64_MAX - any(1000));
    case 3: return nif_bignum();
    case 4: return nif_float(any(1000) / 7.0);
    case 5: return nif_name("an atom");
    case 6: return nif_pid(any(200), any(2));
    case 7: return nif_port(any(200), any(2));
    case 8: return nif_ref(any(1000));
    case 9: return nif_fun();
    case 10: return nif_binary("text of a binary", any(17), any(4) == 0);
    case 11: return nif_binary(NULL, any(300), false);
    case 12: return nif_nil();
    case 13: return nif_tuple(NULL, 0);
    case 14:
        for (unsigned i = 0; i < n; i++)
            e[i] = some_term(depth - 1);
        return nif_tuple(e, n);
    case 15:
        for (unsigned i = 0; i < 2 * (n % 4); i++)
            e[i] = i % 2 ? some_term(depth - 1) : small[i];
        return nif_map(e, n % 4);
    case 16: t = some_term(depth - 1); /* fall through: the end of the list */
    default:
        while (n-- > 0)
            t = nif_cons(some_term(depth - 1), t);
        return t;
    }
}

static ERL_NIF_TERM some_args(unsigned n)
{
    ERL_NIF_TERM list = nif_nil();
    while (n-- > 0)
        list = nif_cons(some_term(4), list);
    return list;
}

struct shown {
    char erlang[TEXT], elixir[TEXT];
    uint64_t hash;
    int64_t count, length, integer, scaled;
    uint32_t words;
    bool least;
};

static void show(ERL_NIF_TERM t, struct shown *s)
{
    const struct term_sizes sizes = term_sizes_of(25);
    uint64_t looked = 0;
    memset(s, 0, sizeof *s);
    term_shown(nif_env, t, TERM_ERLANG, NULL, s->erlang, TEXT, &looked);
    term_shown(nif_env, t, TERM_ELIXIR, NULL, s->elixir, TEXT, &looked);
    s->hash = term_hash(nif_env, t, &looked);
    s->count = term_count(nif_env, t, &looked);
    s->length = term_length(nif_env, t, &looked);
    s->integer = term_int(nif_env, t);
    s->scaled = term_scaled(nif_env, t, 1000);
    s->words = term_words(nif_env, t, &sizes, &s->least);
}

/* Whatever a copy has room for, it is what the term is; and it is all in its room. */
static void copies(void **state)
{
    (void)state;
    term_init(nif_env, 25);
    term_text_init(25);
    for (unsigned i = 0; i < 3000; i++) {
        struct shown live[6], kept[6];
        ERL_NIF_TERM head, list = some_args(1 + any(4)), t = list;
        unsigned n = 0;
        size_t used;
        bool whole;
        uint64_t *room = malloc(ROOM * sizeof *room);
        const ERL_NIF_TERM copy = frozen_args(nif_env, list, room, ROOM, &used, &whole);
        assert_true(whole);
        assert_true(copy != 0 && used <= ROOM);
        show(list, &live[n++]);
        while (enif_get_list_cell(nif_env, t, &head, &t))
            show(head, &live[n++]);
        uint64_t looked = 0;
        (void)term_equal(nif_env, list, copy, &looked); /* funs and bitstrings never are */
        nif_forget(before);
        uint64_t *exact = malloc(used * sizeof *exact); /* what is behind it is not read */
        memcpy(exact, room, used * sizeof *exact);
        memset(room + used, 0xa5, (ROOM - used) * sizeof *room);
        n = 0;
        t = copy;
        show(copy, &kept[n++]);
        while (read_cell(nif_env, t, &head, &t))
            show(head, &kept[n++]);
        for (unsigned j = 0; j < n; j++) {
            assert_string_equal(live[j].erlang, kept[j].erlang);
            assert_string_equal(live[j].elixir, kept[j].elixir);
            assert_true(live[j].count == kept[j].count && live[j].length == kept[j].length);
            assert_true(live[j].integer == kept[j].integer && live[j].scaled == kept[j].scaled);
            assert_true(live[j].words == kept[j].words && live[j].least == kept[j].least);
            if (!strstr(live[j].erlang, "<bignum>"))
                assert_true(live[j].hash == kept[j].hash);
        }
        assert_memory_equal(exact, room, used * sizeof *exact); /* reading changes nothing */
        free(exact);
        free(room);
    }
    term_text_done();
}

/* In a room of any size a copy stays within it, and the text is cut and says so. */
static void rooms(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        char all[TEXT], part[TEXT];
        ERL_NIF_TERM list = some_args(2), t;
        uint64_t looked = 0;
        term_text(nif_env, list, all, sizeof all, &looked);
        for (size_t n = 0; n < 120; n++) {
            uint64_t *room = malloc(n * sizeof *room + 1);
            size_t used;
            bool whole;
            t = frozen_args(nif_env, list, room, n, &used, &whole);
            assert_true(used <= n && (t != 0) == (n >= 4));
            if (t != 0) {
                struct shown s;
                show(t, &s);
                term_text(nif_env, t, part, sizeof part, &looked);
                if (whole)
                    assert_string_equal(part, all);
                else
                    assert_true(strstr(part, "...") != NULL);
            }
            free(room);
        }
        nif_forget(before);
    }
}

static void cut_parts(void **state)
{
    (void)state;
    uint64_t room[64], other[64], looked = 0;
    size_t used;
    bool whole;
    char text[TEXT];
    ERL_NIF_TERM v,
        list = nif_cons(nif_cells(nif_int(7), 1000, false),
                        nif_cons(nif_binary(NULL, 10000, false),
                                 nif_cons(nif_tuple((ERL_NIF_TERM[]){nif_int(1)}, 1), nif_nil())));
    ERL_NIF_TERM copy = frozen_args(nif_env, list, room, 64, &used, &whole), first, binary, last;
    assert_false(whole);
    assert_true(term_element(nif_env, copy, 1, &first, &looked));
    assert_true(term_element(nif_env, copy, 2, &binary, &looked));
    assert_true(term_element(nif_env, copy, 3, &last, &looked));
    assert_int_equal(term_count(nif_env, first, &looked), -1);
    assert_int_equal(term_length(nif_env, first, &looked), -1);
    assert_true(term_element(nif_env, first, 2, &v, &looked));
    assert_false(term_element(nif_env, first, 900, &v, &looked));
    assert_int_equal(term_count(nif_env, binary, &looked), 10000);
    /* What was not kept may differ. */
    ERL_NIF_TERM again = frozen_args(nif_env, list, other, 64, &used, &whole), part;
    assert_true(term_element(nif_env, again, 1, &part, &looked));
    assert_false(term_equal(nif_env, first, part, &looked));
    assert_true(term_element(nif_env, again, 2, &part, &looked));
    assert_false(term_equal(nif_env, binary, part, &looked));
    assert_true(term_element(nif_env, again, 3, &part, &looked));
    assert_true(term_equal(nif_env, last, part, &looked));
    term_text(nif_env, last, text, sizeof text, &looked);
    assert_string_equal(text, "{1}"); /* a large argument leaves room for others */
    /* A key that was cut may be a secret one. */
    struct terms_view view = {.redact = {.n = 1, .glob = {"*password"}}};
    ERL_NIF_TERM key = nif_cells(nif_int('k'), 100, false);
    ERL_NIF_TERM pair = nif_tuple((ERL_NIF_TERM[]){key, nif_int(4711)}, 2);
    copy = frozen_args(nif_env, nif_cons(pair, nif_nil()), room, 64, &used, &whole);
    term_shown(nif_env, copy, TERM_ERLANG, &view, text, sizeof text, &looked);
    assert_null(strstr(text, "4711"));
    nif_forget(before);
}

/* -- calls ------------------------------------------------------------------------------------- */

static struct kept_calls *a_record(struct proctab *t, uint64_t pid)
{
    struct kept_calls *k = kept_open(t, pid, true);
    assert_non_null(k);
    return k;
}

/* Against a plain stack: what is known is right, and only the oldest calls are not known. */
static void calls(void **state)
{
    (void)state;
    enum { MOST = 300 };
    static char text[MOST][TEXT];
    static uint64_t number[MOST];
    struct proctab *t = proctab_new(16, sizeof(struct kept_calls));
    unsigned n = 0, known = 0, unknown = 0, depth = 0;
    struct kept_calls *k = a_record(t, 3);
    for (unsigned i = 0; i < 60000; i++) {
        uint64_t looked = 0;
        char got[TEXT];
        if (i % 500 == 0)
            depth = 1 + any(MOST - 1);
        if (n < depth && any(3) > 0) {
            const unsigned words = 8 + any(KEPT_ARGS_MOST / 8 - 7);
            ERL_NIF_TERM list = some_args(any(4));
            number[n] = 1 + any(5);
            kept_push(k, nif_env, number[n], list, words, any(2));
            /* The text of the copy, now: rooms() shows that it is right. */
            const struct kept_call *c = &k->call[(k->base + atomic_load(&k->n) - 1) % KEPT_CALLS];
            text[n][0] = '\0';
            if (c->args != 0)
                term_text(nif_env, c->args, text[n], TEXT, &looked);
            n++;
            nif_forget(before);
        } else if (n > 0) {
            const struct kept_call *c = kept_pop(k, number[--n]);
            unknown += c == NULL;
            if (!c) {
                assert_int_equal(atomic_load(&k->n), 0); /* all older ones are gone */
                continue;
            }
            known++;
            assert_int_equal(c->number, number[n]);
            got[0] = '\0';
            if (c->args != 0)
                term_text(nif_env, c->args, got, TEXT, &looked);
            assert_string_equal(got, text[n]);
        }
    }
    assert_true(known > 1000 && unknown > 1000);
    kept_close(k);
    proctab_free(t);
}

static void calls_that_never_returned(void **state)
{
    (void)state;
    struct proctab *t = proctab_new(16, sizeof(struct kept_calls));
    struct kept_calls *k = a_record(t, 3);
    for (unsigned i = 0; i < 1000; i++) {
        kept_push(k, nif_env, 1, nif_nil(), 8, false); /* left behind */
        kept_push(k, nif_env, 2, nif_nil(), 8, true);
        const struct kept_call *c = kept_pop(k, 2);
        assert_true(c != NULL && c->began != 0);
        assert_null(kept_pop(k, 3));
    }
    assert_true(atomic_load(&k->n) < KEPT_CALLS);
    kept_push(k, nif_env, 1, nif_nil(), 8, false);
    kept_push(k, nif_env, 4, nif_nil(), 8, false);
    assert_non_null(kept_pop(k, 1)); /* and 4 is over with it */
    assert_null(kept_pop(k, 4));
    kept_close(k);
    proctab_free(t);
}

static void records(void **state)
{
    (void)state;
    struct proctab *t = proctab_new(16, sizeof(struct kept_calls));
    assert_null(kept_open(t, 3, false));
    assert_null(kept_open(NULL, 3, true));
    struct kept_calls *k = a_record(t, 3);
    kept_push(k, nif_env, 1, nif_nil(), 8, false);
    assert_null(kept_open(t, 3, true)); /* in use */
    kept_close(k);
    kept_close(NULL);
    assert_ptr_equal(kept_open(t, 3, false), k);
    kept_close(k);
    for (uint64_t pid = 4; pid < 19; pid++)
        kept_close(a_record(t, pid));
    /* The table is full: one without calls gives way, one with calls does not. */
    struct kept_calls *other = a_record(t, 99);
    assert_ptr_not_equal(other, k);
    assert_null(kept_pop(other, 1));
    kept_close(other);
    k = kept_open(t, 3, false);
    assert_non_null(k);
    assert_non_null(kept_pop(k, 1));
    kept_close(k);
    proctab_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),
        cmocka_unit_test(rooms),
        cmocka_unit_test(cut_parts),
        cmocka_unit_test(calls),
        cmocka_unit_test(calls_that_never_returned),
        cmocka_unit_test(records),
    };
    return cmocka_run_group_tests(tests, make_small, NULL);
}
