"""Clients that mean ill, and have the token or not: they get nowhere, and harm nobody. A page that looks on at a trace all the while has
to get every reading."""
import os
import random
import select
import socket
import struct
import time

import choice
import client
import erlt

# Readings are a second apart, so that none is left out before the server has had no time for some: four may wait for a page.
TICK = "#pragma D option aggrate=1s\ntick-10ms { @c = count(); }"


class Witness:
    """A page that minds its own business."""

    def __init__(self, t, s):
        self.t, self.w = t, s.websocket()
        self.w.start(TICK)
        self.w.wait("results")

    def content(self):
        """It still gets readings, and has missed none."""
        n = self.w.seen("results")[-1]["n"]
        self.w.wait("results", lambda m: m["n"] > n)
        got = [m["n"] for m in self.w.seen("results")]
        self.t.equal(got, list(range(got[0], got[0] + len(got))), "readings of a page that does no harm")


def bounded(t, s, before, most):
    """The server has not grown by so many MiB. (What sanitizers keep of what was freed is no matter of the server's.)"""
    grown = (s.memory() - before) >> 20
    t.true(os.environ.get("SANITIZE") or grown < most, f"the server has grown by {grown} MiB")


def closed_with(t, w, *codes):
    code, _ = w.wait_closed()
    t.true(code in codes, f"close code {code}, expected one of {codes}")


def test_malformed_messages(t, s):
    witness = Witness(t, s)
    for text in (b"", b"{", b"[]", b"1", b"null", b"\"start\"", b"{}", b'{"type":1}', b'{"type":"nosuch"}', b'{"type":"start"}',
                 b'{"type":"start","script":1}', b'{"type":"start","script":"BEGIN{}","id":"x"}', b'{"type":"start","script":"a","args":"b"}',
                 b'{"type":"start","script":"a","args":[1]}', b'{"type":"start","script":"a","options":[]}',
                 b'{"type":"start","script":"a","options":{"x":1}}', b'{"type":"start","script":"a","node":{}}', b'{"type":"join","trace":-1}',
                 b'{"type":"rejoin","trace":1}', b'{"type":"rejoin","page":"x"}', b'{"type":"rejoin","page":"' + b"A" * 32 + b'"}',
                 b'{"type":"rejoin","page":"' + b"a" * 33 + b'"}', b'{"type":"rejoin","page":"' + b"a" * 32 + b'","n":-1}',
                 b'{"type":"rejoin","page":"' + b"a" * 32 + b'","news":"0"}', b'{"type":"start","script":"a","page":1}',
                 b'{"type":"join","trace":"1"}', b'{"type":"join","trace":1e3}', b'{"type":"stop","all":1}', b'{"type":"ping","t":"x"}',
                 b'{"type":"start","type":"stop"}', b'{"type":"start","script":"\\u0000"}', b'{"type":"start","script":"\\ud800"}',
                 b'{"type":"join","trace":99999999999999999999999}', b"[" * 5000, b'{"a":' * 3000, b'{"type":"ping"}garbage',
                 b'{"type":"start","script":"a","args":[' + b",".join([b'"x"'] * 65) + b"]}",
                 b'{"type":"start","script":"a","args":["' + b"x" * 1025 + b'"]}',
                 b'{"type":"start","script":"a","view":"' + b"x" * 5000 + b'"}'):
        w = s.websocket()
        w.send(text)
        closed_with(t, w, 1008)
    w = s.websocket()
    w.frame(b"\xff\xfe\xfd")
    closed_with(t, w, 1007, 1008, None)
    w = s.websocket()
    w.frame(b'{"type":"ping"}', op=2)
    closed_with(t, w, 1008)
    witness.content()


def test_malformed_frames(t, s):
    witness = Witness(t, s)
    for how in ({"masked": False}, {"op": 3}, {"op": 11}, {"op": 0}, {"op": 9, "fin": False}, {"op": 9, "length": 200}):
        w = s.websocket()
        w.frame(b'{"type":"ping"}', **how)
        w.drop()
    chaos = random.Random(choice.seed("web/garbage"))
    for _ in range(30):
        w = s.websocket()
        try:
            w.sock.sendall(bytes(chaos.randrange(256) for _ in range(chaos.randrange(1, 300))))
        except OSError:
            pass
        w.drop()
    w = s.websocket()  # a message in many pieces is a message
    for i, piece in enumerate([b'{"ty', b'pe":', b'"ping"', b',"t":5}']):
        w.frame(piece, op=0 if i else 1, fin=i == 3)
    t.equal(w.wait("pong")["t"], 5, "pieces")
    witness.content()


