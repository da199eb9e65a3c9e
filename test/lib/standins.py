"""standins - stand-ins of nodes: what a consumer needs of many nodes, without a VM.

    nodes = Standins(50, keys=1000)           # they listen, and an epmd of their own lists them
    nodes.names                               # ["s0@host", ...], with the environment nodes.environment and the cookie COOKIE
    nodes.readings()                          # how many readings of aggregations the slowest of them has answered
    nodes.nodes[3].silent = True              # that one takes what comes and answers nothing

Each speaks Erlang's distribution and the agent's protocol (doc/agent-protocol.md) as far as a trace goes that is in order. A node has one function,
m:f/1, an agent that is in use already, and the aggregation 0, of whose keys it sends the same additions at each reading. So the consumer's work is
the whole of what it has with real nodes, and that of the nodes is next to none.

The keys are texts, for a program such as `erlang*:m:f:entry { @[copyinstr(arg1)] = count(); }`; a value is a list of words.
"""
import hashlib
import os
import re
import selectors
import socket
import struct
import threading
import time

import erlt
from etf import Atom, Opaque, _get, encode

COOKIE = "standins"
ANSWER = 1 << 20  # bytes of blocks in one answer, as the agent has it
AGGREGATIONS = 2
FLAGS = 0xd07df7fbd  # of a node of OTP 25
FIRST_PID = 5_000_000  # no process has such a number


def drops():
    """The number of kinds of drops in a node's counters."""
    with open(os.path.join(erlt.ROOT, "guest", "words", "drops.list"), encoding="utf-8") as f:
        return 1 + max(int(n) for n in re.findall(r"^WORD_DROP\((\d+)", f.read(), re.M))


COUNTS = encode((1,) + (0,) * (5 + drops()) + ([], 0))[1:]  # something has fired


def entry(key, words):
    """An entry of aggregation 0 (guest/dif/record.h)."""
    text = key.encode()
    body = struct.pack(f"<{len(words)}Q", *words) + struct.pack("<I", len(text)) + text
    size = (16 + len(body) + 7) // 8 * 8
    return (struct.pack("<IIII", size, 0, 4 + len(text), 0) + body).ljust(size, b"\0")


def answers(keys, words):
    """The answers to one reading of these keys, each without its head."""
    parts, size = [[]], 0
    for key in keys:
        if size >= ANSWER:
            parts, size = parts + [[]], 0
        parts[-1].append(entry(key, words))
        size += len(parts[-1][-1])
    parts = [b"".join(p) for p in parts]
    blocks = [struct.pack("<BBHI", AGGREGATIONS, 0, 0, len(p)) + p for p in parts]
    return [reading([b], i + 1 < len(blocks)) for i, b in enumerate(blocks)]


def reading(blocks, more, state="running"):
    return b"\x68\x08" + encode(Atom("ok"))[1:] + encode(Atom(state))[1:] + COUNTS + encode(blocks)[1:] + encode(more)[1:] + encode([])[1:] * 3


class Peer:
    """One connection."""

    def __init__(self, node, sock):
        self.node, self.sock, self.data, self.step = node, sock, bytearray(), 0
        self.challenge = int.from_bytes(os.urandom(4), "big")
        self.left = []  # of the answers to the last reading

    def packets(self):
        """The packets that are complete."""
        size = 2 if self.step < 2 else 4
        while len(self.data) >= size:
            n = int.from_bytes(self.data[:size], "big")
            if len(self.data) < size + n:
                return
            packet = bytes(self.data[size:size + n])
            del self.data[:size + n]
            yield packet
            size = 2 if self.step < 2 else 4

    def shake(self, packet):
        """The handshake: the name, then the proof that it knows the cookie."""
        if self.step == 0:
            name = self.node.name.encode()
            head = struct.pack(">QIIH", FLAGS, self.challenge, 4, len(name))
            for answer in (b"sok", b"N" + head + name):
                self.put(struct.pack(">H", len(answer)) + answer)
            self.step = 1
        elif packet[:1] == b"r":
            theirs = int.from_bytes(packet[1:5], "big")
            proof = b"a" + hashlib.md5((COOKIE + str(theirs)).encode()).digest()
            self.put(struct.pack(">H", len(proof)) + proof)
            self.step = 2

    def put(self, data):
        self.sock.setblocking(True)
        self.sock.sendall(data)
        self.sock.setblocking(False)

    def send(self, to, message):
        control = encode((2, Atom(""), to))
        self.put(struct.pack(">I", 1 + len(control) + len(message)) + b"p" + control + message)

    def take(self, packet):
        if not packet:
            self.put(b"\0\0\0\0")  # a tick
            return
        control, at = _get(packet, 2)
        if control[0] not in (2, 6) or self.node.silent:
            return
        message, _ = _get(packet, at + 1)
        if control[0] == 6:
            asker, (_, module, function, *_) = message
            self.send(asker, encode((Atom("rex"), self.node.result(module, function, message[1][3]))))
        elif message[2] != "alive":
            self.node.stopped &= message[3] != "close"  # the next trace is another one
            _, asker, number, request = message
            self.send(asker, b"\x83\x68\x03" + encode(Atom("erltrace"))[1:] + encode(number)[1:] + self.reply(request))

    def reply(self, request):
        what = request[0] if isinstance(request, tuple) else request
        self.node.running = what != "close" and (self.node.running or what == "go")
        self.node.stopped |= what == "stop"
        if what != "read":
            return encode(self.node.reply(what, request))[1:]
        if self.node.stopped:
            return reading([], False, "drained")
        if request[1] & AGGREGATIONS:
            self.left = list(self.node.answers)
        if not self.left:
            return reading([], False)
        self.node.read += len(self.left) == 1
        return self.left.pop(0)


