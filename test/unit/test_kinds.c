/* test_kinds.c - kinds of terms: native records, and those that nobody has defined.
 *
 * The stub of the emulator (../fuzz/nif.h) ends the program when it is asked about a term of a kind
 * that the NIF interface does not have: so each of these looks also shows that nobody asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "beam/probe/frozen.h"
#include "beam/probe/redact.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

#include "../fuzz/looks.h"
#include "../fuzz/nif.h"

enum { TEXT = 600, ROOM = 200, ODDITIES = 9 };

static uint64_t looked;

static void release(int otp, bool known)
{
    nif_reset();
    nif_otp = otp;
    assert_int_equal(term_init(nif_env, otp), known);
    term_text_init(otp);
}

static void ended(void)
{
    term_text_done();
    nif_reset();
}

static const char *erlang(ERL_NIF_TERM t)
{
    static char text[TEXT];
    term_text(nif_env, t, text, sizeof text, &looked);
    return text;
}

static const char *elixir(ERL_NIF_TERM t)
{
    static char text[TEXT];
    term_shown(nif_env, t, TERM_ELIXIR, NULL, text, sizeof text, &looked);
    return text;
}

/* #m:order{id = 7,price = 1.5} */
static ERL_NIF_TERM order(const char *module, int64_t id, unsigned odd)
{
    const ERL_NIF_TERM e[] = {nif_name("id"), nif_int(id), nif_name("price"), nif_float(1.5)};
    return nif_record(nif_name(module), nif_name("order"), e, 2, odd);
}

static ERL_NIF_TERM copied(ERL_NIF_TERM t, uint64_t *room, bool *whole)
{
    size_t used;
    ERL_NIF_TERM head = 0, tail;
    const ERL_NIF_TERM args =
        frozen_args(nif_env, nif_cons(t, nif_nil()), room, ROOM, &used, whole);
    assert_true(args != 0 && read_cell(nif_env, args, &head, &tail));
    return head;
}

static uint32_t words(ERL_NIF_TERM t)
{
    const struct term_sizes sizes = term_sizes_of(29);
    bool least;
    const uint32_t n = term_words(nif_env, t, &sizes, &least);
    assert_false(least);
    return n;
}

/* Nothing is known of its words, or only those of its other parts, of which it returns the number.
 */
static uint32_t other_words(ERL_NIF_TERM t)
{
    const struct term_sizes sizes = term_sizes_of(29);
    bool least;
    const uint32_t n = term_words(nif_env, t, &sizes, &least);
    assert_true(least != (n == TERM_SIZE_UNKNOWN));
    return n;
}

/* -- native records ---------------------------------------------------------------------------- */

static void records_are_read(void **state)
{
    (void)state;
    release(29, true);
    uint64_t room[ROOM];
    bool whole;
    const ERL_NIF_TERM t = order("m", 7, 0), kept = copied(t, room, &whole), both[] = {t, kept};
    const ERL_NIF_TERM empty = nif_record(nif_name("m"), nif_name("No"), NULL, 0, 0);
    assert_true(whole);
    for (size_t i = 0; i < 2; i++) {
        ERL_NIF_TERM value;
        assert_string_equal(erlang(both[i]), "#m:order{id = 7,price = 1.5}");
        assert_string_equal(elixir(both[i]), "#m:order{id = 7,price = 1.5}");
        assert_string_equal(term_kind(nif_env, both[i]), "record");
        assert_int_equal(words(both[i]), 17); /* erts_debug:flat_size of OTP 29.1.1 */
        assert_int_equal(term_count(nif_env, both[i], &looked), 2);
        assert_int_equal(term_length(nif_env, both[i], &looked), 0);
        assert_true(term_get(nif_env, both[i], "price", 5, &value, &looked));
        assert_string_equal(erlang(value), "1.5");
        assert_false(term_get(nif_env, both[i], "pric", 4, &value, &looked));
        assert_true(term_value(nif_env, both[i], nif_name("id"), &value, &looked));
        assert_true(term_is_int(nif_env, value, 7));
        assert_false(term_value(nif_env, both[i], nif_name("order"), &value, &looked));
        assert_false(term_value(nif_env, both[i], nif_binary("id", 2, false), &value, &looked));
        assert_false(term_element(nif_env, both[i], 1, &value, &looked));
        assert_true(term_is_record(nif_env, both[i], nif_name("order")));
        assert_false(term_is_record(nif_env, both[i], nif_name("m")));
        assert_true(term_hash(nif_env, both[i], &looked) == term_hash(nif_env, t, &looked));
        assert_true(term_equal(nif_env, both[i], t, &looked));
    }
    assert_string_equal(erlang(empty), "#m:'No'{}");
    assert_string_equal(erlang(copied(empty, room, &whole)), "#m:'No'{}");
    assert_int_equal(words(empty), 8);
    ended();
}

