"""Nodes whose distribution speaks TLS: which certificates the tool uses, what it verifies, and what it reports when that fails.

Unless a test expects otherwise, the node logs nothing: the tool does not try certificates that may not fit."""
import os
import pwd
import re
import shutil
import socket
import subprocess

from erlt import HOST, READY, ROOT, Skipped, aggregation, json_lines, pid, tool
from etf import Atom
from port import Port

CALLS = 1009
SCRIPT = READY + 'erlang*:etw:work/1:entry { @["entry"] = count(); }'
# {File, Text} of a root CA's certificate, of a certificate and of its key, for a server and for a client. For: the host that the server's
# certificate names.
MAKE = r"""
    [Folder, For, Ends] = init:get_plain_arguments(),
    {ok, _} = application:ensure_all_started(public_key),
    Years = {{2020, 1, 1}, {list_to_integer(Ends), 1, 1}},
    Name = [{'Extension', {2,5,29,17}, false, [{dNSName, For}]}],
    Sound = [{digest, sha256}, {key, {namedCurve, {1,2,840,10045,3,1,7}}}],
    Chain = fun(More) -> #{root => Sound, intermediates => [Sound], peer => More ++ Sound} end,
    #{server_config := S, client_config := C} = public_key:pkix_test_data(#{
        server_chain => Chain([{extensions, Name}, {validity, Years}]), client_chain => Chain([])}),
    Write = fun(File, Entries) ->
                file:write_file(filename:join(Folder, File), public_key:pem_encode([{T, D, not_encrypted} || {T, D} <- Entries]))
            end,
    [begin
         {Type, Key} = proplists:get_value(key, Of),
         Write(Who ++ "-cert.pem", [{'Certificate', proplists:get_value(cert, Of)}]),
         Write(Who ++ "-key.pem", [{Type, Key}]),
         Write(Who ++ "-ca.pem", [{'Certificate', D} || D <- proplists:get_value(cacerts, Of)])
     end || {Who, Of} <- [{"server", S}, {"client", C}]],
    {T, DER} = proplists:get_value(key, C),
    Locked = public_key:pem_entry_encode(T, public_key:der_decode(T, DER), {{"AES-128-CBC", crypto:strong_rand_bytes(16)}, "a secret"}),
    file:write_file(filename:join(Folder, "locked-key.pem"), public_key:pem_encode([Locked])),
    halt().
"""


class Certificates:
    """Files for a node and for its clients: `server` and `client`, each with cert, key, and the CAs by which it verifies the other one."""

    def __init__(self, t, whom=HOST, ends=2100):
        self.folder = os.path.join(t.folder, f"certificates-{whom}-{ends}")
        os.mkdir(self.folder)
        os.chmod(t.folder, 0o755)
        # Made by the release that will read them: a release may not accept what another one has encoded.
        beside = [os.path.join(ROOT, "scripts", "dev", "in-otp"), t.otp] if t.otp else []
        p = subprocess.run([*beside, "erl", "-noshell", "-eval", MAKE, "-extra", self.folder, whom, str(ends)], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
        if "public_key" in p.stdout and "no such file" in p.stdout:
            raise Skipped(f"OTP {t.otp or 'on the PATH'} is here without erlang-ssl" + (f"; scripts/dev/otp {t.otp} makes one with it" if t.otp else ""))
        t.equal((p.returncode, p.stdout), (0, ""), "making certificates")

    def __call__(self, name):
        return os.path.join(self.folder, name + ".pem")

    def given(self, *which):
        """Returns options of the tool."""
        options = {"ca": ["--tls-cacert", self("client-ca")], "cert": ["--tls-cert", self("client-cert")],
                   "key": ["--tls-key", self("client-key")]}
        return [word for name in which for word in options[name]]

    def side(self, who, *more):
        """Returns one side's options in the file that a node reads."""
        return (f'{{{"server" if who == "server" else "client"}, [{{certfile, "{self(who + "-cert")}"}}, {{keyfile, "{self(who + "-key")}"}}, '
                f'{{cacertfile, "{self(who + "-ca")}"}}' + "".join(f", {m}" for m in more) + "]}")

    def optfile(self, t, demanding=True, client=("{verify, verify_peer}",), name="tls.conf"):
        """Makes that file. demanding: only clients whose certificate is signed by the right CA may connect."""
        server = ["{verify, verify_peer}", "{fail_if_no_peer_cert, true}"] if demanding else ["{verify, verify_none}"]
        return t.file(name, f'% -*- coding: utf-8 -*-\n[{self.side("server", *server)},\n {self.side("client", *client)}].\n')


def options(optfile):
    return ["-proto_dist", "inet_tls", "-ssl_dist_optfile", optfile]


def tls_node(t, certificates, **more):
    return started(t, options(certificates.optfile(t, **more)))


def started(t, words):
    t.logs.append("^(info|debug) Supervisor: .*tls_dyn_connection_sup")  # for each connection; the node's own log leaves it out
    node = t.node(options=words)
    # Modules that a TLS handshake would first load from disk; on a busy machine that can take longer than a connection may take.
    node("begin [begin application:load(A), {ok, Ms} = application:get_key(A, modules), [code:ensure_loaded(M) || M <- Ms] end || "
         "A <- [crypto, asn1, public_key, ssl]], ok end")
    return node


def attach(t, node, *args, **more):
    """Returns (status, output, error output) of a short look at the node."""
    return t.run("-l", "-n", "erlang*:etw:work/1:entry", *args, node=node, **more)


def refused(t, node, args, text, hint):
    status, out, err = attach(t, node, *args)
    t.equal((status, len(out.splitlines())), (1, 0), f"status, and lines of output; {out}{err}")
    t.match(err, text, "the error")
    t.match(err, hint, "its hint")
    t.equal(len(re.findall("^erltrace: error", err, re.M)), 1, f"errors in {err}")


def test_given_certificates(t):
    """A whole trace over TLS with our own certificates: calls are counted exactly, and a large answer arrives complete."""
    certificates = Certificates(t)
    node = tls_node(t, certificates)
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", SCRIPT, *certificates.given("ca", "cert", "key"), node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, {CALLS})")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {"entry": CALLS}, "calls", trace)
    t.clean(node)
    status, out, err = t.run("-l", "-m", "erlang*:", *certificates.given("ca", "cert", "key"), node=node)
    t.equal((status, err), (0, ""), "a list of all probes")
    t.true(len(out.splitlines()) > 1000, "it is long")


