/* test_redact.c - which keys' values are not seen, and texts without them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "beam/probe/redact.h"
#include "beam/probe/term.h"

#include "../fuzz/nif.h"

static ERL_NIF_TERM list_of(const char *text)
{
    ERL_NIF_TERM list = nif_nil();
    for (size_t i = strlen(text); i-- > 0;)
        list = nif_cons(nif_int((unsigned char)text[i]), list);
    return list;
}

static ERL_NIF_TERM binary(const char *text)
{
    return nif_binary(text, strlen(text), false);
}

static ERL_NIF_TERM pair(ERL_NIF_TERM key, ERL_NIF_TERM value)
{
    return nif_tuple((ERL_NIF_TERM[]){key, value}, 2);
}

static const char *take(struct arena *a, struct terms_view *v, unsigned n, size_t bytes)
{
    char glob[REDACT_BYTES + 2];
    ERL_NIF_TERM list = nif_nil();
    *v = (struct terms_view){0};
    memset(glob, 'x', sizeof glob);
    for (unsigned i = 0; i < n; i++)
        list = nif_cons(nif_binary(glob, bytes, false), list);
    return redact_take(nif_env, a, list, &v->redact);
}

static void limits_of_patterns(void **state)
{
    (void)state;
    struct arena a;
    struct terms_view v;
    arena_init(&a);
    assert_null(take(&a, &v, 0, 1));
    assert_null(take(&a, &v, REDACT_PATTERNS, REDACT_BYTES / REDACT_PATTERNS));
    assert_int_equal(v.redact.n, REDACT_PATTERNS);
    assert_non_null(take(&a, &v, REDACT_PATTERNS + 1, 1));
    assert_null(take(&a, &v, 1, REDACT_BYTES));
    assert_non_null(take(&a, &v, 1, REDACT_BYTES + 1));
    assert_non_null(take(&a, &v, 2, REDACT_BYTES / 2 + 1));
    assert_non_null(take(&a, &v, 1, 0));
    v = (struct terms_view){0};
    assert_non_null(redact_take(nif_env, &a, nif_cons(nif_int(1), nif_nil()), &v.redact));
    assert_non_null(redact_take(nif_env, &a, nif_name("pattern"), &v.redact));
    arena_free(&a);
    nif_reset();
}

/* Atoms, binaries and lists of characters; nothing else has a text. One that is too long to look at
 * is taken for a match, and so its value is not seen. */
static void keys(void **state)
{
    (void)state;
    const struct terms_view v = {.redact = {2, {"*word", "to[kK]en"}, {[1] = true}}}, all = {0};
    char longest[REDACT_KEY + 1], zero[] = "token\0x";
    uint64_t looked = 0;
    memset(longest, 'x', sizeof longest);
    const struct {
        ERL_NIF_TERM key;
        bool redacted;
    } row[] = {
        {nif_name("password"), true},
        {nif_name("passwords"), false},
        {nif_name("PassWord"), true},
        {list_of("WORD"), true},
        {binary("toKen"), true},
        {binary("Token"), false},
        {list_of("word"), true},
        {list_of("wor"), false},
        {nif_nil(), false},
        {binary(""), false},
        {nif_int('w'), false},
        {nif_tuple(NULL, 0), false},
        {nif_binary(zero, sizeof zero - 1, false),
         true}, /* hides too much rather than too little */
        {nif_cons(nif_int('w'), nif_int('o')), false},
        {nif_cons(nif_int(256), nif_nil()), false},
        {nif_binary(longest, REDACT_KEY - 1, false), false},
        {nif_binary(longest, REDACT_KEY, false), true},
        {nif_binary(NULL, 1 << 20, false), true},
        {nif_atom(longest, REDACT_KEY - 1), false},
        {nif_atom(longest, REDACT_KEY), true},
        {nif_cells(nif_int('x'), 20000, false), true},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        looked = 0;
        nif_calls = 0;
        assert_int_equal(redact_key(nif_env, &v, row[i].key, &looked), row[i].redacted);
        assert_true(looked > 0 && looked < 1000);
        assert_true(nif_calls < 4 * REDACT_KEY);
        looked = 0;
        assert_false(redact_key(nif_env, &all, row[i].key, &looked));
        assert_false(redact_key(nif_env, NULL, row[i].key, &looked));
        assert_int_equal(looked, 0);
    }
    assert_true(redact_name(&v, "token", 5, &looked));
    assert_false(redact_name(&v, "token", 4, &looked)); /* of a text that is not ended */
    assert_false(redact_name(NULL, "token", 5, &looked));
    nif_reset();
}

enum { TEXT = 256 };

/* Capitals and small letters are the same, but behind "case:"; also those of Latin-1. */
static void cases(void **state)
{
    (void)state;
    struct arena a;
    struct terms_view v = {0};
    const char *globs[] = {"case:Token", "contrase\303\261a", "\303\226L", "[a-c]x"};
    ERL_NIF_TERM list = nif_nil();
    const struct {
        ERL_NIF_TERM key;
        bool redacted;
    } row[] = {{nif_name("Token"), true},
               {nif_name("token"), false},
               {binary("CONTRASE\303\221A"), true},
               {nif_cons(nif_int(0xf6), nif_cons(nif_int('l'), nif_nil())), true},
               {nif_cons(nif_int(0xd6), nif_cons(nif_int('l'), nif_nil())), true},
               {nif_cons(nif_int(0xf7), nif_cons(nif_int('l'), nif_nil())), false},
               {nif_cons(nif_int(0x20ac), nif_nil()), false},
               {nif_name("BX"), true},
               {nif_name("dx"), false}};
    arena_init(&a);
    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
        list = nif_cons(binary(globs[i]), list);
    assert_null(redact_take(nif_env, &a, list, &v.redact));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_int_equal(redact_key(nif_env, &v, row[i].key, &(uint64_t){0}), row[i].redacted);
    arena_free(&a);
    nif_reset();
}