static void records_are_compared(void **state)
{
    (void)state;
    release(29, true);
    const ERL_NIF_TERM id = nif_name("id"), price = nif_name("price"), one = nif_int(1);
    const ERL_NIF_TERM other_order[] = {price, nif_float(1.5), id, nif_int(7)};
    const ERL_NIF_TERM nested[] = {id, order("m", 8, 0), price, one};
    const ERL_NIF_TERM t = order("m", 7, 0);
    const ERL_NIF_TERM differ[] = {order("m", 8, 0),
                                   order("n", 7, 0),
                                   nif_record(nif_name("m"), nif_name("o"), other_order, 2, 0),
                                   nif_record(nif_name("m"), nif_name("order"), other_order, 2, 0),
                                   nif_record(nif_name("m"), nif_name("order"), other_order, 1, 0),
                                   nif_record(nif_name("m"), nif_name("order"), nested, 2, 0),
                                   nif_tuple((ERL_NIF_TERM[]){nif_name("order"), one}, 2)};
    assert_true(term_equal(nif_env, t, order("m", 7, 0), &looked));
    for (size_t i = 0; i < sizeof differ / sizeof *differ; i++) {
        assert_false(term_equal(nif_env, t, differ[i], &looked));
        assert_false(term_equal(nif_env, differ[i], t, &looked));
        assert_true(term_hash(nif_env, t, &looked) != term_hash(nif_env, differ[i], &looked));
    }
    assert_true(term_equal(nif_env, nif_cons(t, one), nif_cons(order("m", 7, 0), one), &looked));
    assert_true(term_is_record(nif_env, differ[6], nif_name("order")));
    assert_false(term_is_record(nif_env, differ[6], one));
    assert_false(term_is_record(nif_env, nif_tuple(NULL, 0), nif_name("order")));
    assert_string_equal(erlang(differ[5]), "#m:order{id = #m:order{id = 8,price = 1.5},price = 1}");
    ended();
}

static void fields_are_redacted(void **state)
{
    (void)state;
    release(29, true);
    const struct terms_view v = {.redact = {1, {"i*"}}};
    uint64_t room[ROOM];
    bool whole;
    char text[TEXT];
    const ERL_NIF_TERM t = order("m", 7, 0), both[] = {t, copied(t, room, &whole)};
    for (size_t i = 0; i < 2; i++) {
        term_shown(nif_env, both[i], TERM_ERLANG, &v, text, sizeof text, &looked);
        assert_string_equal(text, "#m:order{id = [redacted],price = 1.5}");
    }
    ended();
}

/* A record of another form than that of OTP 29 is unknown, or a part of it is. */
static void other_forms_are_unknown(void **state)
{
    enum { FIRST_OF_FIELDS = 8 };
    (void)state;
    release(29, true);
    for (unsigned odd = 1; odd <= ODDITIES; odd++) {
        const ERL_NIF_TERM t = order("m", 7, odd);
        ERL_NIF_TERM value;
        if (odd < FIRST_OF_FIELDS) {
            assert_string_equal(term_kind(nif_env, t), "unknown");
            assert_string_equal(erlang(t), "#unknown<dc>"); /* 3 words, tag 7 */
            assert_false(term_get(nif_env, t, "id", 2, &value, &looked));
            assert_false(term_value(nif_env, t, nif_name("id"), &value, &looked));
            assert_false(term_is_record(nif_env, t, nif_name("order")));
        } else {
            assert_string_equal(erlang(t), "#m:order{...}");
            assert_false(term_get(nif_env, t, "id", 2, &value, &looked));
        }
        assert_true((other_words(t) == TERM_SIZE_UNKNOWN) == (odd < FIRST_OF_FIELDS));
        assert_false(term_equal(nif_env, t, order("m", 7, odd), &looked));
    }
    ended();
}

