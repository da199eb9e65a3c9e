/* test_web_pack.c - which Accept-Encoding headers take gzip, and that what is packed is the same
 * text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "util/buftext.h"
#include "web/pack.h"

#define NELEM(a) (sizeof(a) / sizeof(a)[0])

static void who_takes_gzip(void **state)
{
    static const struct {
        const char *header;
        bool takes;
    } cases[] = {
        {"", false},
        {"gzip", true},
        {"GZip", true},
        {"x-gzip", true},
        {"gzip, deflate, br, zstd", true},
        {"br;q=1.0, gzip;q=0.8, *;q=0.1", true},
        {"br,gzip ; q=0.001", true},
        {"*", true},
        {"br, *;q=0.5", true},
        {"identity", false},
        {"gzipped", false},
        {"not-gzip", false},
        {"gzip;q=0", false},
        {"gzip;q=0.000, *", false},
        {"gzip; x=y; q=0", false},
        {"gzip;x=1;q=0.3", true},
        {"*;q=0", false},
        {"*;q=0, gzip", true},
        {"identity;q=1, *;q=0", false},
        {"gzip;", true},
        {"gzip;q=", false},
        {";;;", false},
        {",,,", false},
        {" ,\t gzip", true},
        {"deflate;q=1;", false},
    };
    (void)state;
    for (size_t i = 0; i < NELEM(cases); i++)
        if (pack_accepted(cases[i].header) != cases[i].takes)
            fail_msg("%s", cases[i].header);
}

static void unpacked(const struct buf *b, struct buf *out)
{
    z_stream z = {0};
    assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
    z.next_in = (unsigned char *)b->data;
    z.avail_in = (uInt)b->len;
    int rc = Z_OK;
    while (rc == Z_OK) {
        unsigned char piece[1000];
        z.next_out = piece;
        z.avail_out = sizeof piece;
        rc = inflate(&z, Z_NO_FLUSH);
        buf_add(out, piece, sizeof piece - z.avail_out);
    }
    assert_int_equal(rc, Z_STREAM_END);
    inflateEnd(&z);
}

static void long_texts_are_packed(void **state)
{
    struct buf text = BUF_INIT, packed = BUF_INIT, back = BUF_INIT;
    (void)state;
    for (int i = 0; i < 20000; i++)
        buf_printf(&text, "\"function_%d/%d\",", i * 7919 % 10007, i % 5);
    buf_add(&packed, text.data, text.len);
    assert_true(pack_gzip(&packed));
    assert_true(packed.len < text.len / 3);
    unpacked(&packed, &back);
    assert_int_equal(back.len, text.len);
    assert_memory_equal(back.data, text.data, text.len);
    buf_free(&text);
    buf_free(&packed);
    buf_free(&back);
}

static void others_are_left_as_they_are(void **state)
{
    struct buf b = BUF_INIT;
    (void)state;
    assert_false(pack_gzip(&b));
    buf_fill(&b, 'x', PACK_LEAST - 1);
    assert_false(pack_gzip(&b));
    assert_int_equal(b.len, PACK_LEAST - 1);
    buf_addc(&b, 'x');
    assert_true(pack_gzip(&b));
    buf_reset(&b);
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 4000; i++) { /* nothing to be gained: xorshift64 */
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        buf_addc(&b, (char)(random >> 24));
    }
    assert_false(pack_gzip(&b));
    assert_int_equal(b.len, 4000);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_takes_gzip),
        cmocka_unit_test(long_texts_are_packed),
        cmocka_unit_test(others_are_left_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
