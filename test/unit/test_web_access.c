/* test_web_access.c - who may talk to the web server: tokens, Host and Origin headers of every
 * form, those that look nearly right above all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "web/access.h"

#define NELEM(a) (sizeof(a) / sizeof(a)[0])

static void secrets_are_random_and_compared_whole(void **state)
{
    char a[ACCESS_SECRET], b[ACCESS_SECRET];
    (void)state;
    assert_int_equal(access_secret(a), 0);
    assert_int_equal(access_secret(b), 0);
    assert_int_equal(strlen(a), ACCESS_SECRET - 1);
    assert_int_equal(strspn(a, "0123456789abcdef"), ACCESS_SECRET - 1);
    assert_string_not_equal(a, b);
    assert_true(access_same("abcd", "abcd"));
    assert_false(access_same("abcd", "abce"));
    assert_false(access_same("abcd", "abc"));
    assert_false(access_same("abcd", "abcdd"));
    assert_false(access_same("abcd", ""));
}

static void a_token_is_found_among_protocols(void **state)
{
    static const struct {
        const char *header;
        bool good;
    } cases[] = {
        {"token.s3cret", true},
        {"erltrace.1, token.s3cret", true},
        {"token.s3cret,erltrace.1", true},
        {" ,,\ttoken.s3cret\t, ", true},
        {"", false},
        {",", false},
        {"token.", false},
        {"token.s3cre", false},
        {"token.s3crets", false},
        {"xtoken.s3cret", false},
        {"token.token.s3cret", false},
        {"s3cret", false},
        {"token. s3cret", false},
        {"token.0123456789012345678901234567890123456789", false},
    };
    (void)state;
    for (size_t i = 0; i < NELEM(cases); i++)
        if (access_offers(cases[i].header, "token.", "s3cret") != cases[i].good)
            fail_msg("%s", cases[i].header);
    assert_true(access_offers("chat, erltrace.1", "erltrace.1", ""));
    assert_false(access_offers("chat, erltrace.11", "erltrace.1", ""));
}

static void only_names_of_the_server_are_served(void **state)
{
    static const char *const names[] = {"shop.example"};
    static const struct {
        const char *header;
        bool good;
    } cases[] = {
        {"localhost", true},
        {"LocalHost:8042", true},
        {"127.0.0.1:8042", true},
        {"[::1]:8042", true},
        {"[::1]", true},
        {"shop.example:1", true},
        {"Shop.Example", true},
        {"", false},
        {":8042", false},
        {"localhost.example", false},
        {"xlocalhost", false},
        {"shop.example.org", false},
        {"127.0.0.1.example", false},
        {"shop.example:80x", false},
        {"localhost:80:80", false},
        {"[::1", false},
        {"[localhost.evil]", false},
        {"user@localhost", false},
    };
    (void)state;
    for (size_t i = 0; i < NELEM(cases); i++)
        if (access_host(cases[i].header, names, NELEM(names)) != cases[i].good)
            fail_msg("%s", cases[i].header);
}

static void only_the_page_itself_may_ask(void **state)
{
    static const struct {
        const char *origin;
        bool tls, good;
    } cases[] = {
        {"http://localhost:8042", false, true},
        {"http://LOCALHOST:8042", false, true},
        {"https://localhost:8042", true, true},
        {"https://localhost:8042", false, false},
        {"http://localhost:8042", true, false},
        {"http://localhost:8043", false, false},
        {"http://localhost", false, false},
        {"http://localhost:8042.evil.example", false, false},
        {"http://evil.example/localhost:8042", false, false},
        {"null", false, false},
        {"", false, false},
        {"https://shop.example", false, true},
        {"https://SHOP.example", true, true},
        {"http://shop.example", false, false},
        {"https://shop.example:443", false, false},
        {"https://shop.example.evil.example", false, false},
        {"http://plain.example", false, false},
        {"https://plain.example", true, false},
        {"plain.example", false, false},
    };
    static const char *const names[] = {"plain.example", "https://shop.example"};
    (void)state;
    for (size_t i = 0; i < NELEM(cases); i++)
        if (access_origin(cases[i].origin, "localhost:8042", cases[i].tls, names, NELEM(names)) !=
            cases[i].good)
            fail_msg("%s", cases[i].origin);
}

static void names_are_names_or_origins(void **state)
{
    static const char *const good[] = {"shop.example", "https://shop.example",
                                       "https://shop.example:8443", "http://[::1]:80"};
    static const char *const bad[] = {"",
                                      "https://",
                                      "shop.example:8443",
                                      "https://shop.example/",
                                      "https://shop.example/page",
                                      "https://shop.example:x",
                                      "https://user@shop.example",
                                      "ftp://shop.example",
                                      "https://https://shop.example"};
    (void)state;
    for (size_t i = 0; i < NELEM(good); i++)
        if (!access_is_name(good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < NELEM(bad); i++)
        if (access_is_name(bad[i]))
            fail_msg("%s", bad[i]);
    assert_true(access_host("shop.example", &good[2], 1));
    assert_false(access_host("https", &good[2], 1));
}

static void a_proxy_is_named_with_its_scheme(void **state)
{
    (void)state;
    assert_true(access_is_proxy("https://b.example:8443"));
    assert_true(access_is_proxy("http://c.example"));
    assert_false(access_is_proxy("a.example"));
    assert_false(access_is_proxy("https"));
    assert_false(access_is_proxy(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_random_and_compared_whole),
        cmocka_unit_test(names_are_names_or_origins),
        cmocka_unit_test(a_token_is_found_among_protocols),
        cmocka_unit_test(only_names_of_the_server_are_served),
        cmocka_unit_test(only_the_page_itself_may_ask),
        cmocka_unit_test(a_proxy_is_named_with_its_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
