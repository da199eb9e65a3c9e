"""Pages that lose their connection, or their server, and come back: nothing is lost, nothing comes twice."""
import os
import signal
import socket
import stat
import tempfile

import client
import erlt

# A reading every 100 ms, keys that come as time goes, and records.
COUNT = ("#pragma D option quiet\n#pragma D option aggrate=100ms\nint i, row;\n"
         "tick-10ms { i++; @c[i % 7] = count(); @q[i / 20] = quantize(i % 50); }\ntick-100ms { row++; printf(\"row %d\\n\", row); }")
PAGE = "0123456789abcdef" * 2


class Page:
    """What a page has: readings with their keys, records, and where it stands."""

    def __init__(self, w, **start):
        self.w, self.n, self.news = w, 0, 0
        self.columns, self.keys, self.rows = {}, {}, []
        self.started = w.start(COUNT, page=PAGE, **start)

    def column(self, t, c):
        t.true(c["n"] not in self.columns, f"reading {c['n']} comes once")
        self.columns[c["n"]] = c
        for a in c["aggregations"]:
            for k in a.get("keys", []):
                self.keys[a["id"], k[0]] = k[1:]

    def take(self, t, m):
        if m["type"] == "results":
            self.column(t, m)
            self.n = m["n"]
        elif m["type"] == "history":
            for c in m["columns"]:
                self.column(t, c)
        elif m["type"] == "state":
            self.n = m["n"]
        elif m["type"] == "missed":
            t.equal(m["lost"], 0, "messages that are lost")
            for one in m["messages"]:
                self.take(t, one)
        if "news" in m:
            t.equal(m["news"], self.news + 1, "news in order")
            self.news = m["news"]
        if m["type"] == "records":
            self.rows += [r[3] for r in m["rows"]]

    def until(self, t, accept):
        kinds = ("results", "history", "state", "missed", "records", "errors", "drops", "stopped")
        while not accept():
            m = self.w.wait(kinds)
            self.take(t, m)
            if m["type"] == "stopped":
                return m
        return None

    def rejoin(self, t, s, **more):
        """Comes back on a new socket."""
        for m in self.w.messages[self.w.at:]:
            self.take(t, m)
        self.w = s.websocket()
        self.w.send(dict({"type": "rejoin", "id": 8, "page": PAGE, "trace": self.started["trace"], "n": self.n, "news": self.news}, **more))
        return self.w.wait(("started", "failed"))

    def whole(self, t):
        """Every reading is there once, with its keys, and every row."""
        t.equal(sorted(self.columns), list(range(1, self.n + 1)), "readings")
        total = {}
        for c in self.columns.values():
            for a in c["aggregations"]:
                for row in a.get("add", []):
                    t.true((a["id"], row[0]) in self.keys, f"a key of {row}")
                    total[a["id"]] = total.get(a["id"], 0) + (row[1] if a["id"] == 0 else sum(row[2::2]))
        t.equal(total[0], total[1], "what both aggregations have counted")
        numbers = [int(r.split()[1]) for r in "".join(self.rows).splitlines()]
        t.equal(numbers, list(range(1, len(numbers) + 1)), "rows")
        t.true(len(numbers) > 3, "there are rows")
        return total[0]


def away(s, trace, n):
    """Until a trace that nobody watches has made so many readings more: seen by a page that joins it, and leaves."""
    w = s.websocket()
    w.send({"type": "join", "id": 1, "trace": trace})
    first = w.wait("state")["n"]
    w.wait("results", lambda m: m["n"] >= first + n)
    w.send({"type": "stop"})
    w.wait("stopped")
    w.drop()


def test_a_cut_page_misses_nothing(t, s):
    """Cut twice, and back: each reading with its keys, each row, once."""
    page = Page(s.websocket())
    page.until(t, lambda: page.n >= 5)
    for _ in range(2):
        page.w.drop()
        away(s, page.started["trace"], 8)
        had = page.n
        m = page.rejoin(t, s)
        t.equal((m["type"], m["id"], m["trace"], m["t"]), ("started", 8, page.started["trace"], page.started["t"]), "the same trace")
        page.until(t, lambda: page.n >= had + 12)
    page.w.send({"type": "stop"})
    t.equal(page.until(t, lambda: False)["reason"], "left", "the last one ends it")
    page.whole(t)


def test_a_page_that_is_loaded_again(t, s):
    """It has nothing any more, and gets all readings again, with their keys, and the rows."""
    page = Page(s.websocket())
    page.until(t, lambda: page.n >= 10)
    page.w.close()
    again = page
    again.columns, again.keys, again.rows, again.n, again.news, again.w.at = {}, {}, [], 0, 0, len(again.w.messages)
    t.equal(again.rejoin(t, s)["type"], "started", "it waits for a page that closes")
    again.until(t, lambda: again.n >= 15)
    again.w.send({"type": "stop"})
    again.until(t, lambda: False)
    again.whole(t)


