"""Who gets in, and what strangers are told; headers and files."""
import gzip
import os
import pwd
import signal
import subprocess

import client
import erlt


def test_nothing_without_the_token(t, s):
    """The page's files are no secret; all else is said to who has the token, in the header of its own that no other page can send."""
    for path in ("/", "/heatmap", "/list", "/index.html", "/assets/x.js", "/nothing"):
        r = s.get(path, token=False)
        t.true(r.status in (200, 404, 503), f"{path}: {r.status}")
        t.true(s.token not in r.body.decode() and "set-cookie" not in r.headers, "nothing is given away")
    for path in ("/api/state", "/api/nodes", "/api/scripts", "/api/probes", "/api/nothing"):
        r = s.get(path, token=False)
        t.equal((r.status, r.json()["error"]["tag"]), (403, "WEB_TOKEN"), path)
        t.true(s.token not in r.body.decode() and "set-cookie" not in r.headers, "nothing is given away")
    for wrong in ("x", s.token[:-1], s.token + "0", "0" * 32, s.token.upper() if s.token.upper() != s.token else "y", s.token * 9):
        t.equal(s.get("/api/state", token=wrong).status, 403, wrong)
    for path, headers in (("/api/state?token=" + s.token, {}), ("/api/state", {"Cookie": f"erltrace-{s.port}={s.token}"}),
                          ("/api/state", {"Authorization": "Bearer " + s.token})):
        t.equal(s.get(path, token=False, **headers).status, 403, f"{path} {headers}")
    r = s.get("/?token=" + s.token, token=False)
    t.true("set-cookie" not in r.headers and "location" not in r.headers, "no cookie is made of it")


def test_other_users(t, s):
    """Who has heard the token, and is another user of this host, gets nowhere; unless that user was named, or a proxy is."""
    if os.geteuid() != 0:
        raise erlt.Skipped("only root can become somebody else")
    nobody = pwd.getpwnam("nobody")

    def asked(server, upgrade=False):
        """What nobody is answered: whose a socket is, is who made it."""
        os.seteuid(nobody.pw_uid)
        try:
            sock = server.connect()
        finally:
            os.seteuid(0)
        with sock:
            if upgrade:
                server.upgrade(sock)
            else:
                sock.sendall(f"GET /api/state HTTP/1.1\r\nHost: {server.netloc}\r\nX-Erltrace-Token: {server.token}\r\n\r\n".encode())
            return client.receive_all(sock).decode("latin-1")
    for upgrade in (False, True):
        answer = asked(s, upgrade)
        t.match(answer, "^HTTP/1.[01] 403 ")
        t.match(answer, '"tag":"WEB_USER".*--user NAME')
    for options in (("--user", "nobody"), ("--user", f"1,{nobody.pw_uid}"), ("--host", "https://shop.example")):
        other = t.serve(*options)
        try:
            t.match(asked(other), "^HTTP/1.1 200 ")
            t.match(asked(other, True), "^HTTP/1.1 101 ")
        finally:
            t.equal(other.stop(), 0, "exit status")
    p = subprocess.run([erlt.TOOL, "serve", "--user", "nobody-has-this-name"], stderr=subprocess.PIPE, check=False)
    t.equal(p.returncode, 2, "exit status")
    t.match(p.stderr.decode(), "--user takes names or numbers of users of this host")


def test_other_names_are_refused(t, s):
    """A page of another site that has its name point at us (DNS rebinding), and one that asks across."""
    port = s.port
    for host in ("evil.example", f"evil.example:{port}", f"localhost.evil.example:{port}", "127.0.0.1.evil.example", "[::1", "a b", ":80"):
        t.equal(s.get("/api/state", host=host).status, 403, host)
        t.equal(s.get("/", token=False, host=host).status, 403, host)
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "127.0.0.1", "LOCALHOST"):
        t.equal(s.get("/api/state", host=host).status, 200, host)
    for origin in ("http://evil.example", "null", f"https://{s.netloc}", f"http://{s.netloc}.evil.example", "http://localhost:1"):
        t.equal(s.get("/api/state", Origin=origin).status, 403, origin)
    t.equal(s.get("/api/state", Origin=f"http://{s.netloc}").status, 200, "its own")
    r = s.request("GET /api/state HTTP/1.0\r\n\r\n")
    t.true(r.status in (0, 403), "no Host at all")


def test_websockets_are_guarded(t, s):
    for how, status in (({"token": False}, 403), ({"token": "00"}, 403), ({"token": s.token + "0"}, 403), ({"origin": "http://evil.example"}, 403),
                        ({"origin": "null"}, 403), ({"host": "evil.example"}, 403), ({"path": "/"}, 404), ({"path": "/api/state"}, 404),
                        ({"protocol": "chat"}, 400), ({"protocol": None}, 400), ({"protocol": "erltrace.11"}, 400)):
        try:
            s.websocket(**how)
        except client.Refused as e:
            t.equal(e.response.status, status, str(how))
        else:
            raise erlt.Failed(f"it was let in: {how}")
    t.equal(s.websocket(origin=False).hello["protocol"], 1, "what is no browser has no Origin")


