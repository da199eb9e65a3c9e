"""lint - what scripts/dev/lint-* refuse: each test plants one breach in a small tree that is right."""
import datetime
import os
import shutil
import subprocess

import erlt
from erlt import ROOT

ROOMS = """# Architecture
| room | holds | may include |
|---|---|---|
| `guest/low/` | what others rest on | - |
| `c_src/mid/` | what rests on it | low |
| `c_src/cli/` | the command | mid, low |
"""
# (Spelled so that this file is none of the breaches.)
HOME, MANUAL = "/" + "home/someone", "language.md"
TREE = {
    "doc/architecture.md": ROOMS,
    "doc/language.md": "# Language\n## 1 Words\nText.\n### 1.2 Names\nSee [words](#1-words).\n",
    "guest/low/low.h": f"/* low.h - the lowest. ({MANUAL} 1.2) */\n" "struct low {\n    int n;\n};\n",
    "guest/low/low.c": '/* low.c - the lowest. */\n#include "low/low.h"\nint low(void) { return 1; }\n',
    "c_src/mid/mid.c": '/* mid.c - the middle. */\n#include "low/low.h"\nint mid(void) { return 2; }\n',
    "c_src/cli/main.c": '/* main.c - the command. */\n#include <stdio.h>\n#include "mid/mid.h"\nint main(void) { return puts("x"); }\n',
    "agent/some.erl": "%% A module.\n-module(some).\n",
    "test/d/01-a/data.out": "blanks \n\tand no newline",
}

# What is planted, as {file: text} or as (file, text, text instead of it), and what is said of it.
BREACHES = {
    "include against the table": (("guest/low/low.c", '"low/low.h"', '"mid/mid.h"'), r"guest/low/low\.c:2: low may not include mid"),
    "a room that is in no table": ({"c_src/new/new.c": "/* new.c */\n"}, r"c_src/new/new\.c:1: the room new is not in the table"),
    "the library's header below it": (("c_src/mid/mid.c", '"low/low.h"', "<erltrace.h>"), r"c_src/mid/mid\.c:2: mid is below erltrace\.h"),
    "no opening comment": (("c_src/mid/mid.c", "/* mid.c - the middle. */\n", ""), r"c_src/mid/mid\.c:1: opens without a comment"),
    "no opening comment in Erlang": (("agent/some.erl", "%% A module.\n", ""), r"agent/some\.erl:1: opens without a comment"),
    "a path of one machine": (("agent/some.erl", "A module", f"Made in {HOME}"), r"agent/some\.erl:1: holds '/[a-z]+/s', which is true of one machine"),
    "printing": (("c_src/mid/mid.c", "return 2", 'return printf("2")'), r"c_src/mid/mid\.c:3: 'printf' belongs to the programs"),
    "ending the process": (("guest/low/low.c", "return 1;", "abort();"), r"guest/low/low\.c:3: 'abort' belongs to the programs"),
    "a section that is not there": (("guest/low/low.h", f"{MANUAL} 1.2", f"{MANUAL} 1.3"), r"guest/low/low\.h:1: doc/language\.md has no section 1\.3"),
    "one of two sections that is not there": (("guest/low/low.h", f"{MANUAL} 1.2", f"{MANUAL} 1, 2"), r"guest/low/low\.h:1: .* no section 2"),
    "a link to no heading": (("doc/language.md", "#1-words", "#2-words"), r"doc/language\.md:5: links to #2-words, which does not exist"),
    "a link to no file": (("doc/language.md", "(#1-words)", "(gone.md)"), r"doc/language\.md:5: links to gone\.md, which does not exist"),
    "a C file that is not there": (("doc/language.md", "Text.", "Text of `guest/low/low.h` and `guest/low/gone.h`."),
                                   r"doc/language\.md:3: names guest/low/gone\.h, which does not exist"),
    "two rooms' files of one name": ({"c_src/mid/one.h": "/* one.h */\n", "guest/low/one.c": "/* one.c */\n"},
                                    r"guest/low/one\.c:1: c_src/mid/one\.h has that name, too"),
    "two rooms' types of one name": (("c_src/mid/mid.c", "int mid", "struct low { int m; };\nint mid"),
                                     r"c_src/mid/mid\.c:3: guest/low/low\.h has a low, too"),
    "a release that is compared": (("guest/low/low.c", "return 1", "return otp >= 27"), r"guest/low/low\.c:3: compares releases of OTP"),
    "one that Erlang compares": (("agent/some.erl", "(some).\n", "(some).\nold(#s{otp = Otp}) when Otp =< 26 -> true.\n"), r"agent/some\.erl:3: compares releases"),
    "one that is text": (("agent/some.erl", "(some).\n", "(some).\nold() -> erlang:system_info(otp_release) < \"28\".\n"), r"agent/some\.erl:3: compares releases"),
    "no table at all": (("doc/architecture.md", "|", ":"), r"doc/architecture\.md: no table of rooms found"),
    "no newline at the end": (("agent/some.erl", "-module(some).\n", "-module(some)."), r"agent/some\.erl:2: has no newline at the end"),
    "blanks at the end of a line": (("agent/some.erl", "A module.", "A module. "), r"agent/some\.erl:1: has blanks at the end of the line"),
    "a tab": (("guest/low/low.h", "    int", "\tint"), r"guest/low/low\.h:3: is indented with a tab"),
    "a carriage return": (("agent/some.erl", "module.\n", "module.\r\n"), r"agent/some\.erl:1: has a carriage return at the end of a line"),
    "another charset": (("agent/some.erl", "A module", "A m\udcf6dule"), r"agent/some\.erl:1: is not UTF-8"),
}


