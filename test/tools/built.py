"""built - what builds erltrace in other Debians (scripts/dev/built): the copy of the sources, and what it calls, which stand-ins note."""
import os
import shutil
import subprocess

import erlt
from erlt import ROOT
from lint import run, write

# What scripts/dev/built calls. (The folder of OTP 29 cannot be made here, that of 27 can unless the test says so.)
STAND_INS = {
    "scripts/dev/otp": '#!/bin/sh\necho "otp $*" >>asked\n[ "$1" = 29 ] && exit 77\nexit "${OTP_STATUS:-0}"\n',
    "scripts/dev/copy-sources": '#!/bin/sh\necho "copy ${1#"$PWD"/}" >>asked\n',
    "scripts/dev/in-otp": '#!/bin/sh\necho "in $*" | sed "s|$PWD/||g" >>asked\ncase $* in *check-unit) echo "7 passed, 0 failed" ;; *CC=${BAD:-none}*) exit 1 ;; esac\n',
    "test/e2e/run": '#!/bin/sh\necho "UNDER=$UNDER ERLTRACE=$ERLTRACE ERLTRACE_ROOT=$ERLTRACE_ROOT e2e $*" | sed "s|$PWD/||g" >>asked\necho "1 passed, 0 failed"\n',
}
MAKE = {c: f"in 27 make --no-print-directory -C build/built/27/{c} UI=no CC={c} CFLAGS=-Werror " for c in ("gcc", "clang")}
ATTACH = ("UNDER=scripts/dev/in-otp 27 ERLTRACE=build/built/27/gcc/bin/erltrace ERLTRACE_ROOT=build/built/27/gcc "
          "e2e --otp 27 builds/attaches")


def made(t, stand_ins):
    """A checkout of the real programs with these instead of others. (Its path.)"""
    there = os.path.join(t.folder, "there")
    write(there, stand_ins)
    for name in ("scripts/dev/built", "scripts/dev/releases", "scripts/dev/tally", "test/lib/results.py"):
        os.makedirs(os.path.dirname(os.path.join(there, name)), exist_ok=True)
        shutil.copy(os.path.join(ROOT, name), os.path.join(there, name))
    for name in stand_ins:
        os.chmod(os.path.join(there, name), 0o755)
    return there


def test_built_in_another_debian(t):
    """Each compiler has a copy; what gcc has built is tested; where there is no folder, nothing is built and nothing fails."""
    there = made(t, STAND_INS)

    def asked(*words, **env):
        """(exit status, last line of the output, what was called)"""
        status, out = run(["env", *[f"{k}={v}" for k, v in env.items()], "scripts/dev/built", *words], there)
        with open(os.path.join(there, "asked"), encoding="utf-8") as f:
            calls = f.read().splitlines()
        os.remove(os.path.join(there, "asked"))
        return status, out.splitlines()[-1] if out else "", calls

    build = [["copy build/built/27/" + c, MAKE[c] + how.format(f"-j{os.cpu_count()}")] for c, how in (("gcc", "{} all lint-build"), ("clang", "OPT=-O0 {} lint-build"))]
    t.equal(asked("27", "build"), (0, "== OTP 27, clang", ["otp 27 compiler", *build[0], *build[1]]))
    t.equal(asked("27", "build", BAD="gcc"), (1, "== OTP 27, gcc", ["otp 27 compiler", *build[0]]))
    t.equal(asked("27", "unit"), (0, "7 passed, 0 failed", ["otp 27 compiler", MAKE["gcc"] + "check-unit"]))
    t.equal(asked("27", "attach"), (0, "1 passed, 0 failed", ["otp 27 compiler", ATTACH]))
    t.equal(asked("27", "attach", OTP_STATUS=1), (1, "", ["otp 27 compiler"]))
    for what, last in (("build", ""), ("unit", "0 passed, 0 failed"), ("attach", "0 passed, 0 failed")):
        t.equal(asked("29", what), (0, last, ["otp 29 compiler"]))
    for words in (["25", "unit"], ["27"], ["27", "units"]):
        t.equal(run(["scripts/dev/built", *words], there), (2, "built: usage: scripts/dev/built 27|29 build|agent|unit|attach\n"))


def test_copy_of_the_sources(t):
    """The copy has what git has, as it is here and now; what was built in it stays, and nothing else does."""
    if shutil.which("git") is None:
        raise erlt.Skipped("git is not here")
    there, copy = os.path.join(t.folder, "there"), os.path.join(t.folder, "copy")
    write(there, {"a.c": "old", "room/b c.c": "b", "gone.c": "g", "unknown.c": "u"})
    os.makedirs(os.path.join(there, "scripts", "dev"))
    shutil.copy(os.path.join(ROOT, "scripts", "dev", "copy-sources"), os.path.join(there, "scripts", "dev"))
    for command in (["init", "-q"], ["add", "a.c", "room", "gone.c"]):
        t.equal(run(["git", *command], there), (0, ""))
    write(copy, {"build/a.o": "built", "stale.c": "s", "room/stale.c": "s"})
    write(there, {"a.c": "new"})
    os.utime(os.path.join(there, "a.c"), (1000, 1000))
    os.remove(os.path.join(there, "gone.c"))
    t.equal(run(["scripts/dev/copy-sources", copy], there), (0, ""))
    found = subprocess.run(["find", ".", "-type", "f"], cwd=copy, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    t.equal(sorted(found), ["", "./a.c", "./build/a.o", "./room/b c.c"])
    with open(os.path.join(copy, "a.c"), encoding="utf-8") as f:
        t.equal((f.read(), os.stat(f.fileno()).st_mtime), ("new", 1000))


def test_words_of_otp(t):
    """scripts/dev/otp refuses what it does not know before it makes anything."""
    for words in (["25"], ["27", "nonsense"], ["27", "rabbit compiler"], []):
        t.equal(run([os.path.join(ROOT, "scripts", "dev", "otp"), *words], t.folder),
                (2, "otp: usage: scripts/dev/otp 27|29|next [rabbit|compiler|anew]\n"), " ".join(words))