def test_oversized(t, s):
    witness = Witness(t, s)
    most = witness.w.hello["limits"]["message"]
    w = s.websocket()
    w.frame(b"x" * (most + 1))
    closed_with(t, w, 1009, None)
    w = s.websocket()
    w.frame(b"x" * 100, length=1 << 40)  # announces a terabyte
    before = s.memory()
    for _ in range(200):
        try:
            w.sock.sendall(b"x" * 65536)
        except OSError:
            break
    w.wait_closed()
    bounded(t, s, before, 64)
    w = s.websocket()
    w.frame(b"x", fin=False)
    for _ in range(most // 1000 + 10):
        w.frame(b"x" * 1000, op=0, fin=False)
    closed_with(t, w, 1009, None)
    w = s.websocket()
    w.send({"type": "start", "id": 1, "script": "/*" + "x" * (witness.w.hello["limits"]["script"]) + "*/ BEGIN {}"})
    t.equal(w.wait("failed")["tag"], "WEB_SCRIPT", "a script that is too long")
    r = s.request("GET /" + "a" * 20000 + f" HTTP/1.1\r\nHost: {s.netloc}\r\n\r\n")
    t.true(r.status in (0, 400, 403, 404, 414, 431), f"a long address: {r.status}")
    r = s.request(f"GET / HTTP/1.1\r\nHost: {s.netloc}\r\n" + "".join(f"X-{i}: {'y' * 500}\r\n" for i in range(100)) + "\r\n")
    t.true(r.status in (0, 400, 403, 413, 431), f"many headers: {r.status}")
    witness.content()


def test_rejoining_in_vain(t, s):
    """Numbers that cannot be, pages that were never there, and traces of others: an answer, and nothing breaks."""
    witness = Witness(t, s)
    trace = s.get("/api/state").json()["traces"][0]["trace"]
    w = s.websocket()
    for more in ({}, {"trace": 999}, {"trace": trace + 1, "n": 1}):
        w.send(dict({"type": "rejoin", "id": 1, "page": "0" * 32}, **more))
        t.equal(w.wait(("failed", "started"))["type"], "failed", f"{more}")
    for more in ({"n": 2**62, "news": 2**62}, {"n": 2**63 - 1}, {}):
        w.send(dict({"type": "rejoin", "id": 2, "page": "0" * 32, "trace": trace}, **more))
        w.wait("started")
        n = w.wait("state")["n"]
        t.equal(w.wait("results")["n"], n + 1, f"it goes on after {more}")
    w.send({"type": "stop"})
    w.wait("stopped")
    witness.content()


def test_too_many_messages(t, s):
    witness = Witness(t, s)
    w = s.websocket()
    for i in range(2000):
        w.send({"type": "ping", "t": i})
    closed_with(t, w, 1008)
    witness.content()


def test_answers_nobody_reads(t, s):
    """Questions without end, and no reading of the answers: the page is let go before they pile up."""
    witness = Witness(t, s)
    sock = s.connect()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.upgrade(sock)
    w = client.Socket(sock, reading=False)
    before = s.memory()
    bad = "BEGIN { " + "nosuch(); " * 500 + "}"

    def gone():
        try:
            w.sock.sendall(b"")
            w.send({"type": "check", "id": 1, "script": bad})
            w.sock.send(b"", socket.MSG_DONTWAIT)
            _, _, broken = select.select([], [], [w.sock], 0.06)
            return bool(broken) or w.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0 or state_of(w.sock) != 1
        except OSError:
            return True

    erlt.until(gone, "the server never lets the page go", pause=0)
    bounded(t, s, before, 64)
    witness.content()


def test_joining_without_reading(t, s):
    """A trace with much to tell, joined again and again by a page that reads nothing of it: it waits once."""
    witness = Witness(t, s)
    texts = "".join(f'@["{"x" * 100}", x + {k}] = quantize(x); ' for k in range(200))
    w = s.websocket()
    m = w.start(f"#pragma D option quiet\n#pragma D option aggsize=16m\n#pragma D option aggrate=500ms\nint x;\n"
                f"tick-10ms /x < 12000/ {{ {texts} x += 200; @all = sum(200); }}")
    model = client.Model(m)
    while model.totals[1].get(0, {}).get(0) != 12000:
        model.take(w.wait(("state", "results")))
    before = s.memory()
    sock = s.connect()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    s.upgrade(sock)
    slow = client.Socket(sock, reading=False)
    began, last = time.monotonic(), 0
    while last < 30 and (last < 8 or time.monotonic() - began < 12):  # each is a state of 1.5 MB; for 30 s the server waits for a page that hangs
        last += 1
        slow.send({"type": "join", "id": last, "trace": m["trace"]})
        n = w.seen("results")[-1]["n"]
        w.wait("results", lambda m: m["n"] > n)
    bounded(t, s, before, 24)
    slow.thread.start()
    slow.wait("started", lambda m: m["id"] == last)
    state = slow.wait("state")
    t.equal(len(state["aggregations"][0]["now"]), 12000, "what it reads in the end")
    t.true(len(slow.seen("state")) < 5, "states of before are gone")
    witness.content()


def state_of(sock):
    """The state of the TCP connection: 1 is established."""
    return struct.unpack("B", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1))[0]


