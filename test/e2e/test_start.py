"""Runs each command of the pages for newcomers (doc/start*.md, doc/walkthrough.md, doc/products.md) as printed, on the shop of `make shop` or on an Elixir
node. There are two differences: the node is named, as there may be others, and a command runs for a second, or for longer until it has something
to show."""
import contextlib
import functools
import glob
import os
import re
import shutil
import signal
import subprocess
import textwrap
from concurrent.futures import ThreadPoolExecutor

from erlt import BUILD, COOKIE, PATIENCE, ROOT, TOOL, Late, Skipped, alone, epmd, until

AT_ONCE = 4  # commands


def commands(page):
    """Returns the commands of a page: indented lines, up to the end of their quotes, and those between backquotes in tables."""
    with open(os.path.join(ROOT, "doc", page), encoding="utf-8") as f:
        lines = f.read().splitlines()
    found, i = [], 0
    while i < len(lines):
        found += [c.replace("\\|", "|") for c in re.findall(r"\| `(erltrace [^`]*)` \|", lines[i])]
        if m := re.match(r" +(erltrace .*)$", lines[i]):
            command = m[1]
            while command.count("'") % 2:
                i += 1
                command += "\n" + lines[i]
            found.append(command)
        i += 1
    return found


def run(command, number, seconds=1):
    """Returns (exit status, output, error output) of a command that runs for this long. What needs a whole second gets one more."""
    if not re.match(r"erltrace (list|nodes|help)\b", command):
        command = re.sub(r"^erltrace( run \S+| doctor)?", lambda m: f"{m[0]} -p {number}", command)
    command = re.sub(r"--for \d+", f"--for {seconds + (seconds == 1 and ('tick-1sec' in command or 'schedulers' in command))}", command)
    env = dict(os.environ, PATH=os.path.dirname(TOOL) + ":" + os.environ["PATH"], ERLTRACE_ROOT=ROOT, DTRACE_OPT_MAXLOAD="off")
    p = subprocess.run(["bash", "-c", command], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=5 * PATIENCE, check=False)
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")


NOTHING = r"erltrace: no probe fired|erltrace: the probes fired .* and produced nothing"


def shown(command, number):
    """What run() returns, of a command that shows something: on a busy host the node runs for some moments of a second only."""
    for seconds in (1, 5, 25, PATIENCE):
        status, out, err = run(command, number, seconds)
        if status != 0 or "--for" not in command or (out.strip() and (may_be_idle(command) or not re.search(NOTHING, err))):
            return status, out, err
    raise Late(f"{command} shows nothing within {PATIENCE} s\n{out}{err}")


def may_be_idle(command):
    """Whether it may have nothing to report in the shop."""
    return re.search("run (busy|long|calltimeouts)", command)


def try_all(t, page, number, least):
    """Checks that all commands end with status 0, print something, and do not complain."""
    found = commands(page)
    t.true(len(found) >= least, f"{len(found)} commands in {page}")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for command, (status, out, err) in zip(found, pool.map(lambda c: shown(c, number), found)):
            said = [line for line in err.splitlines() if not re.match(r"erltrace: (description|script) '.*' matched \d+ probe", line)]
            # Several traces of the same functions begin and end at once: calls that are in flight then are counted, and those of a loop of which
            # exceptions are traced, from its 600th on until the agent, which is busy with thirty traces, leaves them out. All traces are told.
            # A variable that another thread holds, which at that moment has no processor, is not waited for.
            said = [line for line in said if not re.match(r"erltrace: (\d+ calls? whose beginning was not kept$|sampled on CPU at |"
                                                          r"\d{1,2} dynamic variable drops?$|warning: not seen: \d+ calls of processes with too many exception frames$)", line)]
            if may_be_idle(command):
                said = [line for line in said if not re.match("erltrace: no probe fired|      hint: (no such event|nothing called them)", line)]
            dropped = any(re.search(r"\bdrops?\b", line) for line in said)
            with t.loose("records are dropped when their reader has to wait for a processor") if dropped else contextlib.nullcontext():
                t.equal((status, said), (0, []), f"exit status and complaints of {command}\n{err}")
            t.true(out.strip(), f"{command} shows something")


def shop(t):
    """Starts a node with the open shop. The pages show the same on every release."""
    if t.otp:
        raise Skipped("on the host's own OTP only")
    ebin = os.path.join(BUILD, "test", "shop")
    os.makedirs(ebin, exist_ok=True)
    subprocess.run(["erlc", "-o", ebin, *glob.glob(os.path.join(ROOT, "demo", "*.erl"))], check=True, stdout=subprocess.DEVNULL)
    node = t.node(fresh=True, options=("-pa", ebin))
    t.logs.append("shop_")  # its own log: supervisors, and customers that crash
    node("shop_sup:start()")
    return node


def try_at_shop(t, page, least):
    node = shop(t)
    try_all(t, page, node.pid, least)
    t.clean(node, 15000)


@alone  # thirty traces at once
def test_erlang_people(t):
    try_at_shop(t, "start.md", 32)


def test_dtrace_people(t):
    try_at_shop(t, "start-dtrace.md", 12)