/* Texts that are put together from a list leave out what is behind a key. */
static void strings(void **state)
{
    (void)state;
    const struct terms_view v = {.redact = {1, {"password"}}};
    const ERL_NIF_TERM key = binary("password"), s = binary("s"), nil = nif_nil();
    const struct {
        ERL_NIF_TERM t;
        const char *text;
    } row[] = {
        {nif_cons(key, nif_cons(s, nif_cons(s, nil))), "password[redacted]s"},
        {nif_cons(list_of("password"), nif_cons(list_of("secret"), nif_cons(s, nil))),
         "password[redacted]s"},
        {nif_cons(nif_cons(s, nif_cons(key, nil)), nif_cons(s, nil)), "spasswords"},
        {nif_cons(nif_cons(key, nif_cons(s, nil)), nif_cons(s, nil)), "password[redacted]s"},
        {nif_cons(s, nif_cons(key, s)), "spassword[redacted]"},
        {nif_cons(s, nif_cons(key, nil)), "spassword"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[TEXT];
        term_string(nif_env, row[i].t, &v, text, sizeof text, &(uint64_t){0});
        assert_string_equal(text, row[i].text);
        term_string(nif_env, row[i].t, NULL, text, sizeof text, &(uint64_t){0});
        assert_null(strstr(text, "redacted"));
    }
    nif_reset();
}

static void texts(void **state)
{
    (void)state;
    const struct terms_view v = {.redact = {1, {"password"}}};
    const ERL_NIF_TERM key = nif_name("password"), other = nif_name("other"), x = nif_int(7);
    char longest[REDACT_KEY], long_erlang[TEXT], long_elixir[TEXT];
    memset(longest, 'x', sizeof longest);
    snprintf(long_erlang, sizeof long_erlang, "[<<\"%.*s\">>,7]", REDACT_KEY, longest);
    snprintf(long_elixir, sizeof long_elixir, "[\"%.*s\", 7]", REDACT_KEY, longest);
    const struct {
        ERL_NIF_TERM t;
        const char *erlang, *elixir;
    } row[] = {
        {pair(key, x), "{password,[redacted]}", "{:password, [redacted]}"},
        {pair(other, x), "{other,7}", "{:other, 7}"},
        {pair(x, key), "{7,password}", "{7, :password}"},
        {pair(other, pair(key, x)), "{other,{password,[redacted]}}",
         "{:other, {:password, [redacted]}}"},
        {nif_cons(pair(key, x), nif_nil()), "[{password,[redacted]}]", "[password: [redacted]]"},
        {nif_cons(pair(other, x), nif_cons(pair(key, x), nif_nil())),
         "[{other,7},{password,[redacted]}]", "[other: 7, password: [redacted]]"},
        {nif_tuple((ERL_NIF_TERM[]){key, x, x}, 3), "{password,[redacted],[redacted]}",
         "{:password, [redacted], [redacted]}"},
        {nif_tuple((ERL_NIF_TERM[]){other, key, x, other}, 4), "{other,password,[redacted],other}",
         "{:other, :password, [redacted], :other}"},
        {nif_tuple((ERL_NIF_TERM[]){other, x, key}, 3), "{other,7,password}",
         "{:other, 7, :password}"},
        {nif_cons(key, nif_cons(x, nif_cons(x, nif_nil()))), "[password,[redacted],7]",
         "[:password, [redacted], 7]"},
        {nif_cons(binary("password"), nif_cons(list_of("s"), nif_cons(x, nif_nil()))),
         "[<<\"password\">>,[redacted],7]", "[\"password\", [redacted], 7]"},
        {nif_cons(other, nif_cons(key, x)), "[other,password|[redacted]]",
         "[:other, :password | [redacted]]"},
        {nif_cons(nif_binary(longest, sizeof longest, false), nif_cons(x, nif_nil())), long_erlang,
         long_elixir},
        {nif_map((ERL_NIF_TERM[]){key, x}, 1), "#{password => [redacted]}",
         "%{password: [redacted]}"},
        {nif_map((ERL_NIF_TERM[]){binary("password"), x}, 1), "#{<<\"password\">> => [redacted]}",
         "%{\"password\" => [redacted]}"},
        {key, "password", ":password"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[TEXT];
        uint64_t looked = 0;
        term_shown(nif_env, row[i].t, TERM_ERLANG, &v, text, sizeof text, &looked);
        assert_string_equal(text, row[i].erlang);
        term_shown(nif_env, row[i].t, TERM_ELIXIR, &v, text, sizeof text, &looked);
        assert_string_equal(text, row[i].elixir);
        term_shown(nif_env, row[i].t, TERM_ERLANG, NULL, text, sizeof text, &looked);
        assert_null(strstr(text, "redacted"));
    }
    nif_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_patterns),
        cmocka_unit_test(keys),
        cmocka_unit_test(cases),
        cmocka_unit_test(strings),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
