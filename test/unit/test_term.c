/* test_term.c - texts of terms in rooms of every size, and looks that are bounded in work. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "beam/pidtext.h"
#include "beam/probe/term.h"

#include "../fuzz/nif.h"

enum { ROOM_MOST = 300, BEHIND = 4096, LONG = 20000 };

static ERL_NIF_TERM list_of(ERL_NIF_TERM t, unsigned n)
{
    ERL_NIF_TERM list = nif_nil();
    while (n-- > 0)
        list = nif_cons(t, list);
    return list;
}

static ERL_NIF_TERM nested(unsigned n)
{
    ERL_NIF_TERM t = nif_nil();
    while (n-- > 0)
        t = nif_cons(t, nif_nil());
    return t;
}

static ERL_NIF_TERM map_of(unsigned n)
{
    ERL_NIF_TERM e[200];
    for (unsigned i = 0; i < n; i++) {
        e[2 * i] = i % 2 ? nif_int(i) : nif_binary("key", i % 4, false);
        e[2 * i + 1] = nif_int(i);
    }
    return nif_map(e, n);
}

/* One of each kind, small and large. */
static unsigned all_kinds(ERL_NIF_TERM *t)
{
    unsigned n = 0;
    char longest[255];
    memset(longest, 'x', sizeof longest);
    t[n++] = nif_name("a");
    t[n++] = nif_name("");
    t[n++] = nif_name("no plain one\n'");
    t[n++] = nif_name("\xc3\xa4");
    t[n++] = nif_atom(longest, sizeof longest);
    t[n++] = nif_int(-7);
    t[n++] = nif_uint(UINT64_MAX);
    t[n++] = nif_bignum();
    t[n++] = nif_float(1e300);
    t[n++] = nif_pid(4711, true);
    t[n++] = nif_pid(4711, false);
    t[n++] = nif_port(7, true);
    t[n++] = nif_ref(UINT32_MAX);
    t[n++] = nif_fun();
    t[n++] = nif_binary("text\n", 5, false);
    t[n++] = nif_binary("\0\xff", 2, false);
    t[n++] = nif_binary(NULL, 0, false);
    t[n++] = nif_binary(NULL, 1 << 20, false);
    t[n++] = nif_binary("x", 1, true);
    t[n++] = nif_nil();
    t[n++] = list_of(nif_int('c'), 3);
    t[n++] = list_of(nif_int(0x20ac), 3);
    t[n++] = list_of(nif_int('c'), LONG);
    t[n++] = list_of(nif_name("element"), LONG);
    t[n++] = nif_cons(nif_int(1), nif_int(2));
    t[n++] = nested(1000);
    t[n++] = nif_tuple(NULL, 0);
    t[n] = nif_tuple(t, n);
    n++;
    t[n++] = map_of(0);
    t[n++] = map_of(32);
    t[n++] = map_of(33);
    return n;
}

static size_t mfa(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    return term_mfa(env, t, t, 255, out, cap);
}

static size_t pid(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    return pidtext(env, t, 3, out, cap);
}

static uint64_t looked;

static size_t whole(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    return term_text(env, t, out, cap, &looked);
}

static size_t elixir(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    return term_shown(env, t, TERM_ELIXIR, NULL, out, cap, &looked);
}

static size_t arguments(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    return term_shown(env, t, TERM_ARGUMENTS, NULL, out, cap, &looked);
}

static size_t arguments_elixir(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    return term_shown(env, t, TERM_ELIXIR | TERM_ARGUMENTS, NULL, out, cap, &looked);
}

static size_t string(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    return term_string(env, t, NULL, out, cap, &looked);
}

static size_t name(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    return term_atom(env, t, out, cap) ? strlen(out) : 0;
}

static size_t bytes(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    size_t n;
    return term_bytes(env, t, out, cap, &n) ? n : 0;
}

/* Nothing is written behind the room, whatever the term and however small the room, and the text
 * ends in it. What is behind is looked at also where no sanitizer does. */