def gets_in(t, s):
    """Who has the token gets in: at the first try, or once the server has closed some of those who came at the same moment."""
    def answered():
        try:
            return s.get("/api/state").status
        except OSError:
            return None

    t.equal(erlt.until(answered, "the server never lets in a client that has the token"), 200, "status of a client that has the token")


def test_a_thousand_connections(t, s):
    """Strangers that hold all the connections there are: who has the token still gets in, and nobody is disturbed."""
    witness = Witness(t, s)
    strangers = []
    half = f"GET / HTTP/1.1\r\nHost: {s.netloc}\r\n".encode()
    try:
        for i in range(1000):
            try:
                c = s.connect(10)
                if i % 2:
                    c.sendall(half)  # a request that never ends
                strangers.append(c)
            except OSError:
                pass
            if i % 250 == 100:
                gets_in(t, s)
        t.true(len(strangers) >= 500, "there are many")
        w = s.websocket()
        w.start(TICK + "\n")
        w.wait("results")
        witness.content()
    finally:
        for c in strangers:
            c.close()
    t.equal(s.get("/api/state").status, 200, "afterwards")


def start_in_time(t, w, script):
    """Starts a script, when other traces that take up the room have ended."""
    def started():
        w.send({"type": "start", "id": 1, "script": script})
        m = w.wait(("started", "failed"))
        if m["type"] == "failed":
            t.equal(m["tag"], "WEB_LIMIT", "why not")
        return m["type"] == "started"

    erlt.until(started, "there is never room for another trace", pause=0.1)


def test_too_many_pages(t, s):
    witness = Witness(t, s)
    limits = witness.w.hello["limits"]
    traces = []
    for i in range(limits["traces"] - 1):
        traces.append(s.websocket())
        start_in_time(t, traces[-1], f"BEGIN {{ i = {i}; }}")
    w = s.websocket()
    w.send({"type": "start", "id": 1, "script": "BEGIN { i = -1; }"})
    t.equal(w.wait("failed")["tag"], "WEB_LIMIT", "one trace too many")
    traces[0].close()
    start_in_time(t, w, "BEGIN { i = -1; }")
    pages = [w, *traces[1:]]
    while len(pages) + 1 < limits["viewers"]:
        pages.append(s.websocket())
    sock = s.connect()
    s.upgrade(sock)
    closed_with(t, client.Socket(sock), 1013)
    witness.content()
    for w in pages:
        w.drop()


