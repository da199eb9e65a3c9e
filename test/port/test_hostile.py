"""Input that keeps to nothing: a clear error and an exit code, never a crash, never more memory than the input has."""
import os
import random
import signal
import struct
import subprocess

import choice
from erlt import PATIENCE, TOOL, Failed
from etf import Atom, encode
from port import Port

GO = Atom("go")


def opened(t):
    port = Port()
    t.traces.append(port)
    return port


def fatal(t, port, words, status=2):
    """The program says what is wrong, on both of its outputs, and ends."""
    term = port.next()
    if term is None or term[0] != "fatal":
        raise Failed(f"no fatal error but {term}\n{port.err.text()}")
    t.match(term[1]["text"].decode(), words)
    t.equal((term[1]["code"], port.next(), port.wait()), ("request", None, status))
    t.true(port.err.wait(words) is not None, port.err.text())


def test_frames(t):
    for bytes_, words in ((b"\xff\xff\xff\xff", "more than 512 MB"),
                          (b"\x20\x00\x00\x01\x83", "more than 512 MB"),
                          (b"GET / HTTP/1.1\r\n\r\n", "more than 512 MB"),
                          (b"\0\0\0\0", "neither a term nor"),
                          (b"\0\0\0\1x", "neither a term nor"),
                          (b"\0\0\0\2R\0", "neither a term nor")):
        port = opened(t)
        port.write(bytes_)
        fatal(t, port, words)


def test_no_requests(t):
    """What is a frame, but no request."""
    hello = encode((Atom("request"), 1, (Atom("hello"), 1, [])))
    for data in (b"\x83", b"\x83h", b"\x83h\x03w\x07request", encode(Atom("go")), encode((Atom("request"), 1)),
                 encode((Atom("reply"), 1, GO)), encode((Atom("request"), 1 << 70, GO)), encode((Atom("request"), b"1", GO)),
                 encode((Atom("request"), 1, 7)), encode((Atom("request"), 1, ())), encode((Atom("request"), 1, (b"hello", 1, []))),
                 hello + b"x", hello[:-1], b"\x83P" + hello):
        port = opened(t)
        port.frame(data)
        fatal(t, port, "not a request")
    port = opened(t)
    port.send(GO)
    fatal(t, port, "has to be hello")


def test_unknown_requests(t):
    """Requests that are unknown, or not so, are refused; the program goes on."""
    port = opened(t)
    port.hello()
    deep = []
    for _ in range(10000):
        deep = [deep]
    for request in (Atom("fly"), (Atom("fly"), 1), (GO,), (GO, 1), (Atom("go"), []), (Atom("target"), Atom("moon")), (Atom("target"), (1, 2, 3)),
                    (Atom("target"), (Atom("relay"), 256, "x")), (Atom("target"), (Atom("relay"), -1, "x")), (Atom("target"), (Atom("pid"), 0)),
                    (Atom("target"), (Atom("pid"), 1 << 40)), (Atom("walk"), 3), (Atom("setopt"), "a", 1.5), (Atom("setopt"), [0x110000], 1),
                    (Atom("compile"), "x", Atom("script"), {1: 2}, []), (Atom("getopt"), list(range(70000)))):
        t.equal(port.refused(request)[0], "request", request)
    t.equal(port.refused((Atom("compile"), "x", Atom("script"), "BEGIN {}", ["a"] * 2000))[0], "request")
    t.equal(port.ask((Atom("setopt"), "quiet", Atom("none"))), None)
    t.equal(port.close(), 0)


def test_deep_terms(t):
    """A term that is nested as deep as a frame allows is passed over without recursion."""
    port = opened(t)
    port.hello()
    n = 1 << 20
    deep = b"\x68\x01" * n + b"\x6a"
    port.frame(b"\x83\x68\x03\x77\x07request\x61\x09\x68\x02\x77\x03fly" + deep)
    t.equal(port.answer(9)[0][1]["code"], "request")
    t.equal(port.close(), 0)


def test_sizes_that_lie(t):
    """Memory is taken for what comes, not for what is announced."""
    port = opened(t)
    port.hello()
    before = memory(port)
    port.write(struct.pack(">I", 500 << 20) + b"\x83" + b"x" * 1000)
    port.write(b"x" * 100000)
    t.true(memory(port) - before < 100 << 20, "memory for a frame that has not come")
    port.hang_up()  # in the midst of it
    t.equal(port.wait(), 0)
    port = opened(t)
    port.hello()
    port.frame(b"\x83\x68\x03\x77\x07request\x61\x09\x6c\x7f\xff\xff\xff\x6a")
    fatal(t, port, "not a request")