static void texts_keep_to_their_room(void **state)
{
    static const struct {
        size_t (*text)(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap);
        bool ends; /* it has written a NUL, whatever it made of the term */
    } way[] = {{whole, true},  {elixir, true},      {arguments, true},
               {string, true}, {term_simple, true}, {mfa, true},
               {pid, true},    {name, false},       {bytes, false}};
    ERL_NIF_TERM t[64];
    static unsigned char behind[BEHIND];
    const int otp = *(const int *)*state;
    memset(behind, 0xa5, sizeof behind);
    nif_otp = otp;
    term_init(nif_env, otp);
    term_text_init(otp);
    const unsigned n = all_kinds(t);
    for (size_t w = 0; w < sizeof way / sizeof *way; w++)
        for (unsigned i = 0; i < n; i++)
            for (size_t cap = 0; cap <= ROOM_MOST; cap += cap < 40 ? 1 : 13) {
                char *out = malloc(cap + BEHIND);
                assert_non_null(out);
                memset(out, 0xa5, cap + BEHIND);
                size_t len = way[w].text(nif_env, t[i], out, cap);
                assert_memory_equal(out + cap, behind, BEHIND);
                assert_true(len < cap || (len == 0 && cap == 0));
                if (cap > 0 && way[w].ends)
                    assert_int_equal(out[len], '\0');
                free(out);
            }
    nif_reset();
}

static const char *text_in(ERL_NIF_TERM t, size_t cap)
{
    static char out[ROOM_MOST];
    const size_t len = term_text(nif_env, t, out, cap, &looked);
    assert_int_equal(len, strlen(out));
    return out;
}

/* A text that just fits is whole; the dots of another take the place of its end. */
static void texts_are_cut(void **state)
{
    (void)state;
    const ERL_NIF_TERM t = nif_binary("abcdef", 6, false);
    assert_string_equal(text_in(t, 13), "<<\"abcdef\">>");
    assert_string_equal(text_in(t, 12), "<<\"abcde...");
    assert_string_equal(text_in(t, 5), "<...");
    assert_string_equal(text_in(t, 4), "...");
    assert_string_equal(text_in(t, 3), "..");
    assert_string_equal(text_in(t, 2), ".");
    assert_string_equal(text_in(t, 1), "");
    assert_string_equal(text_in(nif_binary(" ~", 2, false), 13), "<<\" ~\">>");
    assert_string_equal(text_in(nif_binary("\x1f", 1, false), 13), "<<31>>");
    assert_string_equal(text_in(nif_binary("\x7f", 1, false), 13), "<<127>>");
    const ERL_NIF_TERM wide = nif_binary("a\xc3\xa4\xc3\xb6", 5, false);
    assert_string_equal(text_in(wide, 15), "<<\"a\xc3\xa4\xc3\xb6\"/u...");
    assert_string_equal(text_in(wide, 11), "<<\"a\xc3\xa4...");
    assert_string_equal(text_in(wide, 10), "<<\"a\xc3\xa4...");
    assert_string_equal(text_in(wide, 9), "<<\"a...");
    assert_string_equal(text_in(nif_int(42), 3), "42");
    assert_string_equal(text_in(nif_int(421), 3), "..");
    assert_string_equal(text_in(nested(100), 200), "[[[[[[[[[[[[[[[[...]]]]]]]]]]]]]]]]");
    nif_reset();
}

/* Each kind in both syntaxes. (What an emulator's own libraries make of terms is compared with a
 * node.) */
