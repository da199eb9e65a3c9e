"""choice - which of its tests a suite runs. All runners take the same options (test/README.md):

    run [--otp N] [-j N] [-v] [--list] [PATTERN ...]

A test is chosen if its name contains one of the patterns; without a pattern all are. A pattern that is the whole name of a test chooses no
other test. A pattern that no name contains is an error.

For scripts/dev/tally, in the environment: TEST_ONLY has the whole names of tests, one a line, and chooses those instead; TEST_STAGE chooses the tests
of that stage (test/README.md, "Stages").
"""
import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def releases(which=()):
    """OTP releases, as scripts/dev/releases lists them."""
    return subprocess.run([os.path.join(ROOT, "scripts", "dev", "releases"), *which], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


RELEASES = releases()  # the values of --otp
# Those that name another emulator (scripts/dev/otp-vm), where a suite takes them.
DEBUG_RELEASES = [f"{n}-debug" for n in RELEASES]
MUSL_RELEASES = [f"{n}-musl" for n in releases(["--musl"])]
ARM64_RELEASES = ["27-arm64"]  # of another processor, which is emulated (scripts/dev/otp-arm64)
OTHER_RELEASES = releases(["--others"])
(HOST_RELEASE,) = releases(["--host"])  # the one on the PATH
FAST, NODES, ALONE = STAGES = ("A", "B", "alone")
WRONG = 2  # exit code: the command line is wrong, no test has failed


def parser(doc, otps=(), jobs=0):
    """Returns a parser of the options that every runner has; --otp and -j exist only where the suite uses them."""
    options = argparse.ArgumentParser(description=doc.strip().split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("patterns", nargs="*", metavar="PATTERN", help="run the tests whose name holds it")
    options.add_argument("--only", action="append", default=[], metavar="PATTERN", help="the same")
    options.add_argument("--list", action="store_true", help="print the names of the tests instead of running them")
    options.add_argument("-v", dest="verbose", action="store_true", help="a line for each test that passes, where the suite is silent about those")
    if otps:
        options.add_argument("--otp", choices=otps, help="nodes of that OTP release instead of the one on the PATH")
    if jobs:
        options.add_argument("-j", dest="jobs", type=int, default=jobs, metavar="N", help=f"how many at a time (default {jobs})")
    return options


def parse(options, argv=None):
    """Returns the options, with the patterns of both forms in `patterns`."""
    chosen = options.parse_intermixed_args(argv)
    chosen.patterns = os.environ.get("TEST_ONLY", "").splitlines() or chosen.patterns + chosen.only
    return chosen


def select(patterns, names):
    """Returns the names that contain a pattern, in their order. Ends the program if a pattern matches nothing."""
    kept = set() if patterns else set(names)
    for pattern in patterns:
        found = {pattern} & set(names) or {name for name in names if pattern in name}
        if not found:
            sys.exit(nothing(os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0]))), pattern))
        kept |= found
    return [name for name in names if name in kept]


def nothing(suite, pattern):
    """Says that no test has such a name; returns the exit code."""
    print(f"{suite}: no test has '{pattern}' in its name; test/run {suite} --list prints the names", file=sys.stderr)
    return WRONG


def seed(name):
    """Returns the seed of a random test: SEED of the environment, or the row of test/seeds; and prints it."""
    given = os.environ.get("SEED")
    if not given:
        with open(os.path.join(ROOT, "test", "seeds"), encoding="utf-8") as f:
            given = dict(line.split() for line in f if line.strip() and not line.startswith("#"))[name]
    print(f"  seed of {name}: {given} (SEED={given})", flush=True)
    return int(given)


def tests(chosen, found, stage=NODES):
    """Returns the chosen pairs of (name, function). With --list it prints their names and ends the program. `stage` is that of the tests that
    are not marked with another (erlt.alone, erlt.with_nodes)."""
    names = set(select(chosen.patterns, [name for name, _ in found]))
    wanted = os.environ.get("TEST_STAGE") if not chosen.patterns else None
    kept = [(name, function) for name, function in found if name in names and wanted in (None, "", getattr(function, "stage", stage))]
    if chosen.list:
        print("\n".join(name for name, _ in kept))
        sys.exit(0)
    return kept
