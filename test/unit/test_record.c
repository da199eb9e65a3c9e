/* test_record.c - what record.h writes: byte for byte as it describes, read back by record_read.h,
 * and refused when it is malformed; and that the manual names every fault and every drop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tier/record_read.h"

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Bytes of a copy that ends where its memory ends, so that a sanitizer sees what is read behind. */
struct exact {
    uint8_t *p;
    struct rdr r;
};
static struct exact exact(const void *p, size_t n)
{
    struct exact e = {.p = malloc(n > 0 ? n : 1)};
    assert_non_null(e.p);
    memcpy(e.p, p, n);
    e.r = (struct rdr){e.p, e.p + n, false};
    return e;
}

static void expect(const void *p, size_t n, const uint8_t *bytes, size_t nbytes)
{
    assert_int_equal(n, nbytes);
    assert_memory_equal(p, bytes, nbytes);
}

/* -- records ----------------------------------------------------------------------------------- */

/* A record of a sub-clause with one part of each kind; returns its size. */
static uint32_t write_record(unsigned char *rec)
{
    memset(rec, 0xee, 128);
    unsigned char *p = record_put_sub(rec, 3);
    p = record_put_int(p, (uint64_t)-2, 1);
    p = record_put_int(p, 0x0102, 2);
    p = record_put_int(p, (uint64_t)INT32_MIN, 4);
    p = record_put_int(p, UINT64_C(0x1112131415161718), 8);
    p = record_put_text(p, "abc", 3);
    p = record_put_text(p, "", 0);
    return record_put_head(rec, p, 7, UINT64_C(0x2122232425262728), 5);
}

static void record_layout(void **state)
{
    (void)state;
    unsigned char rec[128];
    const uint32_t size = write_record(rec);
    expect(rec, size,
           BYTES(56, 0, 0, 0, 7, 0, 0, 0, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, /* head */
                 5, 0, 0, 0, 30, 0, 0, 0,                        /* CPU, bytes of the parts */
                 3, 0, 0, 0,                                     /* sub-clause */
                 0xfe, 2, 1, 0, 0, 0, 0x80,                      /* integers */
                 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, /* ... */
                 3, 0, 0, 0, 'a', 'b', 'c', 0, 0, 0, 0,          /* strings */
                 0, 0));                                         /* up to a multiple of 8 */
    assert_int_equal(rec[size], 0xee);
    assert_int_equal(record_size(rec), 56);
    assert_int_equal(record_epid(rec), 7);
    /* without parts; and one that fills its last word has no padding */
    assert_int_equal(record_put_head(rec, record_parts(rec), 1, 2, 3), 24);
    expect(rec, 24, BYTES(24, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0));
    rec[32] = 0xee;
    assert_int_equal(record_put_head(rec, record_put_int(record_parts(rec), 1, 8), 1, 2, 3), 32);
    assert_int_equal(rec[32], 0xee);
}

/* A record is filled up to a multiple of 8 with zeros, and not beyond. */
static void record_padding(void **state)
{
    (void)state;
    static const uint8_t zeros[8];
    unsigned char rec[64];
    for (uint32_t len = 0; len < 9; len++) {
        memset(rec, 0xee, sizeof rec);
        unsigned char *end = record_put_text(record_parts(rec), "abcdefgh", len);
        const uint32_t used = (uint32_t)(end - rec), size = record_put_head(rec, end, 1, 2, 3);
        assert_int_equal(size, (used + 7) / 8 * 8);
        assert_memory_equal(rec + used, zeros, size - used);
        assert_int_equal(rec[size], 0xee);
    }
}

