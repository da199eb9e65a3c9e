/* test_relay.c - a way to a node through a relay: what goes out, what comes in, and what a relay
 * that does not keep to the protocol can do. The other end of the socket is played here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "etf/write.h"
#include "wire/relay.h"

static const erlang_pid agent = {.node = "nonode@nohost", .num = 91, .serial = 3};

struct both {
    struct conn *c;
    int fd; /* the relay's end */
};

static struct both both_open(void)
{
    struct both b;
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    assert_int_equal(relay_open(&b.c, fd[0]), 0);
    b.fd = fd[1];
    return b;
}

static void both_close(struct both *b)
{
    conn_close(b->c);
    if (b->fd >= 0)
        close(b->fd);
}

static void give_bytes(struct both *b, const void *p, size_t n)
{
    unsigned char h[4] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                          (unsigned char)(n >> 8), (unsigned char)n};
    assert_int_equal(write(b->fd, h, 4), 4);
    assert_int_equal(write(b->fd, p, n), (ssize_t)n);
}

/* {What, 1, ..}: what it has behind its name is made by `fill`. */
static void give(struct both *b, const char *what, int arity, void (*fill)(struct buf *x))
{
    struct buf x = BUF_INIT;
    etf_put_version(&x);
    etf_put_tuple(&x, arity);
    etf_put_atom(&x, what);
    fill(&x);
    give_bytes(b, x.data, x.len);
    buf_free(&x);
}

/* The next frame that came out; the bytes live until the next call. */
static struct etf taken(struct both *b)
{
    static unsigned char bytes[4096];
    size_t have = 0, want = 4;
    while (have < want) {
        ssize_t n = read(b->fd, bytes + have, want - have);
        assert_true(n > 0);
        have += (size_t)n;
        if (have == 4 && want == 4)
            want = 4 + ((size_t)bytes[2] << 8 | bytes[3]);
    }
    struct etf r = etf_over(bytes + 4, want - 4);
    etf_version(&r);
    return r;
}

static void fill_ok(struct buf *x)
{
    etf_put_atom(x, "ok");
}

static void fill_pid(struct buf *x)
{
    etf_put_pid(x, &agent);
}

static void fill_text(struct buf *x)
{
    etf_put_binary(x, "gone fishing", 12);
}

static void fill_first(struct buf *x)
{
    etf_put_int(x, 1);
    etf_put_atom(x, "one");
}

static void fill_second(struct buf *x)
{
    etf_put_int(x, 2);
    etf_put_atom(x, "two");
}

static void test_out(void **state)
{
    struct both b = both_open();
    struct buf x = BUF_INIT;
    erlang_pid to;
    (void)state;
    etf_put_version(&x);
    etf_put_tuple(&x, 3);
    etf_put_atom(&x, "erltrace");
    conn_put_self(b.c, &x);
    etf_put_atom(&x, "alive");
    assert_int_equal(conn_send(b.c, &agent, &x), 0);
    assert_int_equal(conn_link(b.c, &agent), 0);
    struct etf r = taken(&b);
    assert_true(etf_tuple(&r) == 3 && etf_atom_is(&r, "send"));
    etf_pid(&r, &to);
    assert_int_equal(ei_cmp_pids(&to, (erlang_pid *)&agent), 0);
    assert_true(etf_tuple(&r) == 3 && etf_atom_is(&r, "erltrace") && etf_atom_is(&r, "self") &&
                etf_atom_is(&r, "alive"));
    assert_true(!r.bad && r.p == r.end);
    r = taken(&b);
    assert_true(etf_tuple(&r) == 2 && etf_atom_is(&r, "link"));
    etf_pid(&r, &to);
    assert_true(!r.bad && r.p == r.end);
    /* The heartbeat is the same message, and comes by itself. */
    assert_int_equal(conn_heartbeat(b.c, &agent, &x, 1), 0);
    r = taken(&b);
    assert_true(etf_tuple(&r) == 3 && etf_atom_is(&r, "send"));
    buf_free(&x);
    both_close(&b);
}

static void test_in(void **state)
{
    struct both b = both_open();
    struct etf r;
    erlang_pid gone;
    (void)state;
    assert_int_equal(conn_recv(b.c, 0, &r), CONN_NOTHING);
    give(&b, "message", 2, fill_ok);
    give(&b, "down", 2, fill_pid);
    assert_int_equal(conn_recv(b.c, 1000, &r), CONN_MESSAGE);
    assert_true(etf_atom_is(&r, "ok"));
    assert_int_equal(conn_recv(b.c, 1000, &r), CONN_DOWN);
    etf_pid(&r, &gone);
    assert_int_equal(ei_cmp_pids(&gone, (erlang_pid *)&agent), 0);
    both_close(&b);
}

/* A message that has come with another one waits here, where no descriptor shows it. */
static void test_holds(void **state)
{
    struct both b = both_open();
    struct etf r;
    (void)state;
    assert_false(conn_holds(b.c));
    give(&b, "message", 2, fill_ok);
    assert_false(conn_holds(b.c)); /* the descriptor shows it */
    give(&b, "message", 2, fill_ok);
    assert_int_equal(conn_recv(b.c, 1000, &r), CONN_MESSAGE);
    assert_true(conn_holds(b.c));
    assert_int_equal(conn_recv(b.c, 0, &r), CONN_MESSAGE);
    assert_false(conn_holds(b.c));
    assert_int_equal(write(b.fd, "\0\0\0", 3), 3); /* the beginning of another one */
    assert_int_equal(conn_recv(b.c, 0, &r), CONN_NOTHING);
    assert_false(conn_holds(b.c));
    both_close(&b);
}

