"""trusted - what scripts/dev/trusted refuses: each test plants one breach in a small guest that is right."""
import os
import re
import shutil

import erlt
from erlt import ROOT
from lint import run, write

TREE = {
    "guest/base/low.h": "/* low.h */\nint low(void);\n",
    "guest/base/low.c": '/* low.c */\n#include "base/low.h"\nint low(void) { return 1; }\n',
    "guest/beam/agent.c": '/* agent.c */\n#include "base/low.h"\n__attribute__((visibility("default"))) int agent(void) { return low(); }\n',
    "guest/agent/some.erl": "%% some.erl\n-module(some).\n",
}
UNUSED = "int unused(void) { return 2; }\n"
NAMED = "/* not in the guest: unused - a test calls it. */\n"
LONG = "/* long.h */\n" + "\n" * 6000

# What is planted, as {file: text} in place of the tree's, and what is said of it.
BREACHES = {
    "a function that nothing calls": ({"guest/base/low.c": TREE["guest/base/low.c"] + UNUSED}, r"guest/base/low\.c: nothing in the agent calls unused; "),
    "one that only such a one calls": ({"guest/base/low.c": TREE["guest/base/low.c"] + NAMED + "int unused(void);\nint inner(void);\nint inner(void) { return 1; }\n"
                                        "int unused(void) { return inner(); }\n"}, r"guest/base/low\.c: nothing in the agent calls inner; "),
    "a comment that is not true": ({"guest/base/low.c": TREE["guest/base/low.c"] + NAMED.replace("unused", "low")},
                                   r"guest/base/low\.c: a comment says that low is not in the guest"),
    "a comment elsewhere": ({"guest/base/low.c": TREE["guest/base/low.c"] + UNUSED, "guest/beam/agent.c": NAMED + TREE["guest/beam/agent.c"]},
                            r"guest/base/low\.c: nothing .* unused; .*\nguest/beam/agent\.c: a comment says that unused "),
    "a source that is not compiled": ({"guest/beam/more.c": "/* more.c */\nint more;\n"}, r"guest/beam/more\.c:1: is no part of the agent"),
    "a header that nothing includes": ({"guest/base/more.h": "/* more.h */\n"}, r"guest/base/more\.h:1: is no part of the agent"),
    "a file among the agent's Erlang": ({"guest/agent/notes.txt": "notes\n"}, r"guest/agent/notes\.txt:1: is no part of the agent"),
    "a file of no part": ({"guest/more/more.h": "/* more.h */\n"}, r"guest/more/more\.h:1: belongs to no part of the agent .*\nguest/more/more\.h:1: is no "),
    "a header of the tool": ({"c_src/util/tool.h": "/* tool.h */\n", "guest/base/low.h": '/* low.h */\n#include "util/tool.h"\nint low(void);\n'},
                             r"c_src/util/tool\.h:1: is included by the agent, and lies outside of guest/"),
    "too many lines": ({"guest/base/long.h": LONG, "guest/base/low.h": '/* low.h */\n#include "base/long.h"\nint low(void);\n'},
                       r"base \+ dif \+ engine: 7 lines too many"),
}


def trusted(t, texts):
    """Compiles a guest of these files, but for more.c, and asks about it: exit status, and lines of the output."""
    there = os.path.join(t.folder, "there")
    shutil.rmtree(there, ignore_errors=True)
    write(there, texts)
    os.makedirs(os.path.join(there, "scripts", "dev"))
    shutil.copy(os.path.join(ROOT, "scripts", "dev", "trusted"), os.path.join(there, "scripts", "dev", "trusted"))
    objects = []
    for source in (name for name in texts if name.endswith(".c") and not name.endswith("/more.c")):
        objects.append("build/" + source[:-2] + ".o")
        os.makedirs(os.path.join(there, os.path.dirname(objects[-1])), exist_ok=True)
        status, out = run(["gcc", "-O0", "-fPIC", "-ffunction-sections", "-fvisibility=hidden", "-Iguest", "-Ic_src", "-MMD", "-MP", "-c", "-o", objects[-1],
                           source], there)
        t.equal(status, 0, out)
    status, out = run(["scripts/dev/trusted", "gcc", *objects], there)
    return status, out.splitlines()


def test_trusted(t):
    """The small guest passes; with one breach, that is told, and nothing else."""
    if shutil.which("gcc") is None:
        raise erlt.Skipped("gcc is not here")
    status, right = trusted(t, TREE)
    t.equal((status, right[-1]), (0, "left out of the agent, and named: nothing"), right)
    status, lines = trusted(t, {**TREE, "guest/base/low.c": TREE["guest/base/low.c"] + NAMED + UNUSED})
    t.equal((status, lines[-1]), (0, "left out of the agent, and named: unused"), lines)
    for what, (planted, told) in BREACHES.items():
        status, lines = trusted(t, {**TREE, **planted})
        t.equal(status, 1, f"{what}: {lines}")
        breaches = "\n".join(lines[len(right) - 1:])
        t.true(re.fullmatch(told + ".*", breaches), f"{what}: {breaches}")


def test_trusted_table(t):
    """Each part has its files, its lines and a hash that cat and sha256sum make, and one byte more is another hash of it and of all."""
    if shutil.which("gcc") is None:
        raise erlt.Skipped("gcc is not here")
    tables = []
    for agent in (TREE["guest/agent/some.erl"], TREE["guest/agent/some.erl"] + "%\n"):
        status, lines = trusted(t, {**TREE, "guest/agent/some.erl": agent})
        t.equal(status, 0, lines)
        tables.append({name.strip(): columns for name, *columns in (line.rsplit(None, 3) for line in lines[1:] if re.search(r" [0-9a-f]{32}$", line))})
    t.equal([tables[0][part][:2] for part in ("base", "tracer", "Erlang", "dif", "all")], [["2", "5"], ["1", "3"], ["1", "2"], ["0", "0"], ["4", "10"]])
    status, made = run(["sh", "-c", "cat guest/base/low.c guest/base/low.h | sha256sum"], os.path.join(t.folder, "there"))
    t.equal((status, tables[0]["base"][2]), (0, made[:32]))
    t.equal(sorted(part for part in tables[0] if tables[0][part][2] != tables[1][part][2]), ["Erlang", "all"])