def test_key_beside_the_certificate(t):
    """--tls-cert alone: the key is in the same file."""
    certificates = Certificates(t)
    node = tls_node(t, certificates)
    both = t.file("both.pem", "".join(open(certificates(f), encoding="ascii").read() for f in ("client-cert", "client-key")))
    t.equal(attach(t, node, "--tls-cacert", certificates("client-ca"), "--tls-cert", both)[0::2], (0, ""), "status and errors")
    refused(t, node, [*certificates.given("ca"), "--tls-cert", certificates("client-cert")], r"client-cert\.pem: it contains no key in PEM format", "")
    refused(t, node, [*certificates.given("ca", "cert"), "--tls-key", certificates("server-key")], r"server-key\.pem: .*mismatch", "")


def test_from_node(t):
    """The certificates of the node's own configuration, from its file and from its arguments."""
    t.needs_proc()
    certificates = Certificates(t)
    optfile = certificates.optfile(t)
    # Its path is relative to the node's current folder, the checkout; in another root it cannot be resolved.
    node = started(t, options(optfile if t.otp else os.path.relpath(optfile, ROOT)))
    t.equal(attach(t, node, "--tls-from-node")[0::2], (0, ""), "status and errors")
    arguments = [word for side in ("server", "client") for option in ("cert", "key") for word in
                 (f"{side}_{option}file", certificates(f"{side}-{option}"))]
    other = started(t, ["-proto_dist", "inet_tls", "-ssl_dist_opt", *arguments, "server_cacertfile", certificates("server-ca"),
                            "client_cacertfile", certificates("client-ca"), "server_verify", "verify_peer", "client_verify", "verify_peer",
                            "-ssl_dist_opt", "server_fail_if_no_peer_cert", "true"])
    t.equal(attach(t, other, "--tls-from-node")[0::2], (0, ""), "status and errors")


def test_key_with_a_password(t):
    """A protected key is read with the password of the node's configuration; otherwise the error says so, and the tool does not ask at a
    terminal."""
    t.needs_proc()
    certificates = Certificates(t)
    for password, error in ('"a secret"', None), ('"another"', "the password is wrong"):
        optfile = certificates.optfile(t, client=("{verify, verify_peer}", f"{{password, {password}}}"))
        text = open(optfile, encoding="ascii").read().replace("client-key", "locked-key")
        node = started(t, options(t.file(f"{len(password)}.conf", text)))
        if error:
            refused(t, node, ["--tls-from-node"], rf"locked-key\.pem: {error}", "by --tls-key")
        else:
            t.equal(attach(t, node, "--tls-from-node")[0::2], (0, ""), "status and errors")
    refused(t, node, [*certificates.given("ca", "cert"), "--tls-key", certificates("locked-key")], "is protected by a password", "by --tls-key")


