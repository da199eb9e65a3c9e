"""HTTP and WebSocket for the tests of `erltrace serve`, on sockets, since the tests have to be able to speak badly, too.

    s = Server(binary, ["--listen", "127.0.0.1:0"])
    s.get("/api/state")                 -> Response(status, headers, body)
    w = s.websocket()                   -> Socket, after the server's hello
    w.send({"type": "start", ...}); w.wait("started")
"""
import base64
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time

import erlt
from erlt import Failed, Late

PATIENCE = erlt.PATIENCE


class Response:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1]) if lines[0].startswith("HTTP/1.") else 0
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()

    def json(self):
        return json.loads(self.body)


def receive_all(sock, deadline=PATIENCE):
    """Everything until the other side closes, or the body is whole."""
    data, end = b"", time.monotonic() + deadline
    while True:
        head, sep, body = data.partition(b"\r\n\r\n")
        m = re.search(rb"content-length: *(\d+)", head, re.I)
        if sep and m and len(body) >= int(m[1]):
            return data
        if sep and re.match(rb"HTTP/1.1 (101|304)", data):
            return data
        ready, _, _ = select.select([sock], [], [], max(0, end - time.monotonic()))
        if not ready:
            raise Late(f"no answer within {deadline} s: {data[:200]!r}")
        try:
            piece = sock.recv(65536)
        except ConnectionError:
            return data
        if not piece:
            return data
        data += piece