/* -- binaries that begin within a byte ----------------------------------------------------------
 */

/* Their bytes are looked at as long as the emulator copies few; of others only the size is known.
 */
static void shifted_binaries(void **state)
{
    enum { FEW = 3, MANY = 1 << 20 };
    static const int releases[] = {25, 27, 29};
    (void)state;
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        release(releases[i], true);
        const ERL_NIF_TERM few = nif_shifted(FEW), many = nif_shifted(MANY);
        uint64_t room[ROOM];
        bool whole;
        nif_callback = true;
        assert_string_equal(erlang(few), "<<0,0,0>>");
        assert_string_equal(erlang(many), "<<...");
        assert_string_equal(elixir(many), "<<...");
        assert_string_equal(term_kind(nif_env, many), "binary");
        assert_int_equal(term_count(nif_env, many, &looked), MANY);
        assert_false(term_equal(nif_env, many, few, &looked));
        nif_callback = false;
        assert_string_equal(erlang(copied(many, room, &whole)), "<<...");
        assert_false(whole);
        ended();
    }
}

/* Who wants the size of a binary does not ask the emulator, which would take the room that it has
 * to grow in. */
static void sizes_ask_nobody(void **state)
{
    static const int releases[] = {25, 27, 29};
    (void)state;
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        release(releases[i], true);
        const struct {
            ERL_NIF_TERM t;
            int64_t bytes;
            const char *kind;
        } row[] = {{nif_binary("text", 4, false), 4, "binary"},
                   {nif_binary(NULL, 1000, false), 1000, "binary"},
                   {nif_shifted(77), 77, "binary"},
                   {nif_binary("x", 1, true), 0, "bitstring"},
                   {nif_binary(NULL, 0, false), 0, "binary"}};
        for (size_t j = 0; j < sizeof row / sizeof *row; j++) {
            nif_calls = 0;
            assert_string_equal(term_kind(nif_env, row[j].t), row[j].kind);
            assert_true(words(row[j].t) > 0);
            assert_int_equal(nif_calls, 0);
            assert_int_equal(term_count(nif_env, row[j].t, &looked), row[j].bytes);
        }
        ended();
    }
}

/* -- kinds that nobody has defined ------------------------------------------------------------- */

/* Each place where a term can be. */
static unsigned everywhere(ERL_NIF_TERM t, ERL_NIF_TERM *in)
{
    const ERL_NIF_TERM one = nif_int(1);
    ERL_NIF_TERM many[80];
    unsigned n = 0;
    in[n++] = t;
    in[n++] = nif_cons(t, nif_nil());
    in[n++] = nif_cons(one, t);
    in[n++] = nif_tuple((ERL_NIF_TERM[]){one, t}, 2);
    in[n++] = nif_tuple((ERL_NIF_TERM[]){t, one}, 2);
    in[n++] = nif_map((ERL_NIF_TERM[]){t, one}, 1);
    in[n++] = nif_map((ERL_NIF_TERM[]){one, t}, 1);
    in[n++] = nif_record(nif_name("m"), nif_name("r"), (ERL_NIF_TERM[]){nif_name("f"), t}, 1, 0);
    for (unsigned i = 0; i < 80; i++)
        many[i] = i == 7 ? t : nif_int(i);
    in[n++] = nif_map(many, 40);
    in[n] = nif_cons(in[3], nif_cons(in[5], nif_nil()));
    return n + 1;
}