def run(command, cwd):
    """(exit status, output with that to stderr)"""
    p = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=erlt.PATIENCE, check=False)
    return p.returncode, p.stdout.decode(errors="replace")


def write(folder, texts):
    for name, text in texts.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
            f.write(text)


def linted(t, name, texts):
    """lint-rooms of a tree of these files, in a folder of that name."""
    there = os.path.join(t.folder, name)
    write(there, texts)
    for copied in ("scripts/dev/lint-rooms", ".editorconfig"):
        os.makedirs(os.path.dirname(os.path.join(there, copied)), exist_ok=True)
        shutil.copy(os.path.join(ROOT, copied), os.path.join(there, copied))
    return run(["scripts/dev/lint-rooms"], there)


def test_lint_rooms(t):
    """The tree as it is passes; with one breach, that is told, and nothing else."""
    status, out = linted(t, "right", TREE)
    t.equal((status, len(out.splitlines())), (0, 1), out)
    for number, (what, (planted, told)) in enumerate(BREACHES.items()):
        texts = dict(TREE)
        if isinstance(planted, dict):
            texts.update(planted)
        else:
            file, old, new = planted
            t.true(old in texts[file], f"{what}: {file} holds {old}")
            texts[file] = texts[file].replace(old, new)
        status, out = linted(t, str(number), texts)
        t.equal(status, 1, f"{what}: exit status, with {out}")
        t.match(out, "^" + told)
        if what != "no table at all":  # then no room is right
            t.equal(len(out.splitlines()), 1, f"{what}: lines of\n{out}")


def test_lint_same(t):
    """A file that is not what its command prints is refused, wherever it stands among others; so is a command that fails."""
    write(t.folder, {"new": "a\n", "old": "b\n"})
    lint = os.path.join(ROOT, "scripts", "dev", "lint-same")
    t.equal(run([lint, "echo a", "new", "echo b", "old"], t.folder), (0, ""))
    for words in (["echo a", "old", "echo a", "new"], ["echo a", "new", "echo a", "old"]):
        status, out = run([lint, *words], t.folder)
        t.equal((status, out), (1, "old:1: is out of date: run 'make words' and commit the file\n"))
    t.equal(run([lint, "false", "new"], t.folder)[0], 1)


def test_lint_names(t):
    """An external name that two sources define is refused; `static` names and the mains of programs are not."""
    texts = {"c_src/a/a.c": "int twice(void); int twice(void) { return 1; } static int own(void) { return 1; } int main(void) { return own(); }\n",
             "guest/b/b.c": "int once(void); int once(void) { return 1; } static int own(void) { return 1; } int main(void) { return own(); }\n",
             "c_src/c/c.c": "int twice(void); int twice(void) { return 2; }\n"}
    write(t.folder, texts)
    compiler = (os.environ.get("CC") or "cc").split()
    for name in texts:
        t.equal(run([*compiler, "-c", "-o", name[:-1] + "o", name], t.folder), (0, ""))
    lint = [os.path.join(ROOT, "scripts", "dev", "lint-names"), "nm"]
    t.equal(run([*lint, "c_src/a/a.o", "guest/b/b.o"], t.folder), (0, ""))
    t.equal(run([*lint, "c_src/a/a.o", "guest/b/b.o", "c_src/c/c.o"], t.folder), (1, "c_src/a/a.c and c_src/c/c.c: both define twice\n"))
    t.equal(run([*lint], t.folder)[0] != 0, True, "no objects at all")