class Found:
    """A server, by the address that it has printed."""

    def __init__(self, url):
        m = re.fullmatch(r"(https?)://(\[[^]]*\]|[^:/]*):(\d+)/#token=([0-9a-f]{32})", url)
        if not m:
            raise Failed(f"erltrace serve printed {url!r}")
        self.url, self.host, self.port, self.token = url, m[2].strip("[]"), int(m[3]), m[4]
        self.netloc = f"{m[2]}:{m[3]}"

    def connect(self, timeout=PATIENCE):
        return socket.create_connection((self.host, self.port), timeout)

    def request(self, text, timeout=PATIENCE):
        with self.connect(timeout) as s:
            s.sendall(text if isinstance(text, bytes) else text.encode())
            return Response(receive_all(s, timeout))

    def get(self, path, method="GET", token=True, host=None, **headers):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or self.netloc}"]
        if token:
            lines.append(f"X-Erltrace-Token: {self.token if token is True else token}")
        lines += [f"{k.replace('_', '-')}: {v}" for k, v in headers.items()]
        return self.request("\r\n".join(lines) + "\r\nConnection: close\r\n\r\n")

    def upgrade(self, sock, token=True, path="/ws", origin=True, host=None, protocol="erltrace.1"):
        lines = [f"GET {path} HTTP/1.1", f"Host: {host or self.netloc}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        offered = ([protocol] if protocol else []) + (["token." + (self.token if token is True else token)] if token else [])
        if offered:
            lines.append("Sec-WebSocket-Protocol: " + ", ".join(offered))
        if origin:
            lines.append("Origin: " + (f"http://{self.netloc}" if origin is True else origin))
        sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def websocket(self, **how):
        s = self.connect()
        self.upgrade(s, **how)
        w = Socket(s)
        w.hello = w.wait("hello")
        return w


class Server(Found):
    """One `erltrace serve` of our own."""

    def __init__(self, command, args=(), env=None, log=None, **how):
        self.log = open(log or os.devnull, "ab")
        self.process = subprocess.Popen([*command, "serve", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, env=env, **how)
        try:
            super().__init__(self.process.stdout.readline().decode().strip())
        except Failed:
            self.process.kill()
            raise

    def memory(self, what="VmRSS"):
        """Resident bytes; with VmHWM the most that there ever were."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(what + r":\s+(\d+)", f.read())[1]) * 1024

    def cpu(self):
        return cpu(self.process.pid)

    def stop(self, how=signal.SIGTERM):
        """Ends it; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Late("the server does not end") from None
        finally:
            self.process.stdout.close()
            self.log.close()
        return status


class Socket:
    """One WebSocket. A thread reads all the time, as a browser does, and answers pings."""

    def __init__(self, sock, reading=True):
        self.sock, self.buffer = sock, b""
        self.messages, self.changed = [], threading.Condition()
        self.closed = None  # (code, reason) of the close frame, or (None, "") when there was none
        self.at = 0
        self.lock = threading.Lock()
        self.pings, self.answers = 0, True  # pings that came; whether they are answered
        self.thread = threading.Thread(target=self.read, daemon=True)
        head = b""
        while b"\r\n\r\n" not in head:
            piece = sock.recv(4096)
            if not piece:
                break
            head += piece
        head, _, self.buffer = head.partition(b"\r\n\r\n")
        self.response = Response(head + b"\r\n\r\n" + self.buffer)
        if self.response.status != 101:
            sock.close()
            raise Refused(self.response)
        sock.settimeout(None)
        if reading:
            self.thread.start()

    def fill(self, n):
        while len(self.buffer) < n:
            piece = self.sock.recv(1 << 16)
            if not piece:
                raise EOFError
            self.buffer += piece
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def read_frame(self):
        a, b = self.fill(2)
        n = b & 127
        if n == 126:
            n, = struct.unpack(">H", self.fill(2))
        elif n == 127:
            n, = struct.unpack(">Q", self.fill(8))
        return a >> 7, a & 15, self.fill(n)

    def read(self):
        parts = []
        try:
            while True:
                fin, op, data = self.read_frame()
                if op == 9:
                    with self.changed:
                        self.pings += 1
                        self.changed.notify_all()
                    if self.answers:
                        self.frame(data, op=10)
                elif op == 8:
                    self.end((struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005, data[2:].decode()))
                    return
                elif op in (0, 1):
                    parts.append(data)
                    if fin:
                        text, parts = b"".join(parts), []
                        with self.changed:
                            self.messages.append(json.loads(text))
                            self.changed.notify_all()
        except (OSError, EOFError, ValueError):
            self.end((None, ""))

    def end(self, how):
        with self.changed:
            if self.closed is None:
                self.closed = how
            self.changed.notify_all()

    def frame(self, data, op=1, fin=True, masked=True, length=None):
        n = len(data) if length is None else length
        head = bytes([(0x80 if fin else 0) | op])
        bit = 0x80 if masked else 0
        head += bytes([bit | n]) if n < 126 else bytes([bit | 126]) + struct.pack(">H", n) if n < 65536 else bytes([bit | 127]) + struct.pack(">Q", n)
        mask = os.urandom(4) if masked else b""
        if masked and data:
            key = (mask * (len(data) // 4 + 1))[:len(data)]
            data = (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(len(data), "big")
        with self.lock:
            try:
                self.sock.sendall(head + mask + data)
            except OSError:
                pass

    def send(self, message):
        self.frame(message if isinstance(message, bytes) else json.dumps(message).encode())

    def wait(self, kind, accept=lambda m: True, deadline=PATIENCE):
        """The next message of a type (or of one of several) that is accepted; those before it are passed over."""
        kinds = (kind,) if isinstance(kind, str) else kind
        end = time.monotonic() + deadline
        with self.changed:
            while True:
                while self.at < len(self.messages):
                    m = self.messages[self.at]
                    self.at += 1
                    if m["type"] in kinds and accept(m):
                        return m
                if self.closed is not None:
                    raise Failed(f"the socket was closed ({self.closed}) before {kind} came; last: {str(self.messages[-3:])[:2000]}")
                if not self.changed.wait(max(0.01, end - time.monotonic())) and time.monotonic() > end:
                    raise Late(f"no {kind} within {deadline} s; last: {str(self.messages[-3:])[:2000]}")

    def wait_closed(self, deadline=PATIENCE):
        end = time.monotonic() + deadline
        with self.changed:
            while self.closed is None:
                if not self.changed.wait(max(0.01, end - time.monotonic())) and time.monotonic() > end:
                    raise Late(f"the socket is still open after {deadline} s")
        return self.closed

    def await_pings(self, n, deadline=PATIENCE):
        """Until so many pings have come."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.pings >= n or self.closed is not None, deadline) or self.closed is not None:
                raise (Late if self.closed is None else Failed)(f"{self.pings} pings within {deadline} s; closed: {self.closed}")

    def seen(self, kind):
        with self.changed:
            return [m for m in self.messages if m["type"] == kind]

    def start(self, script, **more):
        """Starts a script and waits until it runs; what `started` says."""
        self.send(dict({"type": "start", "id": 1, "script": script}, **more))
        m = self.wait(("started", "failed"))
        if m["type"] == "failed":
            raise Failed(f"it does not start: {str(m)[:500]} {str(self.seen('diagnostics'))[:1500]}")
        return m

    def close(self):
        """As a tab that is closed."""
        self.frame(struct.pack(">H", 1001), op=8)
        self.drop()

    def drop(self):
        """As a browser that is killed."""
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if self.thread.is_alive():  # else it would read on from the next socket that has this number
            self.thread.join(PATIENCE)
        self.sock.close()


class Refused(Failed):
    def __init__(self, response):
        super().__init__(f"refused: {response.status} {response.body!r}")
        self.response = response


def cpu(pid):
    """Seconds of processor time that a process has taken so far, of all its threads, in the system too."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def await_idle(server, deadline=PATIENCE):
    """Until no trace runs on the server."""
    erlt.until(lambda: not server.get("/api/state").json()["traces"], lambda: f"traces still run: {server.get('/api/state').json()['traces']}", deadline)


def added(results, aggregation=0):
    """The additions of one `results` to an aggregation: {key id: [numbers]}."""
    for a in results["aggregations"]:
        if a["id"] == aggregation:
            return {row[0]: row[1:] for row in a.get("add", [])}
    return {}


class Model:
    """What a page knows after a `state` and the `results` after it: keys, and values as the script has them."""

    def __init__(self, started):
        self.functions = {a["id"]: a["function"] for a in started["aggregations"]}
        self.keys = {i: {} for i in self.functions}
        self.values = {i: {} for i in self.functions}
        self.totals = {i: {} for i in self.functions}  # everything that was ever added
        self.n = None

    def pairs(self, i, row):
        """A row as {bucket or position: number}."""
        if self.functions[i].endswith("quantize"):
            return {int(b): int(c) for b, c in zip(row[::2], row[1::2])}
        return dict(enumerate(map(int, row)))

    def take(self, m):
        if m["type"] == "state":
            self.n = m["n"]
            for a in m["aggregations"]:
                self.keys[a["id"]] = {row[0]: tuple(map(hashable, row[1:])) for row in a["keys"]}
                self.values[a["id"]] = {row[0]: self.pairs(a["id"], row[1:]) for row in a["now"]}
        elif m["type"] == "results":
            if m["n"] != self.n + 1:
                raise Failed(f"reading {m['n']} came after {self.n}")
            self.n = m["n"]
            for a in m["aggregations"]:
                self.apply(a["id"], a)

    def apply(self, i, a):
        extreme = self.functions[i] in ("min", "max")
        for row in a.get("keys", []):
            self.keys[i][row[0]] = tuple(map(hashable, row[1:]))
        for row in a.get("add", []):
            if row[0] >= 0 and row[0] not in self.keys[i]:
                raise Failed(f"an unknown key: {row}")
            for which, n in self.pairs(i, row[1:]).items():
                for to in (self.values, self.totals):
                    value = to[i].setdefault(row[0], {})
                    value[which] = n if extreme else value.get(which, 0) + n
        if "now" in a:
            self.values[i] = {row[0]: self.pairs(i, row[1:]) for row in a["now"]}
        for key in a.get("gone", []):
            del self.keys[i][key]
            self.values[i].pop(key, None)

    def by_key(self, i=0, totals=False):
        """{key parts: {bucket or position: number}} without what is zero."""
        names = dict(self.keys[i])
        names[-1] = "others"
        return {names.get(k, k): {b: n for b, n in v.items() if n} for k, v in (self.totals if totals else self.values)[i].items() if any(v.values())}


def hashable(v):
    return tuple(v) if isinstance(v, list) else v