class Standin:
    def __init__(self, number, made):
        self.number, self.name, self.answers = number, f"s{number}@{erlt.HOST}", made
        self.read, self.silent, self.running, self.stopped, self.peers = 0, False, False, False, []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=8)
        self.port = self.listener.getsockname()[1]
        self.agent = Opaque(b"\x58" + encode(Atom(self.name))[1:] + struct.pack(">III", 100, 0, 4))

    def hang_up(self):
        """Ends its connections."""
        for sock in self.peers:
            sock.shutdown(socket.SHUT_RDWR)

    def result(self, module, function, args):
        """What a function of the node returns."""
        if (module, function) == ("erlang", "system_info"):
            return {"otp_release": b"25", "system_architecture": b"x86_64-pc-linux-gnu"}[args[0]]
        return {"vsn": b"1", "attach": (Atom("ok"), self.agent)}[function]

    def reply(self, what, request):
        """The agent's answer."""
        pid = FIRST_PID + self.number
        ok = Atom("ok")
        return {"open": lambda: (ok, [(Atom("pid"), pid), (Atom("otp"), 25), (Atom("cpus"), 1), (Atom("passes"), 0)]),
                "modules": lambda: (ok, [Atom("m")]),
                "functions": lambda: (ok, [(Atom(m), [(Atom("f"), 1)], []) for m in request[1]]),
                "clock": lambda: (ok, (time.monotonic_ns(), time.time_ns(), time.monotonic_ns())),
                "enable": lambda: (ok, [], []),
                "place": lambda: (ok, [], [(Atom("meta"), 1)])}.get(what, lambda: ok)()


class Standins:
    """So many of them. apart: the keys of each are its own; otherwise all have the same."""

    def __init__(self, count, keys, words=(1,), apart=False):
        def of(i):
            return answers([f"module_{i if apart else 0}_of:function_{k}/2" for k in range(keys)], words)

        same = None if apart else of(0)
        self.nodes = [Standin(i, of(i) if apart else same) for i in range(count)]
        self.names = [n.name for n in self.nodes]
        self.epmd = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.environment = {"ERL_EPMD_PORT": str(self.epmd.getsockname()[1])}
        self.over, self.wake = socket.socketpair()
        threading.Thread(target=self._serve, daemon=True).start()

    def readings(self, but=()):
        return min(n.read for n in self.nodes if n not in but)

    def end(self):
        self.wake.close()

    def _names(self):
        sock, _ = self.epmd.accept()
        with sock:
            sock.recv(16)
            sock.sendall(struct.pack(">I", self.epmd.getsockname()[1]) +
                         "".join(f"name {n.name.partition('@')[0]} at port {n.port}\n" for n in self.nodes).encode())

    def _serve(self):
        with selectors.DefaultSelector() as wait:
            wait.register(self.over, selectors.EVENT_READ)
            wait.register(self.epmd, selectors.EVENT_READ)
            for node in self.nodes:
                wait.register(node.listener, selectors.EVENT_READ, node)
            while True:
                for key, _ in wait.select():
                    if key.fileobj is self.over:
                        return
                    if key.fileobj is self.epmd:
                        self._names()
                    elif isinstance(key.data, Standin):
                        sock, _ = key.data.listener.accept()
                        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        sock.setblocking(False)
                        key.data.peers.append(sock)
                        wait.register(sock, selectors.EVENT_READ, Peer(key.data, sock))
                    else:
                        self._hear(wait, key.data)

    @staticmethod
    def _hear(wait, peer):
        try:
            data = peer.sock.recv(1 << 20)
            peer.data += data
            for packet in peer.packets() if data else ():
                if peer.step < 2:
                    peer.shake(packet)
                else:
                    peer.take(packet)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            wait.unregister(peer.sock)
            peer.node.peers.remove(peer.sock)
            peer.sock.close()