def memory(port):
    try:
        with open(f"/proc/{port.p.pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def test_changed_requests(t):
    """Good requests with some bytes changed."""
    rng = random.Random(choice.seed("port/changed_requests"))
    good = [encode((Atom("request"), 1, r)) for r in (
        (Atom("hello"), 1, [(Atom("queue"), 100000), (Atom("cookie"), "c")]), (Atom("setopt"), "bufsize", "1m"), (Atom("getopt"), "bufsize"),
        (Atom("target"), (Atom("relay"), 3, "a@b")), (Atom("target"), Atom("local")), (Atom("walk"), Atom("keep")), (Atom("consume"), 5, 0),
        (Atom("compile"), "x.d", Atom("script"), "BEGIN { trace(1); exit(0); }", ["a", "b"]), Atom("status"))]
    port = None
    for _ in range(400):
        if port is None or port.p.poll() is not None:
            port = opened(t)
            port.hello()
        data = bytearray(rng.choice(good))
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(1, len(data))] = rng.choice((0, 1, 97, 98, 104, 106, 107, 108, 109, 119, 131, 255, rng.randrange(256)))
        port.frame(bytes(data))
        term = port.next()
        if term[0] == "fatal":
            t.equal(port.wait(), 2)
        elif term[0] != "reply":
            raise Failed(f"{bytes(data)}: {term}")


def test_frames_for_relays(t):
    """... that there are not, and of which the library thinks nothing."""
    port = opened(t)
    port.hello()
    for number in (0, 5, 255, 256, 65535):
        port.to_relay(number, b"")
        port.to_relay(number, b"\x83jx")
    t.equal(port.ask((Atom("target"), (Atom("relay"), 7, "here@there"))), None)
    t.equal(port.refused((Atom("target"), (Atom("relay"), 7, "here@there")))[0], "request")
    for junk in (b"x", b"\x83", encode(7), encode((Atom("reply"), 99, 1)), encode((Atom("message"),)), encode((Atom("down"), 1))):
        port.to_relay(7, junk)
    port.to_relay(7, encode((Atom("lost"), "it went away")))
    port.compile("BEGIN {}")
    code, text = port.refused(GO)
    t.equal(code, "lost")
    t.match(text, "it went away")
    # A relay that had ended before it was asked for.
    port = opened(t)
    port.hello()
    port.to_relay(1, b"")
    port.ask((Atom("target"), (Atom("relay"), 1, "here@there")))
    port.compile("BEGIN {}")
    code, text = port.refused(GO)
    t.equal(code, "lost")
    t.match(text, "its relay process has ended")
    t.equal(port.close(), 0)


def test_many_requests_at_once(t):
    """More than wait in the program: they are read as it comes to them."""
    port = opened(t)
    port.hello()
    refs = [port.send((Atom("getopt"), "bufsize")) for _ in range(1000)]
    t.equal({port.answer(ref)[0] for ref in refs}, {(Atom("ok"), 4 << 20)})
    t.equal(port.close(), 0)


def test_end_of_input(t):
    """The owner is gone: at any moment the program ends by itself."""
    for text in (None, "tick-1h { trace(1); }", "tick-1ms { trace(1); }"):
        port = opened(t)
        port.hello()
        if text:
            port.ask((Atom("target"), Atom("local")))
            port.compile(text)
            port.ask(GO)
            port.send((Atom("consume"), 1000000, 3600000))
        port.hang_up()
        t.equal(port.wait(), 0)
    port = opened(t)
    port.hang_up()
    t.equal(port.wait(), 0)


def test_end_of_input_while_waiting(t):
    """... also while the library waits for an answer that does not come, and while more was sent than is read."""
    port = opened(t)
    port.hello()
    port.ask((Atom("target"), (Atom("relay"), 0, "silent@there")))
    port.compile("BEGIN {}")
    asked = []
    port.relays[0] = asked.append
    port.send(GO)
    for _ in range(200):
        port.send(Atom("status"))
    while not asked:
        t.true(port.p.poll() is None, "it ended")
    port.hang_up()
    t.equal(port.wait(), 0)


def test_signals(t):
    port = opened(t)
    port.hello()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        port.p.send_signal(number)
    t.equal(port.status()["state"], "none")
    port.p.send_signal(signal.SIGTERM)
    t.equal((port.next(), port.wait()), (None, 0))


def test_output_closed(t):
    """Nobody reads what it says."""
    reader, writer = os.pipe()
    os.close(reader)
    p = subprocess.Popen([TOOL, "port"], stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.DEVNULL)
    os.close(writer)
    hello = encode((Atom("request"), 1, (Atom("hello"), 1, [])))
    p.stdin.write(struct.pack(">I", len(hello)) + hello)
    p.stdin.flush()
    try:
        t.equal(p.wait(PATIENCE), 0)
    finally:
        p.kill()
        p.wait()
        p.stdin.close()