static void texts_of_kinds(void **state)
{
    ERL_NIF_TERM pairs[] = {nif_name("__struct__"), nif_name("Elixir.My.Mod"), nif_name("a"),
                            nif_float(1e22)};
    const ERL_NIF_TERM pair = nif_tuple((ERL_NIF_TERM[]){nif_name("k"), nif_float(100000)}, 2);
    const struct {
        ERL_NIF_TERM t;
        const char *erlang, *elixir;
    } rows[] = {
        {nif_name("end"), "'end'", ":end"},
        {nif_name("nil"), "nil", "nil"},
        {nif_name("it's"), "'it\\'s'", ":\"it's\""},
        {nif_name("Elixir.My.Mod"), "'Elixir.My.Mod'", "My.Mod"},
        {nif_map(pairs, 2), "#{'__struct__' => 'Elixir.My.Mod',a => 1.0e22}", "%My.Mod{a: 1.0e22}"},
        {nif_map(pairs + 1, 1), "#{'Elixir.My.Mod' => a}", "%{My.Mod => :a}"},
        {nif_cons(pair, nif_nil()), "[{k,1.0e5}]", "[k: 100000.0]"},
        {nif_cons(pair, nif_int(1)), "[{k,1.0e5}|1]", "[{:k, 100000.0} | 1]"},
        {list_of(nif_int('c'), 2), "\"cc\"", "~c\"cc\""},
        {nif_binary("a\"#{", 4, false), "<<\"a\\\"#{\">>", "\"a\\\"\\#{\""},
        {nif_binary("\1", 1, false), "<<1>>", "<<1>>"},
        {nif_binary("", 0, true), "<<...>>", "<<...>>"},
        {nif_binary("", 0, false), "<<>>", "\"\""},
        {nif_binary("\xe4", 1, false), "<<\"\xc3\xa4\">>", "<<228>>"},
        {nif_binary("\xc3\xa4", 2, false), "<<\"\xc3\xa4\"/utf8>>", "\"\xc3\xa4\""},
        {nif_float(-0.0), "-0.0", "-0.0"},
        {nif_float(5e-324), "5.0e-324", "5.0e-324"},
        {nif_float(0x1p-1022), "2.2250738585072014e-308", "2.2250738585072014e-308"},
        {nif_float(0x1p-1023), "1.1125369292536007e-308", "1.1125369292536007e-308"},
        {nif_float(0x1p-1030), "8.691694759794e-311", "8.691694759794e-311"},
        {nif_float(0x1p1023), "8.98846567431158e307", "8.98846567431158e307"},
        {nif_float(0x1p-44), "5.684341886080802e-14", "5.684341886080802e-14"},
        {nif_float(1.0 / 3), "0.3333333333333333", "0.3333333333333333"},
        {nif_float(NAN), "<float>", "<float>"},
        {nif_float(-INFINITY), "<float>", "<float>"},
        {nif_bignum(), "<bignum>", "<bignum>"},
        {nif_uint(UINT64_MAX), "18446744073709551615", "18446744073709551615"},
        {nif_pid(7, true), "<0.7.0>", "#PID<0.7.0>"},
        {nif_fun(), "#Fun<m.0.4711>", "#Function<m.0.4711>"},
        {map_of(33), "#{...}", "%{...}"},
    };
    (void)state;
    char out[ROOM_MOST];
    term_text_init(27);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        whole(nif_env, rows[i].t, out, sizeof out);
        assert_string_equal(out, rows[i].erlang);
        elixir(nif_env, rows[i].t, out, sizeof out);
        assert_string_equal(out, rows[i].elixir);
    }
    nif_reset();
}

/* Arguments are a list, whatever they are; what is in them is written as ever. */
static void texts_of_arguments(void **state)
{
    (void)state;
    const ERL_NIF_TERM two = list_of(nif_int('c'), 2),
                       pair = nif_tuple((ERL_NIF_TERM[]){nif_name("k"), two}, 2);
    const struct {
        ERL_NIF_TERM t;
        const char *erlang, *elixir;
    } rows[] = {
        {two, "[99,99]", "[99, 99]"},
        {nif_cons(two, nif_nil()), "[\"cc\"]", "[~c\"cc\"]"},
        {nif_cons(pair, nif_nil()), "[{k,\"cc\"}]", "[{:k, ~c\"cc\"}]"},
        {nif_nil(), "[]", "[]"},
    };
    char out[ROOM_MOST];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        arguments(nif_env, rows[i].t, out, sizeof out);
        assert_string_equal(out, rows[i].erlang);
        arguments_elixir(nif_env, rows[i].t, out, sizeof out);
        assert_string_equal(out, rows[i].elixir);
    }
    nif_reset();
}

static bool same(ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    const bool equal = term_equal(nif_env, a, b, &looked);
    assert_int_equal(equal, term_equal(nif_env, b, a, &looked));
    if (equal)
        assert_int_equal(term_hash(nif_env, a, &looked), term_hash(nif_env, b, &looked));
    return equal;
}

/* Terms that are made twice are equal, and others are not, unless they are too large to examine. */
static void terms_are_compared(void **state)
{
    ERL_NIF_TERM a[64], b[64];
    (void)state;
    const unsigned n = all_kinds(a);
    assert_int_equal(all_kinds(b), n);
    unsigned equal = 0;
    for (unsigned i = 0; i < n; i++) {
        assert_true(same(a[i], a[i]));
        equal += same(a[i], b[i]);
        for (unsigned k = 0; k < i; k++)
            assert_false(same(a[i], a[k]));
    }
    /* funs, bits, a large binary, long and deep lists and what holds them, a large map */
    assert_int_equal(equal, n - 8);
    assert_false(same(list_of(nif_int(1), 3), list_of(nif_int(1), 4)));
    assert_false(same(nif_cons(nif_int(1), nif_int(2)), nif_cons(nif_int(1), nif_int(3))));
    assert_false(same(nif_binary("ab", 2, false), nif_binary("ac", 2, false)));
    assert_false(same(nif_float(1), nif_int(1)));
    /* Elements that are the same in memory are examined, too. */
    static ERL_NIF_TERM e[TERM_SAME_NODES + 1];
    for (unsigned i = 0; i <= TERM_SAME_NODES; i++)
        e[i] = a[0];
    assert_true(same(nif_tuple(e, TERM_SAME_NODES - 1), nif_tuple(e, TERM_SAME_NODES - 1)));
    assert_false(same(nif_tuple(e, TERM_SAME_NODES + 1), nif_tuple(e, TERM_SAME_NODES + 1)));
    nif_reset();
}