def test_nasty_scripts(t, s):
    """Texts that a compiler must survive, and programs that a library must."""
    witness = Witness(t, s)
    deep = 3000
    texts = ["(" * 60000, "BEGIN { x = " + "(" * deep + "1" + ")" * deep + "; }", "BEGIN { x = " + "-" * 60000 + "1; }", "{" * 60000, "/*" * 30000,
             "\"" * 60001, "BEGIN { trace(\"" + "\\x" * 20000, "#" * 60000, "#line 99999999999999999999 \"x\"\nBEGIN {}", "BEGIN,\n" * 8000,
             "typedef struct a { struct a *x; } a;\n" * 1500, "".join(f"int v{i}; " for i in range(6000)) + "BEGIN {}", "\xff\xfe" * 9000,
             "BEGIN { " + "".join(f"@a{i} = lquantize(1, 0, 60000, 1); " for i in range(900)) + "}",
             "BEGIN { x = " + "!" * 30000 + "1; }", "BEGIN { " + "if (1) { " * 3000 + "}" * 3000 + " }", "#!" * 30000, "BEGIN { $$$$ }",
             "inline int x = x; BEGIN { y = x; }", "BEGIN { x = " + " ? ".join(["1"] * 9000) + "; }", "translator int <int *p> { };" * 2000,
             "erlang*:::entry" * 4000, ":::" * 20000, "*:*:*:* { " * 6000, "BEGIN { self->" + "x" * 60000 + " = 1; }"]
    chaos = random.Random(choice.seed("web/programs"))
    words = ["BEGIN", "{", "}", "(", ")", "@", "[", "]", "=", ";", "quantize", "count()", "1", "\"x\"", "/", "self->x", "this->y", "*", "->", "printf", ",", "\n"]
    texts += [" ".join(chaos.choice(words) for _ in range(2000)) for _ in range(20)]
    for text in texts:
        w = s.websocket()
        w.send({"type": "start", "id": 1, "script": text[:60000]})
        m = w.wait(("started", "failed"))
        w.drop()
        t.true(m["type"] in ("started", "failed"), text[:40])
    runs = ["tick-1ms { @[timestamp] = count(); }", "tick-1ms { @[timestamp] = quantize(timestamp); clear(@); trunc(@); }",
            ("tick-1ms { printf(\"%s\", \"" + "x" * 200 + "\"); } ") * 40, "tick-1ms { @ = lquantize(timestamp, 0, 60000, 1); }",
            "tick-1ms { @a = count(); clear(@a); clear(@a); trunc(@a, 1); normalize(@a, 0); }", "BEGIN { exit(1); } END { exit(2); }",
            "tick-1ms { @a[i++ % 1000] = count(); printa(@a); }", "tick-1ms { setopt(\"aggrate\", \"1ns\"); @ = count(); }"]
    sockets = []
    for text in runs:
        w = s.websocket()
        w.start("#pragma D option bufsize=64k\n" + text, options={"aggrate": "100ms"})
        sockets.append(w)
    before = s.memory()
    for w in sockets:
        w.wait(("results", "stopped"), lambda m: m["type"] == "stopped" or m["n"] >= 15)
    bounded(t, s, before, 256)
    witness.content()


def test_slowly_said_requests(t, s):
    """A header, a byte at a time: the connection is closed in the end."""
    c = s.connect()
    c.sendall(b"GET / HTTP/1.1\r\n")

    def closed():
        try:
            c.sendall(b"x")
            ready, _, _ = select.select([c], [], [], 0.5)
            return ready and c.recv(100) == b""
        except OSError:
            return True

    erlt.until(closed, "the connection is still open", pause=0)


def test_chaos_of_pages(t, s):
    """Pages that come, start, join, stop and go at random."""
    witness = Witness(t, s)
    chaos = random.Random(choice.seed("web/chaos_of_pages"))
    pages = []
    for _ in range(300):
        what = chaos.random()
        try:
            if what < 0.3 or not pages:
                pages.append(s.websocket())
            elif what < 0.6:
                chaos.choice(pages).send({"type": "start", "id": 1, "script": f"tick-{chaos.choice([1, 5, 9])}ms {{ @[i++] = count(); printf(\"x\"); }}"})
            elif what < 0.7:
                chaos.choice(pages).send({"type": "join", "id": 2, "trace": chaos.randrange(1, 400)})
            elif what < 0.8:
                chaos.choice(pages).send({"type": "stop", "all": chaos.random() < 0.3})
            else:
                w = pages.pop(chaos.randrange(len(pages)))
                chaos.choice([w.close, w.drop])()
        except client.Failed:
            pass
    for w in pages:
        w.drop()
    witness.content()