def test_from_node_of_another_user(t):
    """Root reads what the node's user can read, and no other file that the node's process names."""
    t.needs_proc()
    if os.geteuid() != 0 or t.otp:
        raise Skipped("only root can become somebody else")
    certificates = Certificates(t)
    os.chmod(certificates.folder, 0o755)
    node = tls_node(t, certificates)  # it runs as root, as we do: every file that it names may be read
    os.chmod(certificates("client-key"), 0o600)
    t.equal(attach(t, node, "--tls-from-node")[0::2], (0, ""), "status and errors of root's")
    start = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all"]
    shown = subprocess.Popen(
        [*start, "erl", "-noinput", "-sname", f"nobody{os.getpid()}", "-setcookie", "nobodys",
         *options(certificates.optfile(t, name="nobody.conf"))],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        for _ in range(600):
            status, out, err = t.run("-l", "-n", "erlang*:lists:map/2:entry", "-p", shown.pid, "--tls-from-node")
            if "client-key.pem" in err or shown.poll() is not None:
                break
        t.equal(status, 1, f"status; {err}")
        t.match(err, r"client-key\.pem, of the configuration of process \d+: Permission denied\n.*run erltrace as user nobody", "the error")
        os.chmod(certificates("client-key"), 0o644)
        os.chown(certificates("client-key"), pwd.getpwnam("daemon").pw_uid, -1)
        status, out, err = t.run("-l", "-n", "erlang*:lists:map/2:entry", "-p", shown.pid, "--tls-from-node")
        t.match(err, r"client-key\.pem, of the configuration of process \d+: it belongs neither to the user of the process nor to root", "the error")
    finally:
        shown.kill()
        shown.communicate()


def test_without_any(t):
    """A node that speaks TLS is recognized: by the error of a plain connection, by `nodes`, by `doctor`. None of them connects to it."""
    t.needs_proc()
    node = tls_node(t, Certificates(t))
    says = rf"NODE_TLS.*{re.escape(node.name)} speaks distribution over TLS \(-proto_dist inet_tls\)"
    refused(t, node, [], says, "--tls-from-node, .*--tls-cacert FILE")
    status, out, err = t.run("doctor", "--node", node.name)
    t.equal(status, 1, f"status of doctor; {out}{err}")
    t.match(out, rf"\A{re.escape(node.name)} cannot be traced(?s:.*)^  limit  distribution +{re.escape(node.name)} speaks distribution over TLS")
    t.match(err, says)
    for args, attachable in ((), False), (("--tls-from-node",), None), (("--tls-cacert", "/nonexistent"), False):
        status, out, err = t.run("nodes", "--json", "--cookie", node.cookie, *args)
        row = [r for r in json_lines(out) if r["pid"] == node("list_to_integer(os:getpid())")][0]
        t.equal((status, row["attachable"]), (0, attachable), f"status, and whether it can be traced; {row}")
        if not args:
            t.match(row["why"], "speaks distribution over TLS")
            t.match(row["help"], "--tls-from-node.*if it asks for ours$")


def test_the_only_one(t):
    """With options for TLS and no name, the only node that speaks TLS is chosen among several."""
    t.needs_proc()
    node, plain = tls_node(t, Certificates(t)), t.node()
    status, out, err = t.run("doctor", "--cookie", node.cookie, "--tls-from-node")
    t.equal((status, err), (0, ""), f"status and errors; {out}")
    t.match(out, rf"\A{re.escape(node.name)} can be traced")
    t.true(plain.alive(), "the other one")


def test_nothing_to_verify_with(t):
    """Without a CA, the node's certificate is accepted only on request."""
    certificates = Certificates(t)
    node = tls_node(t, certificates, demanding=False)
    refused(t, node, certificates.given("cert", "key"), "nothing to verify the node's certificate with$", "--tls-cacert FILE.*--tls-verify none")
    t.equal(attach(t, node, "--tls-verify", "none")[0::2], (0, ""), "status and errors")
    status, out, err = attach(t, node, "--tls-verify", "maybe")
    t.equal((status, err), (1, "erltrace: TLS option verify maybe: it takes host, ca or none\n"), "a bad word")


def test_wrong_ca(t):
    """A certificate signed by another CA is refused, with OpenSSL's reason."""
    certificates, others = Certificates(t), Certificates(t, whom="other." + HOST)
    node = tls_node(t, certificates, demanding=False)
    t.logs.append("TLS")  # the node logs our refusal
    refused(t, node, others.given("ca"), rf"the certificate of {re.escape(node.name)} is not accepted: certificate signature failure", "--tls-cacert.*--tls-verify none")


def test_wrong_host(t):
    """A certificate must name the node's host, unless the user does not ask for that."""
    certificates = Certificates(t, whom="elsewhere.example")
    node = tls_node(t, certificates, demanding=False)
    t.logs.append("TLS")
    refused(t, node, certificates.given("ca"), "is not accepted: hostname mismatch", f"it does not name {HOST}; `--tls-verify ca`")
    t.equal(attach(t, node, *certificates.given("ca"), "--tls-verify", "ca")[0::2], (0, ""), "status and errors")


def test_expired(t):
    certificates = Certificates(t, ends=2021)
    node = tls_node(t, certificates, demanding=False)
    t.logs.append("TLS")
    refused(t, node, certificates.given("ca"), "is not accepted: certificate has expired", "clock of this host")


def test_certificate_demanded(t):
    """A node demands a certificate of its clients, with TLS 1.2 and 1.3: a client without one, and with one that the node does not trust."""
    certificates, others = Certificates(t), Certificates(t, whom="other." + HOST)
    for version in "1.2", "1.3":
        optfile = certificates.optfile(t, name=f"tls{version}.conf")
        text = open(optfile, encoding="ascii").read().replace("{verify", f"{{versions, ['tlsv{version}']}}, {{verify")
        node = started(t, options(t.file(f"tls{version}.conf", text)))
        t.logs.append("TLS")
        t.equal(attach(t, node, *certificates.given("ca", "cert", "key"))[0::2], (0, ""), f"TLS {version}: status and errors")
        refused(t, node, certificates.given("ca"), rf"{re.escape(node.name)} ended the TLS connection: ", "a certificate of ours: give --tls-cert")
        refused(t, node, [*certificates.given("ca"), *others.given("cert", "key")], "ended the TLS connection: ", "does it trust")


def test_tls_to_a_plain_node(t):
    """TLS to a node without it: the node's command line shows that; for a node on another host, its silence does."""
    t.needs_proc()
    node = t.node()
    refused(t, node, ["--tls-verify", "none"], "NODE_TLS.*speaks distribution over inet_tcp, without TLS", "leave out the --tls options")


def test_elsewhere(t):
    """Nodes whose processes cannot be seen, such as those of other hosts: TLS shows in the answer to a plain connection, which the node
    logs; a plain node stays silent to TLS, or hangs up."""
    certificates = Certificates(t)
    node = tls_node(t, certificates)
    there = ["-l", "-n", "erlang*:etw:work/1:entry", "--cookie", node.cookie, "--node"]

    def says(args, text, hint):
        status, _, err = t.run(*there, *args)
        t.equal(status, 1, f"status; {err}")
        t.match(err, text)
        t.match(err, hint)
    tls = f"{node.short}@127.0.0.2"
    t.logs.append("TLS")
    says([tls], rf"NODE_TLS.*{node.short}@127.0.0.2 speaks distribution over TLS$", "hint: give --tls-cacert FILE, with --tls-cert")
    status, _, err = t.run(*there, tls, *certificates.given("ca", "cert", "key"), "--tls-verify", "ca")
    t.equal((status, err), (0, ""), "status and errors")
    says([tls, *certificates.given("ca", "cert", "key")], "is not accepted: IP address mismatch", "it does not name 127.0.0.2; `--tls-verify ca`")
    says([tls, "--tls-from-node"], "no process of this host whose configuration could be read", "give certificates by")
    plain = t.node(fresh=True)
    says([f"{plain.short}@127.0.0.2", "--tls-verify", "none"], "NODE_TLS.*(did not answer the TLS handshake|ended the TLS connection)",
         "is its distribution without TLS")


def test_what_does_not_speak_tls(t):
    """A server answers a TLS handshake with something else."""
    listener = socket.create_server(("127.0.0.2", 0))
    epmd = socket.create_server(("127.0.0.2", 0))
    pid_ = os.fork()
    if pid_ == 0:
        s, _ = epmd.accept()
        s.recv(64)
        s.sendall(b"\0\0\x11\x11name odd at port %d\n" % listener.getsockname()[1])
        s.close()
        s, _ = listener.accept()
        s.recv(64)
        s.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        s.close()
        os._exit(0)
    try:
        status, _, err = t.run("-l", "-n", "erlang*:lists:map/2:entry", "--node", "odd@127.0.0.2", "--cookie", "none", "--tls-verify", "none",
                               env={"ERL_EPMD_PORT": str(epmd.getsockname()[1])})
        t.equal(status, 1, err)
        t.match(err, "NODE_TLS.*TLS with odd@127.0.0.2: .*\n.*leave out the --tls options")
    finally:
        os.waitpid(pid_, 0)
        listener.close()
        epmd.close()


def test_no_libssl(t):
    """Without OpenSSL everything else works, and for TLS the error says which package to install."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        raise Skipped("only root can hide a library")
    found = re.search(r"libssl\.so\.\d+ .*=> (\S+)", subprocess.run(["ldconfig", "-p"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    if not found:
        raise Skipped("there is no libssl to hide")
    certificates = Certificates(t)
    node = tls_node(t, certificates)
    command, env = tool("-l", "-n", "erlang*:etw:work/1:entry", *certificates.given("ca", "cert", "key"), node=node)
    hidden = ["unshare", "-m", "sh", "-c", f'mount --bind /dev/null {found[1]} && exec "$@"', "sh"]
    p = subprocess.run(hidden + command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if "mount" in p.stderr:
        raise Skipped("nothing can be mounted here")
    t.equal(p.returncode, 1, f"status; {p.stderr}")
    t.match(p.stderr, r"NODE_TLS.*TLS needs OpenSSL's library libssl\.so\.\d, which cannot be loaded: .*\n.*install the package libssl\d")
    p = subprocess.run(hidden + [command[0], "--local", "-qn", 'BEGIN { trace("fine"); exit(0); }'], env=env, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, check=False)
    t.equal((p.returncode, p.stdout.strip(), p.stderr), (0, "fine", ""), "without TLS")


def test_started_by_us(t):
    """-c with a node that speaks TLS. If the node does not accept our certificate, the tool does not try again and again."""
    certificates = Certificates(t)
    optfile = certificates.optfile(t)
    command = f"erl -noinput -sname started{os.getpid()} {' '.join(options(optfile))}"
    status, out, err = t.run("-qn", 'BEGIN { trace("attached"); exit(0); }', "-c", command, "--tls-from-node")
    t.equal((status, out.split("\n")[0]), (0, "attached"), err + out)
    command = command.replace("started", "refusing") + " -kernel logger_level info"
    status, out, err = t.run("-qn", "BEGIN { exit(0); }", "-c", command, *certificates.given("ca"))
    t.equal(status, 1, err)
    t.match(err, "NODE_SPAWN.*it cannot be attached to: .* ended the TLS connection")
    # A node that is still starting reports no processes yet, but the alert; a second connection would be reported in any case.
    processes, alerts = len(re.findall("tls_dyn_connection_sup", out)), out.count("generated SERVER ALERT")
    t.true(processes == 2 or (processes, alerts) == (0, 1), f"one connection, with two processes: {out}")


def test_by_the_port_program(t):
    """The options of `hello` have the names and effects of the command's options."""
    certificates = Certificates(t)
    node = tls_node(t, certificates)
    target = (Atom("target"), (Atom("node"), node.name, node.cookie))
    files = {"tls_cacert": certificates("client-ca"), "tls_cert": certificates("client-cert"), "tls_key": certificates("client-key")}
    for options_ in files, {"tls_from_node": Atom("true"), "tls_verify": Atom("host")}:
        port = Port()
        try:
            port.hello(**options_)
            port.ask(target)
            port.compile("BEGIN { exit(0); }")
            t.match(port.ask(Atom("go"))["targets"].decode(), re.escape(node.name))
            port.consume_all()
            t.equal(port.close(), 0, "exit code")
        finally:
            port.kill()
    for name, value in ("tls_from_node", Atom("false")), ("tls_verify", "peer"), ("tls_colour", "red"):
        port = Port()
        t.equal(port.refused((Atom("hello"), 1, [(Atom(name), value)]))[0], "request", name)
        port.kill()


def test_by_the_server(t):
    """`erltrace serve` has these options; for a bad one, and for a node that needs them, its error is that of the command."""
    t.needs_proc()
    node = tls_node(t, Certificates(t))
    serve = ["serve", "--listen", "127.0.0.1:0", "-p", node("list_to_integer(os:getpid())"), "--cookie", node.cookie]
    status, _, err = t.run(*serve)
    t.equal(status, 1, err)
    t.match(err, "speaks distribution over TLS.*\n.*--tls-from-node")
    status, _, err = t.run(*serve, "--tls-from-node", "--tls-verify", "peer")
    t.equal((status, err), (2, "erltrace: error: TLS option verify peer: it takes host, ca or none\n"), "a bad word")
    trace = t.trace(*serve, "--tls-from-node", "--tls-verify=ca")
    trace.wait("^http://127.0.0.1:")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