def test_lint_tests(t):
    """The list of unsteady tests can only shrink by intent, and who takes processors away from others is marked."""
    today = datetime.date.today()
    old = (today - datetime.timedelta(days=31)).isoformat()
    row = "| `e2e/some/%s` | %s | no end | |\n"
    fifo = "import os\nHOG = 'SCHED_FIFO'\nclass Hog:\n    how = HOG\n%sdef test_hog(t):\n    Hog()\ndef test_free(t):\n    pass\n"
    files = {"test/e2e/test_some.py": fifo % "@erlt.alone\n", "test/unsteady.md": "| test | first seen | what failed | cause |\n|---|---|---|---|\n"}

    def lint(**more):
        there = os.path.join(t.folder, "there")
        shutil.rmtree(there, ignore_errors=True)
        rows = more.get("rows", "")
        write(there, {**files, "test/unsteady.md": files["test/unsteady.md"] + rows, **({"test/e2e/test_some.py": more["test"]} if "test" in more else {})})
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "x"])[:3 * bool(more.get("git"))]:
            t.equal(subprocess.run(["git", "-C", there, *command], check=False).returncode, 0)
        p = subprocess.run([os.path.join(ROOT, "scripts", "dev", "lint-tests"), there], stdout=subprocess.PIPE, text=True, check=False)
        return p.returncode, p.stdout.splitlines()
    t.equal(lint(), (0, ["  tests: ok"]))
    t.equal(lint(rows=(row % ("hog", today)) * 10), (0, ["  tests: ok"]))
    t.equal(lint(rows=(row % ("hog", today)) * 11), (1, ["test/unsteady.md:13: more than 10 rows"]))
    t.equal(lint(rows=row % ("gone", today)), (1, ["test/unsteady.md:3: there is no test e2e/some/gone"]))
    t.equal(lint(rows="| e2e/some/hog | today | no end | |\n"), (1, ["test/unsteady.md:3: a row is | `SUITE/TEST` | YYYY-MM-DD | what failed | cause |"]))
    t.equal(lint(rows=row % ("hog", old)), (0, ["  tests: ok"]), "no commit changes it")
    t.equal(lint(rows=row % ("hog", old), git=True), (1, ["test/unsteady.md:3: e2e/some/hog has been unsteady for more than 30 days: mend it"]))
    t.equal(lint(test=fifo % ""), (1, ["test/e2e/test_some.py:5: test_hog uses SCHED_FIFO and is not marked with erlt.alone"]))


# What a file defines, and what is said of it: nothing, or the end of a line that begins with the file's name. (Names of the headers' families are
# made up: no header has them.)
DEFINED = {
    "#define SCHED_OURS 1\n": r"1: SCHED_OURS begins with SCHED_, as the names of <sched\.h> do: choose another name",
    "enum kind {\n    FIRST = sizeof(int[2]),\n    AT_OURS /* not FIRST, AT_ALL */\n};\n": r"3: AT_OURS begins with AT_, as the names of <elf\.h> do: choose another name",
    "static void f(void)\n{\n    enum { P_OURS = 'x' };\n}\n": r"3: P_OURS begins with P_, as .*",
    "#define EOF 1\n": r"1: <stdio\.h> also has a EOF: choose another name",
    "static int puts(const char *s)\n{\n    return 0;\n}\n": r"1: <stdio\.h> also has a puts: choose another name",
    "enum kind { SCHEDULER_OURS, ATOM_OURS, EVENT_OURS };\n/* enum { SCHED_OURS } */\n": None,
    'static const char text[] = "enum { SCHED_OURS }";\n': None,
    "#undef EOF\n#define EOF 1\n#ifndef AT_OURS\n#define AT_OURS 2\n#endif\n": None,
    "int main(void)\n{\n    return puts(\"x\") == SCHED_OTHER ? AT_NULL : 0;\n}\n": None,
}


def test_lint_reserved(t):
    """A name that a header has, or one like it, is refused in a macro, a constant and a function, and nowhere else."""
    lint = os.path.join(t.folder, "scripts", "dev", "lint-reserved")
    write(t.folder, {"c_src/low/all.h": "/* all.h */\n#include <stdio.h>\n#include <nowhere/at_all.h>\n"})
    os.makedirs(os.path.dirname(lint))
    shutil.copy(os.path.join(ROOT, "scripts", "dev", "lint-reserved"), lint)
    compiler = (os.environ.get("CC") or "cc").split()
    for text, told in DEFINED.items():
        write(t.folder, {"c_src/low/one.c": text})
        status, out = run([lint, *compiler], t.folder)
        t.equal(status, 1 if told else 0, text + out)
        t.match(out, f"^c_src/low/one\\.c:{told}$" if told else r"^  names of system headers \(\d+ here\): ok$")
        t.equal(len(out.splitlines()), 1, out)
