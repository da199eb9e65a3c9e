/* What each encoding of JSON has of an event, to the byte: doc/json.md and
 * doc/web-protocol.md are the reference. Terms are tested through the port program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "event/event.h"
#include "util/buftext.h"

static const struct erltrace_probe probe = {7, "erlang9", "lists", "map/2", "entry", "a@b"};

static void is(enum event_kind kind, enum event_encoding encoding, const void *event,
               const char *want)
{
    struct buf b = BUF_INIT;
    event_json(&b, kind, encoding, event);
    assert_string_equal(buf_str(&b), want);
    buf_free(&b);
}

static void faults(void **state)
{
    (void)state;
    struct erltrace_fault f = {.message = "error on ...: divide-by-zero",
                               .epid = 3,
                               .cpu = 1,
                               .probe = &probe,
                               .action = 2,
                               .offset = 12,
                               .code = 4,
                               .name = "DIVZERO",
                               .value = UINT64_MAX,
                               .reason = "divide-by-zero"};
    is(EVENT_FAULT, EVENT_LINES, &f,
       ",\"tag\":\"DTRACEFLT_DIVZERO\",\"text\":\"divide-by-zero\",\"epid\":3,\"probe\":{\"id\":7,"
       "\"provider\":\"erlang9\",\"module\":\"lists\",\"function\":\"map/2\",\"name\":\"entry\"},"
       "\"node\":\"a@b\",\"cpu\":1,\"action\":2,\"offset\":12,\"value\":18446744073709551615");
    is(EVENT_FAULT, EVENT_PAGE, &f,
       ",\"text\":\"error on ...: divide-by-zero\",\"name\":\"DIVZERO\",\"epid\":3");
    f.action = 0;
    f.offset = -1;
    f.value = 0;
    is(EVENT_FAULT, EVENT_LINES, &f,
       ",\"tag\":\"DTRACEFLT_DIVZERO\",\"text\":\"divide-by-zero\",\"epid\":3,\"probe\":{\"id\":7,"
       "\"provider\":\"erlang9\",\"module\":\"lists\",\"function\":\"map/2\",\"name\":\"entry\"},"
       "\"node\":\"a@b\",\"cpu\":1,\"action\":null,\"offset\":null,\"value\":0");
}

static void drops(void **state)
{
    (void)state;
    struct erltrace_drop d = {.message = "[DTRACEDROP_DYNAMIC] 1 drop",
                              .kind = "DYNAMIC",
                              .count = UINT64_C(1) << 53,
                              .total = 9,
                              .node = "a@b",
                              .cpu = -1,
                              .text = "1 drop"};
    is(EVENT_DROP, EVENT_LINES, &d,
       ",\"kind\":\"dynamic\",\"count\":9007199254740992,\"node\":\"a@b\",\"text\":\"1 drop\"");
    is(EVENT_DROP, EVENT_PAGE, &d,
       ",\"kind\":\"DYNAMIC\",\"count\":\"9007199254740992\",\"total\":9,\"node\":\"a@b\","
       "\"cpu\":-1,\"text\":\"[DTRACEDROP_DYNAMIC] 1 drop\"");
    d.cpu = 0;
    is(EVENT_DROP, EVENT_LINES, &d,
       ",\"kind\":\"dynamic\",\"count\":9007199254740992,\"cpu\":0,\"node\":\"a@b\","
       "\"text\":\"1 drop\"");
    d.lost = 120;
    is(EVENT_DROP, EVENT_LINES, &d,
       ",\"kind\":\"dynamic\",\"count\":9007199254740992,\"cpu\":0,\"node\":\"a@b\","
       "\"lost\":120,\"text\":\"1 drop\"");
}

static void costs(void **state)
{
    (void)state;
    struct erltrace_stats s = {.kind = ERLTRACE_STATS_OVERLOAD,
                               .message = "lines\n",
                               .node = "",
                               .interval = 2500000000,
                               .fired = 1,
                               .events = 2,
                               .ns = 3,
                               .drops = 4,
                               .share = 5};
    is(EVENT_COST, EVENT_LINES, &s,
       ",\"why\":\"overload\",\"node\":\"\",\"interval\":2500000000,\"fired\":1,\"events\":2,"
       "\"ns\":3");
    is(EVENT_COST, EVENT_PAGE, &s,
       ",\"node\":\"\",\"dt\":2500,\"fired\":1,\"share\":5,\"ns\":3,\"drops\":4");
}

/* What terms leave out, and texts that end before their NUL. */
static void fields_of_terms(void **state)
{
    (void)state;
    struct erltrace_diag d = {
        .severity = ERLTRACE_WARNING, .tag = "", .text = "t", .line = 3, .rendered = "r\n"};
    struct erltrace_stats s = {.message = "two\nlines\n", .node = "n"};
    static const char *const keys[] = {"severity", "text", "rendered", "line"};
    struct event_value v;
    size_t n = 0;
    for (size_t at = 0; event_next(EVENT_DIAGNOSTIC, EVENT_TERMS, &d, &at, &v); n++) {
        assert_true(n < sizeof keys / sizeof *keys);
        assert_string_equal(v.key, keys[n]);
    }
    assert_int_equal(n, sizeof keys / sizeof *keys);
    for (size_t at = 0; event_next(EVENT_COST, EVENT_TERMS, &s, &at, &v);)
        continue;
    assert_string_equal(v.key, "text");
    assert_int_equal(v.length, strlen("two\nlines"));
}

static void of_members(void **state)
{
    (void)state;
    struct erltrace_member m = {
        .what = "left", .node = "a@b", .reason = "it is gone", .message = "a@b has gone\n"};
    is(EVENT_MEMBER, EVENT_LINES, &m,
       ",\"what\":\"left\",\"node\":\"a@b\",\"reason\":\"it is gone\",\"text\":\"a@b has gone\"");
    m.what = "joined";
    m.reason = "";
    is(EVENT_MEMBER, EVENT_LINES, &m,
       ",\"what\":\"joined\",\"node\":\"a@b\",\"text\":\"a@b has gone\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults), cmocka_unit_test(drops),           cmocka_unit_test(of_members),
        cmocka_unit_test(costs),  cmocka_unit_test(fields_of_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