def test_how_long_a_trace_waits(t, _s):
    """A killed page's trace ends, a closed page's too, however long it would wait for a lost one; nothing is left in the node."""
    node = t.node()
    for args, go in ((("--keep", "1"), client.Socket.drop), (("--keep", "600"), client.Socket.close), (("--keep", "0"), client.Socket.drop)):
        s = t.serve(*args)
        w = s.websocket()
        t.equal(w.hello["limits"]["keep"], 1000 * int(args[1]), "how long, in words")
        w.start("erlang*:etw::entry { @ = count(); }", node=node.name, options={"maxload": "off"}, page=PAGE)
        t.true(node("etw:traced()"), "something is traced")
        go(w)
        client.await_idle(s)
        t.clean(node, 15000)
        w = s.websocket()
        w.send({"type": "rejoin", "id": 3, "page": PAGE, "trace": 1, "n": 0})
        t.equal(w.wait("failed")["id"], 3, "it is too late")
        t.equal(s.stop(), 0, "exit status")


def test_an_end_that_the_page_has_missed(t, s):
    """The trace ends while the page is away: what was counted last, and why it has ended, wait for it."""
    node = t.node()
    w = s.websocket()
    m = w.start("#pragma D option quiet\nint n;\nerlang*:etw:work:entry { @c = count(); n++; }\nerlang*:etw:work:entry /n == 107/ { exit(3); }",
                node=node.name, options={"maxload": "off"}, page=PAGE)
    w.drop()
    worker = node("etw:worker()")
    node(f"etw:calls({erlt.pid(worker)}, 107)")
    t.clean(node, 15000)
    back = s.websocket()
    back.send({"type": "rejoin", "id": 5, "page": PAGE, "trace": m["trace"], "n": 0})
    model = client.Model(back.wait("started"))
    model.take(back.wait("state"))
    end = back.wait("stopped")
    t.equal((end["reason"], end["status"]), ("exit", 3), "why")
    t.equal(model.by_key(0), {(): {0: 107}}, "the last data")


def test_the_earlier_connection(t, s):
    """A page that is back before the server has missed it: its earlier connection keeps nothing alive when it goes."""
    page = Page(s.websocket())
    page.until(t, lambda: page.n >= 2)
    earlier = page.w
    page.rejoin(t, s)
    earlier.drop()
    page.w.wait("viewers", lambda m: m["viewers"] == 1)
    page.w.send({"type": "stop"})
    t.equal(page.w.wait("stopped")["trace"], page.started["trace"], "it was the only viewer, and gets the last data")


def test_lost_while_probes_are_placed(t, s):
    """It does not know the number of its trace yet: its own number is enough."""
    node = t.slow_node()
    w = s.websocket()
    w.send({"type": "start", "id": 4, "node": node.name, "script": erlt.SLOW, "page": PAGE})
    w.wait("progress", lambda m: m["total"] > 0)
    w.drop()
    back = s.websocket()
    back.send({"type": "rejoin", "id": 6, "page": PAGE})
    m = back.wait(("started", "failed"))
    t.equal((m["type"], m["id"]), ("started", 6), f"it goes on: {m}")
    back.send({"type": "stop"})
    back.wait("stopped")
    t.clean(node, 15000)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def test_the_token_of_a_restarted_server(t, _s):
    """It is that of the server before it, killed or ended, but never one that somebody else can have read or made."""
    with tempfile.TemporaryDirectory() as state:
        port = free_port()
        path = os.path.join(state, "erltrace", f"token-127.0.0.1-{port}")

        def token(*args, how=signal.SIGTERM):
            s = t.serve("--listen", f"127.0.0.1:{port}", *args, XDG_STATE_HOME=state)
            found, hello = s.token, s.websocket().hello
            s.stop(how)
            t.true(hello["server"] != found, "the server's number is not its token")
            return found, hello["server"]
        first = token(how=signal.SIGKILL)
        mode = stat.S_IMODE(os.stat(path).st_mode), stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)
        t.equal(mode, (0o600, 0o700), "for its user only")
        second = token()
        t.equal((second[0] == first[0], second[1] == first[1]), (True, False), "the same token, another run")
        fresh, *_ = token("--new-token")
        t.true(fresh != first[0] and not os.path.exists(path), "a new one, which is not kept")
        last, *_ = token()
        t.true(last not in (first[0], fresh), "what was there before has no use any more")

        def refused(what, make):
            os.unlink(path)
            make()
            got, *_ = token()
            t.true(got != "ab" * 16, what)
            t.true(os.path.isfile(path) and not os.path.islink(path) and open(path, encoding="ascii").read() == got, f"{what}: replaced")

        def write(where, mode=0o600, text="ab" * 16):
            with open(where, "w", encoding="ascii") as f:
                f.write(text)
            os.chmod(where, mode)
        elsewhere = os.path.join(state, "elsewhere")
        write(elsewhere)
        refused("a file that others can read", lambda: write(path, 0o640))
        refused("a link", lambda: os.symlink(elsewhere, path))
        refused("a second name of a file", lambda: os.link(elsewhere, path))
        refused("a pipe", lambda: os.mkfifo(path, 0o600))
        refused("half a token", lambda: write(path, text="ab" * 10))
        if os.geteuid() == 0:
            refused("a file of another user", lambda: (write(path), os.chown(path, 65534, 65534)))
        write(path)
        t.equal(token()[0], "ab" * 16, "one that is as it should be")
        os.chmod(os.path.dirname(path), 0o777)
        t.true(token()[0] != "ab" * 16, "a folder in which others can write")
