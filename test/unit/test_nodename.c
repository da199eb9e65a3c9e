/* test_nodename.c - the name of the node in the external form of a pid or reference, whatever the
 * tag of its atom. The functions of the VM that nodename.c calls are here: the encoding is the one
 * of the test, and a node's name is a term by its length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "beam/nodename.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

static const unsigned char *encoded;
static size_t encoded_len;
static char found[256];  /* the name that was looked for */
static const char *text; /* what a term is printed as */
static unsigned encodings;

int enif_term_to_binary(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifBinary *bin)
{
    (void)env;
    (void)t;
    encodings++;
    if (!encoded)
        return 0;
    *bin = (ErlNifBinary){.size = encoded_len, .data = malloc(encoded_len + 1)};
    memcpy(bin->data, encoded, encoded_len);
    return 1;
}

static int type = ERL_NIF_TERM_TYPE_PID;

int read_type(ErlNifEnv *env, ERL_NIF_TERM t)
{
    (void)env;
    (void)t;
    return type;
}

void enif_release_binary(ErlNifBinary *bin)
{
    free(bin->data);
}

int enif_make_existing_atom_len(ErlNifEnv *env, const char *name, size_t len, ERL_NIF_TERM *atom,
                                ErlNifCharEncoding encoding)
{
    (void)env;
    assert_int_equal(encoding, ERL_NIF_LATIN1);
    assert_true(len < sizeof found);
    memcpy(found, name, len);
    found[len] = '\0';
    *atom = 1000 + len;
    return 1;
}

size_t term_simple(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    (void)env;
    (void)t;
    strncpy(out, text, cap);
    return strlen(text);
}

/* Whether there is a node's name in these bytes, which is in `found` then. */
static bool named(const void *bytes, size_t len)
{
    ERL_NIF_TERM node = 0;
    encoded = bytes;
    encoded_len = len;
    *found = '\0';
    bool ok = nodename_encoded(NULL, 0, &node);
    assert_int_equal(node, ok ? 1000 + strlen(found) : 0);
    return ok;
}

#define NAMED(bytes) named(bytes, sizeof(bytes) - 1)

static void test_each_tag_of_an_atom(void **state)
{
    (void)state;
    static const char small[] = {115, 119}, large[] = {100, 118};
    static const char kinds[] = {
        103, 88, 114, 90}; /* pid, new pid; references, which have two bytes more before the name */
    for (size_t kind = 0; kind < sizeof kinds; kind++)
        for (size_t tag = 0; tag < 4; tag++) {
            char b[32] = {(char)131, kinds[kind]};
            size_t n = kind < 2 ? 2 : 4;
            b[n++] = tag < 2 ? small[tag] : large[tag - 2];
            if (tag >= 2)
                b[n++] = 0;
            b[n++] = 3;
            memcpy(b + n, "a@bXXXX", 7);
            assert_true(named(b, n + 7));
            assert_string_equal(found, "a@b");
            assert_true(named(b, n + 3)); /* nothing behind the name */
            assert_false(named(b, n + 2));
            for (size_t less = 0; less < n; less++)
                assert_false(named(b, less));
            b[n + 1] = (char)0x80; /* no ASCII */
            assert_false(named(b, n + 7));
            b[n + 1] = 0x7f;
            assert_true(named(b, n + 7));
        }
}

static void test_other_tags(void **state)
{
    (void)state;
    for (unsigned tag = 0; tag < 256; tag++) {
        char b[] = {(char)131, 88, (char)tag, 1, 1, 'a', 'b', 'c'};
        assert_int_equal(named(b, sizeof b), tag == 115 || tag == 119);
        char k[] = {(char)131, (char)tag, 119, 1, 119, 1, 'a'};
        assert_int_equal(named(k, sizeof k), tag == 88 || tag == 103 || tag == 90 || tag == 114);
        char v[] = {(char)tag, 88, 119, 1, 'a'};
        assert_int_equal(named(v, sizeof v), tag == 131);
    }
    assert_false(named(NULL, 0));
    assert_true(NAMED("\x83\x58\x77\x00")); /* the atom '' */
    assert_true(NAMED("\x83\x58\x76\x00\x00"));
    assert_false(NAMED("\x83\x58\x76\x00"));
    /* The length of a large atom has two bytes. */
    char b[4 + 256 + 8] = "\x83\x58\x76\x01";
    memset(b + 5, 'x', 250);
    assert_false(named(b, 5 + 250));
}

/* The number in a term's text stands for its node: one that is known is not encoded again, and a
 * local term has none. */
static void test_remembered_by_its_number(void **state)
{
    (void)state;
    static const char first[] = "\x83\x58\x77\x05"
                                "a@one",
                      second[] = "\x83\x5a\x00\x03\x77\x06"
                                 "a@two2";
    ERL_NIF_TERM node = 0;
    encoded = (const unsigned char *)first;
    encoded_len = sizeof first - 1;
    text = "<0.89.0>";
    encodings = 0;
    assert_false(nodename_of(NULL, 0, &node));
    text = "nothing";
    assert_false(nodename_of(NULL, 0, &node));
    text = "<8745.89.0>"; /* of an atom of that name */
    type = ERL_NIF_TERM_TYPE_ATOM;
    assert_false(nodename_of(NULL, 0, &node));
    type = ERL_NIF_TERM_TYPE_PID;
    assert_int_equal(encodings, 0);
    for (int i = 0; i < 3; i++) {
        node = 0;
        assert_true(nodename_of(NULL, 0, &node));
        assert_int_equal(node, 1005);
        assert_int_equal(encodings, 1);
    }
    encoded = (const unsigned char *)second;
    encoded_len = sizeof second - 1;
    text = "#Ref<8746.1.2.3>";
    assert_true(nodename_of(NULL, 0, &node));
    assert_int_equal(node, 1006);
    text = "<8745.1.0>"; /* still known by its number */
    assert_true(nodename_of(NULL, 0, &node));
    assert_int_equal(node, 1005);
    assert_int_equal(encodings, 2);
    text = "<9999.1.0>";
    encoded = NULL;
    assert_false(nodename_of(NULL, 0, &node)); /* what cannot be encoded is not remembered */
    encoded = (const unsigned char *)first;
    encoded_len = sizeof first - 1;
    assert_true(nodename_of(NULL, 0, &node));
}

/* More nodes than the table has room for are found all the same. */
static void test_more_nodes_than_slots(void **state)
{
    (void)state;
    static char b[] = "\x83\x58\x77\x07"
                      "a@00000",
                number[32];
    encoded = (const unsigned char *)b;
    encoded_len = sizeof b - 1;
    text = number;
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < 2 * NODENAME_MAX; i++) {
            ERL_NIF_TERM node = 0;
            snprintf(number, sizeof number, "<%u.1.0>", 20000 + i);
            assert_true(nodename_of(NULL, 0, &node));
            assert_int_equal(node, 1007);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_tag_of_an_atom),
        cmocka_unit_test(test_other_tags),
        cmocka_unit_test(test_remembered_by_its_number),
        cmocka_unit_test(test_more_nodes_than_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