/* One thread sends the signs of life of all connections. A node that takes nothing does not keep it
 * from the others; and each frame that it gets at last is whole. */
static void test_beats(void **state)
{
    enum { BEATS = 20, LARGE = 300000 }; /* of which a socket takes a part */
    static char text[LARGE], bytes[4096];
    struct both full = both_open(), other = both_open();
    struct buf alive = BUF_INIT, large = BUF_INIT, frame = BUF_INIT;
    struct etf r;
    (void)state;
    for (size_t i = 0; i < LARGE; i++)
        text[i] = (char)(i % 251);
    etf_put_version(&alive);
    etf_put_atom(&alive, "alive");
    etf_put_version(&large);
    etf_put_binary(&large, text, LARGE);
    full.c->ops->send(full.c, &frame, &agent, &large);
    size_t left = frame.len;
    while (conn_offer(full.c, &frame))
        left += frame.len;
    assert_false(conn_offer(full.c, &frame)); /* the rest of the one before comes first */
    assert_int_equal(conn_heartbeat(full.c, &agent, &alive, 1), 0);
    assert_int_equal(conn_heartbeat(other.c, &agent, &alive, 1), 0);
    for (int i = 0; i < BEATS; i++) {
        r = taken(&other);
        assert_true(etf_tuple(&r) == 3 && etf_atom_is(&r, "send"));
    }
    for (size_t at = 0; left > 0;) { /* what was there, with its rest; then beats */
        const ssize_t n = read(full.fd, bytes, left < sizeof bytes ? left : sizeof bytes);
        assert_true(n > 0);
        left -= (size_t)n;
        for (ssize_t i = 0; i < n; i++, at = (at + 1) % frame.len)
            assert_int_equal(bytes[i], frame.data[at]);
    }
    for (int i = 0; i < BEATS; i++) {
        r = taken(&full);
        assert_true(etf_tuple(&r) == 3 && etf_atom_is(&r, "send"));
    }
    both_close(&full); /* the other goes on */
    for (int i = 0; i < BEATS; i++)
        taken(&other);
    both_close(&other);
    buf_free(&alive);
    buf_free(&large);
    buf_free(&frame);
}

static int call(struct both *b, struct etf *r)
{
    struct buf x = BUF_INIT;
    etf_put_nil(&x);
    int e = conn_call(b->c, "erlang", "node", &x, 1000, r);
    buf_free(&x);
    return e;
}

/* A result counts for the call that it answers: one that came too late is passed over. */
static void test_call(void **state)
{
    struct both b = both_open();
    struct etf r, out;
    (void)state;
    give(&b, "message", 2, fill_ok);
    give(&b, "reply", 3, fill_first);
    assert_int_equal(call(&b, &r), 0);
    assert_true(etf_atom_is(&r, "one"));
    out = taken(&b);
    assert_true(etf_tuple(&out) == 5 && etf_atom_is(&out, "call") && etf_int(&out) == 1 &&
                etf_atom_is(&out, "erlang") && etf_atom_is(&out, "node") && etf_list(&out) == 0 &&
                !out.bad && out.p == out.end);
    give(&b, "reply", 3, fill_first);
    give(&b, "reply", 3, fill_second);
    assert_int_equal(call(&b, &r), 0);
    assert_true(etf_atom_is(&r, "two"));
    give(&b, "reply", 3, fill_second);
    assert_int_equal(conn_recv(b.c, 0, &r), CONN_NOTHING);
    assert_string_equal(conn_lost(b.c), "");
    both_close(&b);
}

static void test_lost(void **state)
{
    struct both b = both_open();
    struct etf r;
    (void)state;
    give(&b, "lost", 2, fill_text);
    assert_int_equal(conn_recv(b.c, 1000, &r), ET_ELOST);
    assert_string_equal(conn_lost(b.c), "gone fishing");
    assert_int_equal(conn_link(b.c, &agent), ET_ELOST);
    both_close(&b);

    b = both_open();
    give_bytes(&b, "", 0);
    assert_int_equal(conn_recv(b.c, 1000, &r), ET_ELOST);
    assert_string_equal(conn_lost(b.c), "its relay process has ended");
    both_close(&b);

    b = both_open();
    close(b.fd);
    b.fd = -1;
    assert_int_equal(call(&b, &r), ET_ELOST);
    assert_true(conn_lost(b.c)[0] != '\0');
    both_close(&b);
}

/* What is no frame of the protocol is passed over; a size that cannot be ends the connection. */
static void test_hostile(void **state)
{
    static const char *const junk[] = {"x", "\x83", "\x83h\x02w\x07message", "\x83jmessage",
                                       "\x83h\x02w\x05reply"};
    struct both b = both_open();
    struct etf r;
    (void)state;
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        give_bytes(&b, junk[i], strlen(junk[i]));
        assert_int_equal(conn_recv(b.c, 0, &r), CONN_NOTHING);
    }
    assert_int_equal(write(b.fd, "\xff\xff\xff\xff", 4), 4);
    assert_int_equal(conn_recv(b.c, 1000, &r), ET_ELOST);
    assert_string_equal(conn_lost(b.c), "the node sent a message that is too large");
    both_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out),   cmocka_unit_test(test_in),      cmocka_unit_test(test_call),
        cmocka_unit_test(test_lost),  cmocka_unit_test(test_hostile), cmocka_unit_test(test_holds),
        cmocka_unit_test(test_beats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