def test_elixir_people(t):
    if t.otp or shutil.which("elixir") is None:
        raise Skipped("on the host's own OTP only" if t.otp else "Elixir is not here: scripts/dev/deps erlang")
    with open(os.path.join(ROOT, "doc", "start-elixir.md"), encoding="utf-8") as f:
        command = textwrap.dedent(re.search(r"^    elixir --sname hello --no-halt -e '\n.*?'$", f.read(), re.S | re.M)[0])
    epmd()
    env = dict(os.environ, HOME=t.folder, LC_ALL="C.UTF-8", ELIXIR_ERL_OPTIONS="-setcookie " + COOKIE)
    with subprocess.Popen(["bash", "-c", "exec " + command.replace("hello", f"hello{os.getpid()}", 1)], env=env, cwd=t.folder,
                          stdin=subprocess.DEVNULL, start_new_session=True) as node:
        try:
            await_functions(node.pid)
            try_all(t, "start-elixir.md", node.pid, 12)
        finally:
            os.killpg(node.pid, signal.SIGKILL)


def said_by(t, number, command, *patterns):
    """Runs a command until it has shown all of the patterns: a busy host lets the node run for some moments of a second only."""
    tries = []

    def shows():
        tries.append(run(command, number, 1 + 2 * len(tries)))
        status, out, err = tries[-1]
        t.equal(status, 0, f"exit status of {command}\n{err}")
        return all(re.search(p, out) for p in patterns)

    until(shows, lambda: f"{command} does not show all of {patterns}: {tries[-1]}", pause=0)


def test_walkthrough(t):
    """The steps at the service in Elixir lead to the process, the function, the line and the argument that the page tells of."""
    if t.otp or shutil.which("elixir") is None:
        raise Skipped("on the host's own OTP only" if t.otp else "Elixir is not here: scripts/dev/deps erlang")
    with open(os.path.join(ROOT, "doc", "walkthrough.md"), encoding="utf-8") as f:
        page = f.read().partition("\n## A broker")[0]
    program = t.file("shop.exs", textwrap.dedent(re.search(r"^    defmodule .*?:infinity\)$", page, re.S | re.M)[0]))
    schedulers, calls, cpu, slow, customers = re.findall(r"^    \$ (erltrace .*)$", page, re.M)
    epmd()
    env = dict(os.environ, HOME=t.folder, LC_ALL="C.UTF-8", ELIXIR_ERL_OPTIONS="-setcookie " + COOKIE)
    with subprocess.Popen(["elixir", "--sname", f"shop{os.getpid()}", program], env=env, cwd=t.folder, stdin=subprocess.DEVNULL,
                          start_new_session=True) as node:
        try:
            await_functions(node.pid, "Shop.Cart", "total/1")

            said = functools.partial(said_by, t, node.pid)
            said(schedulers, r"\d:\d\d +\d+ +\d+ +\d+ +\d+\n")
            said(calls, r"(?m)^Shop\.Cart +<[\d.]+> +\d+ ", r"(?m)^Shop\.Visitor:buy/1 +Shop\.Cart ")
            said(cpu, r"(?m)^Enum:reduce_range/5 +\d+$", r"(?m)^Shop\.Cart +\d+$", r"Shop\.Pricing:'-discount/2-fun-0-'/2 \(shop\.exs:7\)",
                 r"Shop\.Pricing:price/1 \(shop\.exs:4\)\n +Shop\.Cart:handle_call/3 \(shop\.exs:17\)")
            said(slow.replace(" 5 ", " 1 "), r"""(?m)^Shop\.Cart +\d+\.\d+  Shop\.Pricing:price/1 \[#{amounts => \[1200,350,75\],customer => <<"acme">>}\] -> {ok,\d+}$""")
            said(customers, *(f'<<"{customer}">>' for customer in ("acme", "initech", "globex", "umbrella")))
        finally:
            os.killpg(node.pid, signal.SIGKILL)


def test_products(t):
    """The three commands for Phoenix and Ecto lead to the mailbox, to who fills it, and to the query."""
    if t.otp or shutil.which("elixir") is None:
        raise Skipped("on the host's own OTP only" if t.otp else "Elixir is not here: scripts/dev/deps erlang")
    with open(os.path.join(ROOT, "doc", "products.md"), encoding="utf-8") as f:
        page = f.read().partition("\n## Phoenix and Ecto\n")[2]
    program = t.file("web.exs", textwrap.dedent(re.search(r"^    defmodule .*?Process\.sleep\(:infinity\)$", page, re.S | re.M)[0]))
    longest, senders, queries = (c.replace(" -p PID", "") for c in re.findall(r"^    \$ (erltrace .*)$", page, re.M))
    epmd()
    env = dict(os.environ, HOME=t.folder, LC_ALL="C.UTF-8", ELIXIR_ERL_OPTIONS="-setcookie " + COOKIE)
    with subprocess.Popen(["elixir", "--sname", f"web{os.getpid()}", program], env=env, cwd=t.folder, stdin=subprocess.DEVNULL,
                          start_new_session=True) as node:
        try:
            await_functions(node.pid, "ShopWeb.Page", "show/1")
            said_by(t, node.pid, longest, r"(?m)^Shop\.Audit +<[\d.]+> +\d+ +\d+$")
            said_by(t, node.pid, senders, r"(?m)^Shop\.Audit +ShopWeb\.Page:show/1 +\d+ +\d+ +\d+$", r"(?m)^Shop\.Repo +ShopWeb\.Page:show/1 +\d+ ")
            said_by(t, node.pid, queries, r'<<"SELECT \* FROM orders WHERE open">>', r'<<"SELECT name FROM users">>')
        finally:
            os.killpg(node.pid, signal.SIGKILL)


def await_functions(number, module="Hello.Shop", function="order/1"):
    """Waits until the node with this process id runs its own code."""
    until(lambda: function in run(f"erltrace -l -m {module}", number)[1], "the node of the page never runs its own code")