def test_only_reading(t, s):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        r = s.request(f"{method} /api/state HTTP/1.1\r\nHost: {s.netloc}\r\nX-Erltrace-Token: {s.token}\r\nContent-Length: 0\r\n\r\n")
        t.true(r.status in (405, 0), f"{method}: {r.status}")  # 0: not even an answer
    r = s.get("/api/state", method="HEAD")
    t.true(r.status == 200 and r.body == b"", "HEAD has no body")


def test_headers(t, s):
    for path, cache in (("/api/state", "no-store"), ("/api/nothing", "no-store"), ("/nothing", "no-store")):
        h = s.get(path).headers
        policy = h["content-security-policy"]
        t.true("default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, policy)
        t.equal(h["x-content-type-options"], "nosniff", "sniffing")
        t.equal(h["referrer-policy"], "no-referrer", "referrer")
        t.equal(h["cache-control"], cache, "caching of " + path)
        t.true("access-control-allow-origin" not in h, "nobody else's page may read it")


def test_files(t, s):
    """The page, when it was built in; else a page that says so."""
    r = s.get("/")
    if r.status == 503:
        t.match(r.body.decode(), "was not built into this erltrace", "what it says")
        t.equal(s.get("/heatmap").status, 503, "the same")
        raise erlt.Skipped("the page was not built into this erltrace")
    t.equal(r.status, 200, "status")
    t.equal(r.headers["content-type"], "text/html; charset=utf-8", "type")
    t.equal(r.headers["cache-control"], "private, no-cache", "it is asked for again")
    for path in ("/heatmap", "/list", "/index.html"):
        t.equal(s.get(path).body, r.body, path)
    t.equal(s.get("/", If_None_Match=r.headers["etag"]).status, 304, "not changed")
    packed = s.get("/", Accept_Encoding="gzip, br")
    if packed.headers.get("content-encoding") == "gzip":
        t.equal(gzip.decompress(packed.body), r.body, "the same, packed")
        t.true(packed.headers["etag"] != r.headers["etag"], "another tag")
    script = t.match(r.body.decode(), r'src="(/assets/[^"]+\.js)"', "a script")[1]
    h = s.get(script).headers
    t.match(h["cache-control"], "immutable", "named after its content")
    t.match(h["content-type"], "^text/javascript", "type")


def test_lists_are_packed(t, s):
    """Long ones, for who takes them so; the text is the same."""
    for path in ("/api/scripts", "/api/probes?limit=1000"):
        plain, packed = s.get(path), s.get(path, Accept_Encoding="br;q=0.9, gzip;q=0.5")
        t.equal((plain.status, packed.status, plain.headers.get("content-encoding"), packed.headers.get("content-encoding")),
                (200, 200, None, "gzip"), path)
        t.equal(gzip.decompress(packed.body), plain.body, "the same")
        t.true(len(packed.body) < len(plain.body) / 2, f"{len(plain.body)} bytes are {len(packed.body)}")
        t.equal((plain.headers["vary"], packed.headers["vary"]), ("accept-encoding", "accept-encoding"), "caches are told")
        t.true("content-encoding" not in s.get(path, Accept_Encoding="gzip;q=0, br").headers, "who does not want it")
    t.true("content-encoding" not in s.get("/api/modules?prefix=nosuch", Accept_Encoding="gzip").headers, "a short one is not worth it")
    w = s.websocket()
    w.start("BEGIN { i = 1; } /* " + "long " * 1000 + "*/")
    state = s.get("/api/state", Accept_Encoding="gzip")
    t.equal((state.headers.get("content-encoding"), gzip.decompress(state.body)), ("gzip", s.get("/api/state").body), "what runs")


def test_cookie_is_not_shown(t, s):
    """The node's cookie, which this server was started with: `erltrace serve` becomes another program, which does not show it either."""
    for name in ("cmdline", "environ"):
        with open(f"/proc/{s.process.pid}/{name}", "rb") as f:
            t.equal(erlt.COOKIE.encode() in f.read(), False, name)


def test_no_files_of_the_host(t, s):
    for path in ("/../../etc/passwd", "/..%2f..%2fetc/passwd", "/assets/../../../etc/passwd", "//etc/passwd", "/scripts/calls.d", "scripts/calls.d",
                 "/" + "a" * 5000):
        t.true(s.get(path).status in (0, 400, 403, 404), path)


def test_addresses_of_others(t, s):
    """Anything but loopback wants TLS, or an explicit word; what cannot be is said."""
    def refused(*args, **more):
        p = subprocess.run([erlt.TOOL, "serve", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=erlt.PATIENCE, check=False, env=dict(os.environ, ERLTRACE_ROOT=erlt.ROOT, **more))
        t.true(p.returncode != 0 and p.stdout == b"", f"{args}: {p}")
        return p.stderr.decode()
    t.match(refused("--listen", "0.0.0.0:0"), r"is not a loopback address.*\n.*--insecure", "no TLS")
    t.match(refused("--listen", "0.0.0.0:0", "--cert", "/nonexistent", "--key", "/nonexistent"), "cannot read /nonexistent", "no file")
    t.match(refused("--listen", "127.0.0.1:0", "--cert", "/etc/hosts"), "go together", "one of two")
    t.match(refused("--listen", "127.0.0.1:0", "--cert", "/etc/hosts", "--key", "/etc/hosts"), "/etc/hosts is not a certificate in PEM form", "no certificate")
    t.match(refused("--listen", "127.0.0.1:0", "--cert", "/etc", "--key", "/etc"), "cannot read /etc: Is a directory", "a folder")
    t.match(refused("--listen", "127.0.0.1:0", "--cookie-file", "/nonexistent"), "cannot read /nonexistent: No such file", "no cookie")
    t.match(refused("--listen", f"127.0.0.1:{s.port}"), "Address already in use\n.*--listen ADDRESS:0", "taken")
    t.match(refused("--listen", "192.0.2.1:0", "--insecure"), "Cannot assign requested address\n.*of this host", "somebody else's")
    t.match(refused("--listen", "somewhere:80"), "not an address", "a name")
    t.match(refused("--listen", "127.0.0.1:99999"), "--listen takes.*not: 127.0.0.1:99999", "no port")
    t.match(refused("--listen"), "an option needs a value: --listen", "no value")
    t.match(refused("--host", "a.example,https://b.example/page"), r"--host takes names.*not: a\.example,https://b\.example/page", "no name")
    t.match(refused("-x", "nosuch"), "Invalid option name", "an option")
    t.match(refused(DTRACE_OPT_AGGRATE="often"), "what the environment has as option aggrate: Invalid value", "an option of the environment")
    t.match(refused("--nosuch"), "unknown option: --nosuch", "usage")
    t.match(refused("word"), "takes no other words: word", "usage")
    other = t.serve("--listen", "0.0.0.0:0", "--insecure", "--host", "trace.example,https://shop.example")
    try:
        other.host, other.netloc = "127.0.0.1", f"127.0.0.1:{other.port}"
        t.equal(other.get("/api/state").status, 200, "by address")
        t.equal(other.get("/api/state", host="trace.example").status, 200, "by the name it was given")
        t.equal(other.get("/api/state", host="other.example").status, 403, "by another")
        for host in ("shop.example", None):  # what the proxy says that it was asked for, or its own name for us
            t.equal(other.get("/api/state", host=host, Origin="https://shop.example").status, 200, f"through a proxy, {host}")
        for origin in ("http://shop.example", "https://shop.example:444", "https://trace.example", "http://trace.example"):
            t.equal(other.get("/api/state", Origin=origin).status, 403, origin)
        t.equal(other.websocket(origin="https://shop.example").hello["protocol"], 1, "a page of the proxy")
    finally:
        t.equal(other.stop(), 0, "exit status")


def test_signals(t, _s):
    """A signal that was ignored when the server was started does not end it; others do."""
    other = client.Server(["nohup", *erlt.UNDER, erlt.TOOL], ["--listen", "127.0.0.1:0"], env=dict(os.environ, ERLTRACE_ROOT=erlt.ROOT))
    try:
        other.process.send_signal(signal.SIGHUP)
        t.equal(other.get("/api/state").status, 200, "it goes on")
        other.process.send_signal(signal.SIGHUP)
        t.equal(other.get("/api/state").status, 200, "and on")
    finally:
        t.equal(other.stop(), 0, "exit status")
    for signo in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(signo) != signal.SIG_IGN:  # else the server ignores it, too
            t.equal(t.serve().stop(signo), 0, f"it ends on signal {signo}")


def test_tls(t, _s):
    import shutil
    import ssl
    if not shutil.which("openssl"):
        raise erlt.Skipped("no openssl to make a certificate with")
    cert, key = t.file("cert.pem"), t.file("key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj",
                    "/CN=localhost"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    other = t.serve("--cert", cert, "--key", key)
    subprocess.run(["openssl", "genrsa", "-out", t.file("other.pem"), "2048"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    p = subprocess.run([erlt.TOOL, "serve", "--listen", "127.0.0.1:0", "--cert", cert, "--key", os.path.join(t.folder, "other.pem")],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=erlt.PATIENCE, check=False)
    t.equal((p.returncode, p.stdout), (1, b""), "somebody else's key")
    t.match(p.stderr.decode(), "does the key belong to the certificate", "it is said")
    context = ssl.create_default_context(cafile=cert)
    context.check_hostname = False
    plain = other.connect
    try:
        t.match(other.url, "^https://", "address")
        other.connect = lambda timeout=60: context.wrap_socket(plain(timeout))
        t.equal(other.get("/api/state").status, 200, "with the token")
        t.equal(other.get("/api/state", token=False).status, 403, "without")
        w = other.websocket(origin=f"https://{other.netloc}")
        t.equal(w.hello["type"], "hello", "over TLS")
        w.start("tick-10ms { @ = count(); }")
        w.wait("results")
        w.close()
        client.await_idle(other)
    finally:
        t.equal(other.stop(), 0, "exit status")
