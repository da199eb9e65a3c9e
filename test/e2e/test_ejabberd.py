"""Debian's ejabberd, which has nothing to do with erltrace: the commands of doc/products.md lead to the session that is behind, to who fills its mailbox, and to
the table that is asked for.

Runs if `scripts/dev/deps ejabberd` has been run, as CI does. bench/profile-systems has the same server, with more load."""
import base64
import contextlib
import glob
import os
import re
import socket
import subprocess
import threading

import test_rabbit
from erlt import COOKIE, HOST, ROOT, Failed, Lines, Node, Skipped, cache, epmd, pid, until
from test_start import said_by

DOMAIN = "localhost"
CONFIG = """hosts: [{domain}]
loglevel: warning
listen:
  - port: {port}
    ip: "127.0.0.1"
    module: ejabberd_c2s
    max_stanza_size: 262144
    shaper: none
    access: all
auth_method: internal
acl: {{}}
modules:
  mod_caps: {{}}
  mod_carboncopy: {{}}
  mod_disco: {{}}
  mod_last: {{}}
  mod_offline: {{}}
  mod_ping: {{}}
  mod_privacy: {{}}
  mod_roster: {{}}
  mod_stream_mgmt: {{}}
"""


def folder(otp):
    """The folder of the server's files as this process sees it, and as the node does."""
    inside = os.path.join(cache(), f"otp-{otp}") if otp else ""
    return (inside + "/opt/ejabberd", "/opt/ejabberd") if otp else (os.path.join(cache(), "ejabberd"),) * 2


class User:
    """One XMPP client, up to where it has sent its presence. Its messages go to the user with the number `to`."""

    def __init__(self, port, n, to):
        self.s, self.n, self.rest = socket.create_connection(("127.0.0.1", port)), n, b""
        opening = (f"<?xml version='1.0'?><stream:stream to='{DOMAIN}' xmlns='jabber:client' "
                   "xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>")
        plain = base64.b64encode(f"\0u{n}\0secret".encode()).decode()
        self.ask(opening, b"</stream:features>")
        self.ask(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{plain}</auth>", b"<success")
        self.ask(opening, b"</stream:features>")
        self.ask("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>", b"</iq>")
        self.ask("<presence/>", b"<presence")
        self.message = f"<message to='u{to}@{DOMAIN}/r' type='chat' id='m'><body>a message of some length</body></message>".encode()

    def ask(self, text, until_comes):
        self.s.sendall(text.encode())
        got = b""
        while until_comes not in got:
            more = self.s.recv(65536)
            if not more or b"<failure" in got:
                raise Failed(f"ejabberd said: {got.decode(errors='replace')}")
            got += more

    def come(self):
        """Returns how many messages have come."""
        data = self.s.recv(65536)
        if not data:
            raise Failed("ejabberd closed a connection")
        text = self.rest + data
        self.rest = text[-9:] if not text.endswith(b"</message>") else b""
        return text.count(b"</message>")


class Server:
    """ejabberd in a folder of its own, with that many users, and a node to give orders."""

    def __init__(self, otp, at, users, flags=()):
        outside, inside = folder(otp)
        if not os.path.isdir(outside):
            raise Skipped("no ejabberd here: " + (f"bench/profile-systems --fetch --otp {otp}" if otp else "scripts/dev/deps ejabberd"))
        self.home, self.port, self.client = os.path.join(at, "ejabberd"), test_rabbit.free_ports(), None
        short = f"ejabberd{os.getpid()}"
        self.name = f"{short}@{HOST}"
        os.makedirs(self.home)
        for name, text in ((".erlang.cookie", COOKIE), ("ejabberd.yml", CONFIG.format(port=self.port, domain=DOMAIN))):
            with open(os.path.join(self.home, name), "w", encoding="ascii") as f:
                f.write(text)
        os.chmod(os.path.join(self.home, ".erlang.cookie"), 0o400)
        libs = inside + "/usr/lib/x86_64-linux-gnu"
        env = dict(os.environ, HOME=self.home, TMPDIR=self.home, ERL_LIBS=f"{inside}/usr/lib/erlang/lib:{libs}", LD_LIBRARY_PATH=libs,
                   EJABBERD_CONFIG_PATH=self.home + "/ejabberd.yml", EJABBERD_LOG_PATH=self.home + "/ejabberd.log", ERL_CRASH_DUMP="/dev/null",
                   ERLTRACE_CACHE=cache())
        epmd()
        within = [os.path.join(ROOT, "scripts", "dev", "in-otp"), otp] if otp else []
        self.p = subprocess.Popen([*within, "erl", *flags, "-noinput", "-sname", short, "-mnesia", "dir", f'"{self.home}/mnesia"', "-s", "ejabberd"],
                                  env=env, cwd=self.home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.pid, self.out = self.p.pid, Lines(self.p.stdout)
        try:
            until(self.listens, lambda: "ejabberd did not start: " + self.said())
            self.client = Node(otp=otp)
            for n in range(users):
                self.ask("ejabberd_auth", "try_register", f'<<"u{n}">>', f'<<"{DOMAIN}">>', '<<"secret">>')
        except BaseException:
            self.end()
            raise

    def listens(self):
        if self.p.poll() is not None:
            raise Failed("ejabberd has ended: " + self.said())
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        return False

    def ask(self, module, function, *args, patience=None):
        """Calls a function inside the server."""
        return self.client(f"rpc:call('{self.name}', {module}, {function}, [{', '.join(args)}])", patience)

    def session(self, n):
        """The process of a user's session, as the client calls it."""
        return self.ask("ejabberd_sm", "get_session_pid", f'<<"u{n}">>', f'<<"{DOMAIN}">>', '<<"r">>')

    def said(self):
        text = self.out.text()
        for name in glob.glob(self.home + "/*.log"):
            with open(name, encoding="utf-8", errors="replace") as f:
                text += f.read()
        return text[-6000:]

    def end(self):
        if self.client:
            self.client.end()
        self.p.kill()
        self.p.wait()


def test_products(t):
    """A session stands still while messages come."""
    if t.otp:
        raise Skipped("on the host's own OTP only")
    with open(os.path.join(ROOT, "doc", "products.md"), encoding="utf-8") as f:
        page = f.read().partition("\n## ejabberd\n")[2].partition("\n## ")[0]
    longest, senders, queries = (c.replace(" -p PID", "") for c in re.findall(r"^    \$ (erltrace .*)$", page, re.M))
    server = Server(None, t.folder, 2)
    try:
        sender, receiver = User(server.port, 0, 1), User(server.port, 1, 0)
        slow, over = server.session(1), threading.Event()
        server.client(f"ok = rpc:call('{server.name}', sys, suspend, [{pid(slow)}])")

        def send():
            while not over.wait(0.01):
                sender.s.sendall(sender.message)

        sending = threading.Thread(target=send, daemon=True)
        sending.start()
        try:
            said_by(t, server.pid, longest, rf"(?m)^xmpp_stream_in:init/1 +<0\.{slow.split('.')[1]}\.\d+> +\d+ +\d+$")
            said_by(t, server.pid, senders, r'(?m)^ +<<"u0">> +<<"u1">> +\d+$')
            said_by(t, server.pid, queries, r"(?m)^ +dirty_index_read/3 +session *$")
        finally:
            over.set()
            sending.join()
        server.client(f"ok = rpc:call('{server.name}', sys, resume, [{pid(slow)}])")
        until(receiver.come, "the session does not go on", pause=0)
        test_rabbit.clean_inside(server.ask)
        t.true("erltrace" not in server.said(), f"its log: {server.said()}")
    finally:
        server.end()
