"""What reaches a terminal cannot control it: texts from nodes never can, and what a script prints only if the user asks for that."""
import os
import pty
import select
import subprocess
import time

import erlt
from erlt import PATIENCE, Late, tool

ESC = b"\x1b"
# A value with a colour, a forged line, a C1 control in UTF-8, a byte that is no UTF-8, and a letter that is.
VALUE = r"\033[31m\nerltrace: fine\302\233\377\303\244"
SEEN = rb"\033[31m\nerltrace: fine\u009b\377" + "ä".encode()
SCRIPT = f'BEGIN {{ x = "{VALUE}"; printf("%s\\n\\tof ours %c\\n", x, 7); trace(x); @[x] = count(); printa("%s %@d\\n", @); exit(0); }}'


def on_terminal(t, *args, node=None, errors=True):
    """Returns the tool's exit status and all that its terminal received: standard output, and (unless errors=False) errors and the status
    line."""
    command, environment = tool(*args, node=node)
    master, slave = pty.openpty()
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave if errors else subprocess.DEVNULL, env=environment, cwd=erlt.ROOT)
    os.close(slave)
    got, end = b"", time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            if select.select([master], [], [], 1)[0]:
                try:
                    part = os.read(master, 65536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                got += part
        else:
            raise Late(f"no end of {' '.join(command)}\n{got!r}")
        return p.wait(PATIENCE), got.replace(b"\r\n", b"\n")
    finally:
        if p.poll() is None:
            p.kill()
        p.wait()
        os.close(master)


def own(text):
    """Returns the text without our own status line, which is erased before anything else is written."""
    return text.replace(b"\r\x1b[K", b"")


def test_values_on_a_terminal(t):
    """Strings are printed with escapes, whichever action prints them; newlines and tabs of the script's own formats stay."""
    status, got = on_terminal(t, "--local", "-qn", SCRIPT, errors=False)
    t.equal(status, 0, "exit status")
    t.equal(own(got), SEEN + b"\n\tof ours \\a\n" + SEEN + SEEN + b" 1\n\n", "what the terminal got")


def test_raw_output(t):
    """With the option rawoutput, and in a file, the output is as the script prints it."""
    value = VALUE.encode().decode("unicode_escape").encode("latin-1")
    expected = value + b"\n\tof ours \a\n" + value + value + b" 1\n\n"
    status, got = on_terminal(t, "--local", "-x", "rawoutput", "-qn", SCRIPT, errors=False)
    t.equal((status, own(got)), (0, expected), "with rawoutput")
    command, env = tool("--local", "-qn", SCRIPT)
    t.equal(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=False).stdout, expected, "a pipe")
    path = os.path.join(t.folder, "file")
    status, got = on_terminal(t, "--local", "-wqn", f'BEGIN {{ freopen("{path}"); }} ' + SCRIPT)
    with open(path, "rb") as f:
        t.equal(f.read(), expected, "the file of freopen()")


def test_names_of_a_node(t):
    """Names that a node made up: in lists, in the tool's own columns, in errors; on a terminal and in a file."""
    node = t.node()
    node(r"""begin {ok, M, B} = compile:forms([{attribute, 1, module, esc}, {attribute, 1, export, [{'f\e[31m\nerltrace: x', 0}]},
                 {function, 1, 'f\e[31m\nerltrace: x', 0, [{clause, 1, [], [], [{integer, 1, 1 + 1}]}]}]),
             {module, M} = code:load_binary(M, "x", B), ok end""")
    listed = ("-l", "-n", "erlang*:esc::entry")
    name = rb"esc +'f\033[31m\nerltrace: x'/0 +entry".replace(b"\\", rb"\\").replace(b"[", rb"\[")
    try:
        status, got = on_terminal(t, *listed, node=node)
        t.equal(status, 0, "exit status")
        t.match(own(got).decode(), name.decode())
        t.equal(ESC in own(got), False, "an escape sequence")
        command, env = tool(*listed, node=node)
        t.match(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=False).stdout.decode(), name.decode())
    finally:
        node(r"begin code:delete(esc), code:purge(esc) end")


def test_names_of_processes(t):
    """Any user can give a process the command line of a node, with any name."""
    name = "esc\x1b[2J\x9b\nerltrace: fine"
    shell = os.path.join(t.folder, "beam.smp")
    with open(os.path.realpath("/bin/sh"), "rb") as f, open(shell, "wb") as to:
        to.write(f.read())
    os.chmod(shell, 0o755)
    p = subprocess.Popen(["beam.smp", "-c", "echo up; read x", "--", "-sname", name], executable=shell, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    try:
        t.equal(p.stdout.readline(), b"up\n", "the process")
        status, got = on_terminal(t, "nodes")
        t.equal(status, 0, "exit status")
        t.equal(ESC in got or b"\nerltrace: fine" in got, False, "what it is called")
        t.match(got.decode(), r"esc\\033\[2J\\u009b\\nerltrace: fine@")
        status, got = on_terminal(t, "-n", "BEGIN { exit(0); }", "-p", p.pid)
        t.equal(status, 1, "exit status")
        t.equal(ESC in got or b"\nerltrace: fine" in got, False, "what it is called")
    finally:
        p.communicate()