static void nobody_asks(void **state)
{
    static const struct {
        int otp;
        bool known;
    } releases[] = {{25, true}, {26, true}, {27, true}, {28, true}, {29, true}, {30, false}};
    static const uint32_t of_others[] = {TERM_SIZE_UNKNOWN, 2, 2, 3, 3}; /* of everywhere() */
    (void)state;
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        for (unsigned in_its_word = 0; in_its_word < 2; in_its_word++) {
            ERL_NIF_TERM a[16], b[16];
            release(releases[i].otp, releases[i].known);
            const ERL_NIF_TERM t = nif_unknown(1, in_its_word), u = nif_unknown(2, in_its_word);
            const unsigned n = everywhere(t, a);
            everywhere(u, b);
            for (unsigned j = 0; j < n; j++) {
                uint64_t room[ROOM];
                bool whole;
                const ERL_NIF_TERM kept = copied(a[j], room, &whole);
                looks_at(a[j], b[j]);
                looks_at(a[j], a[j]);
                looks_at(kept, a[j]);
                looks_at(a[j], kept);
                looks_at(kept, kept);
                if (j != 8 && (j != 7 || nif_otp == 29)) {
                    assert_non_null(strstr(erlang(a[j]), "#unknown<"));
                    assert_non_null(strstr(elixir(a[j]), "#unknown<"));
                    assert_non_null(strstr(erlang(kept), "#unknown<"));
                }
                assert_false(term_equal(nif_env, a[j], b[j], &looked));
                assert_false(term_equal(nif_env, a[j], kept, &looked) && !in_its_word);
                if (!in_its_word) {
                    const uint32_t n_words = other_words(a[j]);
                    if (j < 5)
                        assert_int_equal(n_words, of_others[j]);
                }
            }
            assert_true(term_equal(nif_env, t, t, &looked)); /* the same word */
            if (!in_its_word) /* the header is all that the hash is made of */
                assert_true(term_hash(nif_env, t, &looked) == term_hash(nif_env, u, &looked));
            assert_string_equal(term_kind(nif_env, t), "unknown");
            assert_int_equal(term_count(nif_env, t, &looked), 0);
            ended();
        }
}

/* Where headers mean nothing, what is known is as elsewhere, but for what no test tells. */
static void known_terms_of_an_unknown_release(void **state)
{
    (void)state;
    release(30, false);
    const ERL_NIF_TERM one = nif_int(1), a = nif_name("a");
    ERL_NIF_TERM many[80], value;
    for (unsigned i = 0; i < 80; i++)
        many[i] = nif_int(i);
    const ERL_NIF_TERM large = nif_map(many, 40);
    const struct {
        ERL_NIF_TERM t;
        const char *text;
    } row[] = {{a, "a"},
               {one, "1"},
               {nif_uint(UINT64_MAX), "18446744073709551615"},
               {nif_float(1.5), "1.5"},
               {nif_pid(7, true), "<0.7.0>"},
               {nif_pid(7, false), "<8745.7.0>"},
               {nif_port(7, false), "#Port<8745.7>"},
               {nif_ref(3), "#Ref<0.3.21846.1>"},
               {nif_fun(), "#Fun<m.0.4711>"},
               {nif_binary("x", 1, false), "<<\"x\">>"},
               {nif_nil(), "[]"},
               {nif_cons(one, nif_nil()), "[1]"},
               {nif_tuple((ERL_NIF_TERM[]){a, one}, 2), "{a,1}"},
               {nif_map((ERL_NIF_TERM[]){a, one}, 1), "#{a => 1}"},
               {large, "#{...}"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_string_equal(erlang(row[i].t), row[i].text);
    assert_true(term_value(nif_env, row[13].t, a, &value, &looked) && value == one);
    assert_false(term_value(nif_env, large, many[2], &value, &looked)); /* a key may be anything */
    assert_non_null(strstr(erlang(nif_binary("x", 1, true)), "#unknown<"));
    assert_string_equal(term_kind(nif_env, order("m", 7, 0)), "unknown");
    ended();
}

/* The list is not believed where the emulator's own terms have other headers. */
static void headers_are_compared(void **state)
{
    (void)state;
    nif_otp = 27;
    assert_true(term_init(nif_env, 27));
    assert_false(term_init(nif_env, 25)); /* whose maps have another tag */
    assert_string_equal(erlang(nif_map(NULL, 0)), "#{}");
    nif_otp = 30;
    assert_false(term_init(nif_env, 29));
    ended();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_read),     cmocka_unit_test(records_are_compared),
        cmocka_unit_test(fields_are_redacted),  cmocka_unit_test(other_forms_are_unknown),
        cmocka_unit_test(shifted_binaries),     cmocka_unit_test(sizes_ask_nobody),
        cmocka_unit_test(nobody_asks),          cmocka_unit_test(known_terms_of_an_unknown_release),
        cmocka_unit_test(headers_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