static void numbers_are_limited(void **state)
{
    (void)state;
    assert_int_equal(term_int(nif_env, nif_uint(UINT64_MAX)), INT64_MAX);
    assert_int_equal(term_int(nif_env, nif_bignum()), INT64_MAX);
    assert_int_equal(term_int(nif_env, nif_int(INT64_MIN)), INT64_MIN);
    assert_int_equal(term_int(nif_env, nif_float(1)), 0);
    assert_int_equal(term_scaled(nif_env, nif_float(-1.5), 1000), -1500);
    assert_int_equal(term_scaled(nif_env, nif_float(0x1p63), 1), INT64_MAX);
    assert_int_equal(term_scaled(nif_env, nif_float(-0x1p63), 1), INT64_MIN);
    assert_int_equal(term_scaled(nif_env, nif_float(1e300), -1), INT64_MIN);
    assert_int_equal(term_scaled(nif_env, nif_float(NAN), 1), 0);
    assert_int_equal(term_scaled(nif_env, nif_float(INFINITY), 0), 0);
    assert_int_equal(term_scaled(nif_env, nif_float(1e-300), INT64_MIN), 0);
    assert_int_equal(term_scaled(nif_env, nif_int(INT64_MAX), 2), INT64_MAX);
    assert_int_equal(term_scaled(nif_env, nif_int(INT64_MAX), -2), INT64_MIN);
    assert_int_equal(term_scaled(nif_env, nif_name("a"), 1000), 0);
    assert_int_equal(term_length(nif_env, list_of(nif_int(1), 7), &looked), 7);
    assert_int_equal(term_length(nif_env, list_of(nif_int(1), TERM_BYTES_NODES), &looked),
                     TERM_BYTES_NODES);
    assert_int_equal(term_length(nif_env, list_of(nif_int(1), TERM_BYTES_NODES + 1), &looked), -1);
    assert_int_equal(term_length(nif_env, nif_cons(nif_int(1), nif_int(2)), &looked), 0);
    nif_reset();
}

static const char *string_in(ERL_NIF_TERM t, size_t cap)
{
    static char out[ROOM_MOST];
    const size_t len = term_string(nif_env, t, NULL, out, cap, &looked);
    assert_int_equal(len, strlen(out));
    return out;
}

static const char *name_in(ERL_NIF_TERM t, size_t cap)
{
    static char out[ROOM_MOST];
    return term_atom(nif_env, t, out, cap) ? out : "does not fit";
}

/* A zero byte is shown, so that texts which differ behind one are two. It is never cut. */
static void zero_bytes_are_shown(void **state)
{
    const ERL_NIF_TERM bin = nif_binary("a\0b\0", 4, false), name = nif_atom("m\0x", 3),
                       wide = nif_atom("\xd0\xb4\0\0x", 5),
                       list =
                           nif_cons(nif_int('l'), nif_cons(nif_int(0), nif_cons(bin, nif_nil())));
    nif_otp = *(const int *)*state;
    term_init(nif_env, nif_otp);
    assert_string_equal(string_in(bin, 7), "a\\0b\\0");
    assert_string_equal(string_in(bin, 6), "a\\0b");
    assert_string_equal(string_in(bin, 4), "a\\0");
    assert_string_equal(string_in(bin, 3), "a");
    assert_string_equal(string_in(list, ROOM_MOST), "l\\0a\\0b\\0");
    assert_string_equal(string_in(nif_binary("\0\0", 2, false), ROOM_MOST), "\\0\\0");
    assert_string_equal(string_in(name, ROOM_MOST), "m\\0x");
    assert_string_equal(name_in(name, 5), "m\\0x");
    assert_string_equal(name_in(name, 4), "does not fit");
    if (nif_otp >= 26) { /* before, it is the emulator's text */
        assert_string_equal(name_in(wide, 8), "\xd0\xb4\\0\\0x");
        assert_string_equal(name_in(wide, 7), "does not fit");
    }
    nif_reset();
}

/* A list of long lists that turn out to be no texts, each at its end: they are not looked at as
 * often as there are of them. What is looked at is told. */
