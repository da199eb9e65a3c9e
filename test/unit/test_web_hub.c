/* test_web_hub.c - messages on their way to pages (c_src/web/hub.h): what is thrown away when a
 * page does not keep up, what is not, and that all memory comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/buftext.h"
#include "web/hub.h"

struct fixture {
    struct hub hub;
    struct viewer viewer;
    unsigned woken;
};

static void wake(void *arg)
{
    struct fixture *f = arg;
    f->woken++;
}

static int set_up(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    *state = &f;
    viewer_init(&f.viewer);
    f.viewer.trace = (struct trace *)&f; /* some trace */
    return hub_init(&f.hub, NULL, wake, &f);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    viewer_clear(&f->viewer);
    size_t held = atomic_load(&f->hub.held);
    hub_free(&f->hub);
    return held == 0 ? 0 : -1;
}

/* A message of so many bytes, all of them the letter. */
static void push(struct fixture *f, enum packet_kind kind, uint64_t n, char letter, size_t size)
{
    struct buf text = BUF_INIT;
    buf_fill(&text, letter, size);
    struct packet *p = packet_make(&f->hub, kind, &text);
    assert_non_null(p);
    p->n = n;
    viewer_push(&f->viewer, p);
    packet_drop(p);
    buf_free(&text);
}

/* What the page reads next: the letters of all that waits. */
static const char *read_all(struct fixture *f)
{
    static char letters[100];
    size_t n = 0;
    struct packet *p;
    while ((p = hub_next(&f->hub, &f->viewer)) != NULL) {
        letters[n++] = p->text[0];
        packet_drop(p);
    }
    letters[n] = '\0';
    return letters;
}

static void messages_come_in_their_order(void **state)
{
    struct fixture *f = *state;
    push(f, PACKET_FIRST, 0, 'a', 10);
    push(f, PACKET_RESULT, 1, 'b', 10);
    push(f, PACKET_ROWS, 5, 'c', 10);
    struct buf text = BUF_INIT;
    buf_adds(&text, "d");
    hub_send(&f->hub, &f->viewer, &text);
    buf_free(&text);
    assert_int_equal(f->woken, 1);
    assert_int_equal(f->viewer.last, 1);
    assert_string_equal(read_all(f), "abcd");
    assert_string_equal(read_all(f), "");
    assert_false(f->viewer.wants_state);
}

static void who_falls_behind_begins_anew(void **state)
{
    struct fixture *f = *state;
    push(f, PACKET_FIRST, 0, 'a', 10);
    push(f, PACKET_RESULT, 6, '6', 10);
    struct packet *sending = hub_next(&f->hub, &f->viewer);
    assert_int_equal(sending->text[0], 'a');
    packet_drop(sending);
    push(f, PACKET_ROWS, 3, 'r', 10);
    push(f, PACKET_KEPT, 0, 'k', 10);
    for (uint64_t n = 7; n < 20; n++)
        push(f, PACKET_RESULT, n, (char)('A' + n), 10);
    push(f, PACKET_ROWS, 4, 'R', 10);
    assert_true(f->viewer.behind);
    assert_int_equal(f->viewer.skipped, 14); /* 6 to 19 */
    assert_int_equal(f->viewer.skipped_rows, 7);
    assert_int_equal(f->viewer.last, 5); /* the last one it has */
    assert_string_equal(read_all(f), "k");
    assert_true(f->viewer.wants_state);
    assert_false(f->viewer.behind);
    push(f, PACKET_RESULT, 20, 'x', 10); /* before it has its state */
    assert_int_equal(f->viewer.skipped, 15);
    assert_string_equal(read_all(f), "");
}

static void large_results_wait_alone(void **state)
{
    struct fixture *f = *state;
    push(f, PACKET_RESULT, 1, 'a', HUB_QUEUE_BYTES + 1);
    assert_false(f->viewer.behind);
    push(f, PACKET_RESULT, 2, 'b', 10);
    assert_true(f->viewer.behind);
    assert_int_equal(f->viewer.skipped, 2);
}

static void what_has_to_arrive_piles_up_only_so_far(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < HUB_QUEUE_MESSAGES; i++)
        push(f, PACKET_KEPT, 0, 'k', 10);
    assert_false(f->viewer.hopeless);
    push(f, PACKET_KEPT, 0, 'k', 10);
    assert_true(f->viewer.hopeless);
    assert_int_equal(f->viewer.queued, HUB_QUEUE_MESSAGES);
}

static void who_leaves_is_told_no_more(void **state)
{
    struct fixture *f = *state;
    push(f, PACKET_FIRST, 0, 'a', 10);
    push(f, PACKET_KEPT, 0, 'k', 10);
    push(f, PACKET_RESULT, 1, 'b', 10);
    push(f, PACKET_INFO, 0, 'i', 10);
    push(f, PACKET_KEPT, 0, 'l', 10);
    push(f, PACKET_ROWS, 1, 'r', 10);
    f->viewer.wants_state = true;
    viewer_forget(&f->viewer);
    assert_null(f->viewer.trace);
    assert_false(f->viewer.wants_state);
    push(f, PACKET_KEPT, 0, 'm', 10);
    assert_string_equal(read_all(f), "klm");
}

static void slow_readers_of_much_are_let_go(void **state)
{
    struct fixture *f = *state;
    push(f, PACKET_FIRST, 0, 'a', HUB_LARGE + 1);
    assert_string_equal(read_all(f), "a");
    atomic_fetch_add(&f->hub.held, HUB_HELD);
    push(f, PACKET_FIRST, 0, 'b', HUB_LARGE);
    push(f, PACKET_RESULT, 1, 'c', 10);
    assert_false(f->viewer.hopeless);
    push(f, PACKET_FIRST, 0, 'd', HUB_LARGE + 1);
    assert_true(f->viewer.hopeless);
    atomic_fetch_sub(&f->hub.held, HUB_HELD);
    assert_string_equal(read_all(f), "bc");
}

/* What there was no memory for must not be missing without a word. */
static void out_of_memory_lets_go(void **state)
{
    struct fixture *f = *state;
    viewer_push(&f->viewer, NULL);
    assert_true(f->viewer.hopeless);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_come_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_falls_behind_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_results_wait_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_to_arrive_piles_up_only_so_far, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_leaves_is_told_no_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slow_readers_of_much_are_let_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(out_of_memory_lets_go, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