static void record_read_back(void **state)
{
    (void)state;
    unsigned char rec[128];
    struct exact e = exact(rec, write_record(rec));
    struct record_seen r = {0};
    assert_true(record_read(&e.r, &r));
    assert_int_equal(r.epid, 7);
    assert_int_equal(r.timestamp, UINT64_C(0x2122232425262728));
    assert_int_equal(r.cpu, 5);
    struct rdr parts = {r.parts, r.parts + r.bytes, false};
    assert_int_equal(record_read_sub(&parts), 3);
    struct rdr again = parts;
    assert_int_equal(record_read_int(&parts, 1, true), -2);
    assert_int_equal(record_read_int(&again, 1, false), 254);
    assert_int_equal(record_read_int(&parts, 2, true), 0x0102);
    again = parts;
    assert_int_equal(record_read_int(&parts, 4, true), INT32_MIN);
    assert_int_equal(record_read_int(&again, 4, false), (int64_t)1 << 31);
    assert_int_equal(record_read_int(&parts, 8, true), INT64_C(0x1112131415161718));
    uint32_t n;
    const char *s = record_read_text(&parts, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(s, "abc", 3);
    record_read_text(&parts, &n);
    assert_int_equal(n, 0);
    assert_int_equal(rdr_left(&parts), 0);
    assert_false(parts.bad);
    free(e.p);
}

static void fault_of_a_clause(void **state)
{
    (void)state;
    unsigned char rec[RECORD_SIZE_OF_FAULT];
    const struct record_failure f = {7, 2, 12, RECORD_FAULT_BADADDR, UINT64_C(0x1112131415161718)};
    record_put_fault(rec, &f, 9, 5);
    expect(rec, sizeof rec,
           BYTES(48, 0, 0, 0, 255, 255, 255, 255, 9, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 24, 0, 0, 0,
                 7, 0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0x18, 0x17, 0x16, 0x15, 0x14,
                 0x13, 0x12, 0x11));
    struct exact e = exact(rec, sizeof rec);
    struct record_seen r = {0};
    assert_true(record_read(&e.r, &r));
    assert_int_equal(r.epid, RECORD_EPID_FAULT);
    const struct record_failure g = record_read_fault(&r);
    assert_memory_equal(&g, &f, sizeof f);
    free(e.p);
}

/* A head whose number of part bytes is `bytes`, in a record of `size`. */
static bool reads(uint32_t size, uint32_t epid, uint32_t bytes)
{
    unsigned char rec[64] = {0};
    memcpy(rec, &size, 4);
    memcpy(rec + 4, &epid, 4);
    memcpy(rec + 20, &bytes, 4);
    struct exact e = exact(rec, size);
    struct record_seen r = {0};
    bool ok = record_read(&e.r, &r);
    free(e.p);
    return ok;
}

static void malformed_records(void **state)
{
    (void)state;
    static const struct {
        uint32_t size, epid, bytes;
        bool ok;
    } row[] = {
        {24, 1, 0, true},  {32, 1, 8, true},           {32, 1, 3, true},
        {32, 1, 9, false}, {32, 1, UINT32_MAX, false}, {24, 1, 1, false},
        {16, 1, 0, false}, {8, 1, 0, false},           {48, RECORD_EPID_FAULT, 24, true},
        {48, 1, 24, true}, {56, 1, 32, true},          {48, RECORD_EPID_FAULT, 23, false},
        {64, 1, 25, true}, {56, 1, 25, true},          {56, RECORD_EPID_FAULT, 25, false},
        {64, 1, 40, true}, {64, 1, 41, false},         {40, RECORD_EPID_FAULT, 16, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_int_equal(reads(row[i].size, row[i].epid, row[i].bytes), row[i].ok);
}

/* A part that is cut off anywhere, or of no size that integers have, is bad and reads as nothing.
 */
static void malformed_parts(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 3, 5, 6, 7, 9, 16, UINT32_MAX};
    uint8_t bytes[16] = {5, 0, 0, 0, 'a', 'b', 'c', 'd', 'e'};
    uint32_t n;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct rdr r = {bytes, bytes + sizeof bytes, false};
        assert_int_equal(record_read_int(&r, sizes[i], true), 0);
        assert_true(r.bad);
    }
    for (uint32_t size = 1; size <= 8; size *= 2) {
        struct exact e = exact(bytes, size - 1);
        assert_int_equal(record_read_int(&e.r, size, false), 0);
        assert_true(e.r.bad);
        free(e.p);
    }
    for (size_t len = 0; len < 9; len++) {
        struct exact e = exact(bytes, len), sub = exact(bytes, len);
        assert_null(record_read_text(&e.r, &n));
        assert_true(e.r.bad);
        record_read_sub(&sub.r);
        assert_int_equal(sub.r.bad, len < 4);
        free(e.p);
        free(sub.p);
    }
    memset(bytes, 0xff, 4);
    struct exact e = exact(bytes, sizeof bytes);
    assert_null(record_read_text(&e.r, &n));
    assert_true(e.r.bad);
    free(e.p);
}

/* -- entries ----------------------------------------------------------------------------------- */

/* An entry of aggregation 2 with two words and a key of `keylen` bytes; returns its size. */
static uint32_t write_entry(struct record_entry *n, uint32_t keylen)
{
    static const uint64_t words[] = {1, UINT64_C(0x1112131415161718)};
    const uint32_t size = record_entry_size(2, keylen);
    memset(n, 0xee, 64);
    record_put_entry(n, size, 2, keylen, 5);
    memcpy(n->words, words, sizeof words);
    memcpy((unsigned char *)n + RECORD_ENTRY_HEAD + sizeof words, "abcdefghi", keylen);
    return size;
}

static void entry_layout(void **state)
{
    (void)state;
    _Alignas(8) unsigned char room[64];
    struct record_entry *n = (struct record_entry *)(void *)room;
    const uint32_t size = write_entry(n, 3);
    expect(n, size,
           BYTES(40, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0,                        /* head */
                 1, 0, 0, 0, 0, 0, 0, 0, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, /* words */
                 'a', 'b', 'c', 0, 0, 0, 0, 0));
    assert_int_equal(room[size], 0xee);
    assert_int_equal(record_entry_size(1, 0), 24);
    assert_int_equal(record_entry_size(1, 1), 32);
    assert_int_equal(record_entry_size(1, 8), 32);
    assert_int_equal(record_entry_size(127, 9), 16 + 127 * 8 + 16);
}

static void entry_read_back(void **state)
{
    (void)state;
    _Alignas(8) unsigned char room[64];
    for (uint32_t keylen = 0; keylen < 10; keylen++) {
        struct exact e = exact(room, write_entry((struct record_entry *)(void *)room, keylen));
        struct record_added a = {0};
        uint32_t agg;
        assert_true(record_read_agg(&e.r, &agg));
        assert_int_equal(agg, 2);
        assert_true(record_read_entry(&e.r, 2, &a));
        assert_int_equal(a.agg, 2);
        assert_int_equal(a.cpu, 5);
        assert_int_equal(record_u64(a.words), 1);
        assert_int_equal(record_u64(a.words + 8), UINT64_C(0x1112131415161718));
        assert_int_equal(a.keylen, keylen);
        assert_memory_equal(a.key, "abcdefghi", keylen);
        /* of an aggregation with more words than there is room for */
        assert_int_equal(record_read_entry(&e.r, 3, &a),
                         rdr_left(&e.r) - 40 >= keylen && rdr_left(&e.r) >= 40);
        assert_false(record_read_entry(&e.r, 5, &a));
        assert_false(record_read_entry(&e.r, SIZE_MAX, &a));
        assert_false(record_read_entry(&e.r, SIZE_MAX / 8 + 2, &a)); /* 8 times that is 8 */
        free(e.p);
    }
    for (size_t len = 0; len < 16; len++) { /* not even a head */
        struct exact e = exact(room, len);
        struct record_added a = {0};
        uint32_t agg;
        assert_false(record_read_agg(&e.r, &agg));
        assert_false(record_read_entry(&e.r, 1, &a));
        free(e.p);
    }
}

/* -- blocks ------------------------------------------------------------------------------------ */

static void block_layout(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    record_put_block(&out, RECORD_AGGS, 0x0102, "01234567", 8);
    record_put_block(&out, RECORD_PRINCIPAL, 0, "", 0);
    expect(out.data, out.len,
           BYTES(2, 0, 2, 1, 8, 0, 0, 0, '0', '1', '2', '3', '4', '5', '6', '7', /* one */
                 1, 0, 0, 0, 0, 0, 0, 0));
    struct exact e = exact(out.data, out.len);
    struct record_block b = {0};
    assert_true(record_next_block(&e.r, &b));
    assert_int_equal(b.kind, RECORD_AGGS);
    assert_int_equal(b.thread, 0x0102);
    assert_int_equal(rdr_left(&b.items), 8);
    assert_memory_equal(b.items.p, "01234567", 8);
    assert_true(record_next_block(&e.r, &b));
    assert_int_equal(b.kind, RECORD_PRINCIPAL);
    assert_int_equal(rdr_left(&b.items), 0);
    assert_false(record_next_block(&e.r, &b));
    assert_false(e.r.bad);
    free(e.p);
    for (size_t len = 1; len < out.len; len++) { /* cut off anywhere but between the two */
        e = exact(out.data, len);
        while (record_next_block(&e.r, &b))
            ;
        assert_int_equal(e.r.bad, len != 16);
        assert_false(record_next_block(&e.r, &b)); /* and it stays so */
        free(e.p);
    }
    for (unsigned kind = 0; kind < 256; kind++) {
        out.data[0] = (char)kind;
        e = exact(out.data, out.len);
        assert_int_equal(record_next_block(&e.r, &b), kind == 1 || kind == 2);
        free(e.p);
    }
    buf_free(&out);
}

/* Records one after another in a block; sizes that they cannot have. */
static void items_of_a_block(void **state)
{
    (void)state;
    unsigned char rec[256];
    uint32_t used = write_record(rec);
    used += write_record(rec + used);
    struct exact e = exact(rec, used);
    struct rdr one;
    unsigned n = 0;
    for (; record_next(&e.r, &one); n++)
        assert_int_equal(rdr_left(&one), 56);
    assert_int_equal(n, 2);
    assert_false(e.r.bad);
    free(e.p);
    static const struct {
        uint32_t size, len;
        bool ok;
    } row[] = {
        {8, 8, true},  {8, 9, true},    {16, 16, true},          {0, 8, false},
        {4, 8, false}, {12, 16, false}, {16, 8, false},          {UINT32_MAX, 8, false},
        {8, 3, false}, {0, 0, false},   {0xfffffff8, 16, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        memset(rec, 0, sizeof rec);
        memcpy(rec, &row[i].size, 4);
        e = exact(rec, row[i].len);
        assert_int_equal(record_next(&e.r, &one), row[i].ok);
        assert_int_equal(e.r.bad, !row[i].ok && row[i].len > 0);
        free(e.p);
    }
}

/* -- names ------------------------------------------------------------------------------------- */

/* Whether a line of the manual has both texts. */
static bool is_said(const char *name, const char *text)
{
    static char line[8192];
    bool said = false;
    FILE *f = fopen("doc/language.md", "r");
    assert_non_null(f);
    while (!said && fgets(line, sizeof line, f) != NULL)
        said = line[0] == '|' && strstr(line, name) != NULL && strstr(line, text) != NULL;
    fclose(f);
    return said;
}

/* The tables of language.md 10.4 and 10.6 have a row for each, with its text. */
static void manual_has_all(void **state)
{
    (void)state;
    static const struct {
        const char *name, *noun, *rest;
    } row[] = {
#define WORD_FAULT(num, name, value, text) {"`DTRACEFLT_" #name "`", text, ""},
#include "words/faults.list"
#undef WORD_FAULT
#define WORD_DROP(num, name, noun, rest) {"`DTRACEDROP_" #name "`", noun "s", rest},
#include "words/drops.list"
#undef WORD_DROP
    };
    char text[128];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        snprintf(text, sizeof text, "%s%s", row[i].noun, row[i].rest);
        if (!is_said(row[i].name, text))
            fail_msg("doc/language.md has no row with %s and \"%s\"", row[i].name, text);
    }
    assert_false(is_said("`DTRACEFLT_DIVZERO`", "out of scratch space"));
}

/* Numbers that other programs know: nodes of other versions, D programs. */
static void numbers(void **state)
{
    (void)state;
    static const char *const drops[] = {
#define WORD_DROP(num, name, noun, rest) [num] = #name,
#include "words/drops.list"
#undef WORD_DROP
    };
    static const char *const known[] = {"PRINCIPAL", "AGGREGATION", "DYNAMIC",  "DBLERROR",
                                        "THREAD",    "SPEC",        "SPECBUSY", "SPECUNAVAIL",
                                        "LOAD",      "KEPT",        "SHAPE",    "ENDED",
                                        "UNCOUNTED", "LOWER",       "COUNTER"};
    assert_int_equal(sizeof drops / sizeof *drops, RECORD_NDROPS);
    for (size_t i = 0; i < RECORD_NDROPS; i++)
        assert_non_null(drops[i]); /* no number is left out */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_string_equal(drops[i], known[i]);
    assert_int_equal(RECORD_FAULT_DIVZERO, 4);
    assert_int_equal(RECORD_FAULT_EVENTBUDGET, 100);
    assert_int_equal(RECORD_FAULT_LIBRARY, 1000);
    assert_int_equal(RECORD_POLICY_SWITCH, 0);
    assert_int_equal(RECORD_POLICY_FILL, 1);
    assert_int_equal(RECORD_POLICY_RING, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_layout),     cmocka_unit_test(record_padding),
        cmocka_unit_test(record_read_back),  cmocka_unit_test(fault_of_a_clause),
        cmocka_unit_test(malformed_records), cmocka_unit_test(malformed_parts),
        cmocka_unit_test(entry_layout),      cmocka_unit_test(entry_read_back),
        cmocka_unit_test(block_layout),      cmocka_unit_test(items_of_a_block),
        cmocka_unit_test(manual_has_all),    cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