static void lists_that_are_no_texts(void **state)
{
    enum { LETTERS = 5000, LISTS = 300, CAP = 6000 };
    static char text[CAP];
    ERL_NIF_TERM list = nif_cons(nif_atom("end", 3), nif_nil()), all = nif_nil();
    (void)state;
    for (unsigned i = 0; i < LETTERS; i++)
        list = nif_cons(nif_int('a'), list);
    for (unsigned i = 0; i < LISTS; i++)
        all = nif_cons(nif_cons(nif_atom("x", 1), nif_cons(list, nif_nil())), all);
    const struct {
        size_t (*text)(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap);
    } way[] = {{whole}, {string}};
    for (size_t i = 0; i < 2; i++) {
        looked = nif_calls = 0;
        way[i].text(nif_env, i == 0 ? all : list, text, sizeof text);
        assert_true(nif_calls < 10 * CAP);
        assert_true(nif_calls > LETTERS && looked >= nif_calls / 8);
    }
    looked = 0;
    assert_int_equal(term_count(nif_env, list, &looked), LETTERS + 1);
    assert_int_equal(looked, LETTERS + 1);
    nif_reset();
}

/* Of a map that is too large to be walked, the value of the longest atom that there can be. */
static void longest_key_of_a_map(void **state)
{
    enum { KEYS = 40, LONGEST = 255 };
    ERL_NIF_TERM pair[2 * KEYS], out = 0;
    char name[LONGEST];
    (void)state;
    memset(name, 'k', sizeof name);
    for (unsigned i = 0; i < KEYS; i++) {
        pair[2 * i] = i > 0 ? nif_int(i) : nif_atom(name, sizeof name);
        pair[2 * i + 1] = nif_int(100 + i);
    }
    const ERL_NIF_TERM map = nif_map(pair, KEYS);
    assert_true(term_get(nif_env, map, name, LONGEST, &out, &looked));
    assert_true(out == pair[1]);
    assert_false(term_get(nif_env, map, name, LONGEST - 1, &out, &looked));
    nif_reset();
}

/* No look at a term takes more than so many looks at what it is made of. */
static void looks_are_bounded(void **state)
{
    enum { TEXT_LOOKS = 40 * TERM_NODES, LOOKS = 8 * TERM_BYTES_NODES };
    ERL_NIF_TERM t[64], other[64], out;
    char text[ROOM_MOST];
    (void)state;
    const unsigned n = all_kinds(t);
    all_kinds(other);
    const struct term_sizes sizes = term_sizes_of(25);
    for (unsigned i = 0; i < n; i++) {
        nif_calls = 0;
        term_text(nif_env, t[i], text, sizeof text, &looked);
        term_simple(nif_env, t[i], text, sizeof text);
        assert_true(nif_calls < TEXT_LOOKS);
        nif_calls = 0;
        term_shown(nif_env, t[i], TERM_ELIXIR, NULL, text, sizeof text, &looked);
        assert_true(nif_calls < TEXT_LOOKS);
        nif_calls = 0;
        term_equal(nif_env, t[i], other[i], &looked);
        term_hash(nif_env, t[i], &looked);
        term_length(nif_env, t[i], &looked);
        assert_true(nif_calls < LOOKS);
        nif_calls = 0;
        term_string(nif_env, t[i], NULL, text, sizeof text, &looked);
        assert_true(nif_calls < LOOKS);
        nif_calls = 0;
        term_count(nif_env, t[i], &looked);
        term_element(nif_env, t[i], LONG, &out, &looked);
        term_get(nif_env, t[i], "no such key", 11, &out, &looked);
        term_words(nif_env, t[i], &sizes, &(bool){false});
        assert_true(nif_calls < LOOKS);
    }
    nif_reset();
}

int main(void)
{
    static int before = 25, since = 26; /* atoms as UTF-8 */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(texts_keep_to_their_room, &before),
        cmocka_unit_test_prestate(texts_keep_to_their_room, &since),
        cmocka_unit_test(texts_are_cut),
        cmocka_unit_test(texts_of_kinds),
        cmocka_unit_test(texts_of_arguments),
        cmocka_unit_test(terms_are_compared),
        cmocka_unit_test(numbers_are_limited),
        cmocka_unit_test_prestate(zero_bytes_are_shown, &before),
        cmocka_unit_test_prestate(zero_bytes_are_shown, &since),
        cmocka_unit_test(longest_key_of_a_map),
        cmocka_unit_test(looks_are_bounded),
        cmocka_unit_test(lists_that_are_no_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
