"""The gate: the parts and stages of .ci/run, and how scripts/dev/tally judges. Suites are stand-ins."""
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from unittest import mock

import erlt
from erlt import ROOT

SUITES = sorted(name for name in os.listdir(os.path.join(ROOT, "test")) if os.path.exists(os.path.join(ROOT, "test", name, "run")))
TALLY = os.path.join(ROOT, "scripts", "dev", "tally")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def run(command, cwd=ROOT):
    """(exit status, output, error output)"""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "SANITIZE", "BUILD", "CFLAGS") and
           not k.startswith("TEST_")}
    p = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=erlt.PATIENCE, check=False)
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")


# What a part of .ci/run calls. Each notes what it was asked.
CI_STAND_INS = {
    "scripts/dev/deps": '#!/bin/sh\necho "deps $*" >>"$ASKED"\n[ "$LACKS" != deps ] || [ "$(grep -c ^deps "$ASKED")" -gt "$TIMES" ]\n',
    "scripts/dev/apart": '#!/bin/sh\n[ $# = 0 ] && exit "$NO_APART"\necho "apart $*" >>"$ASKED"\nexec "$@"\n',
    "bin/make": '#!/bin/sh\necho "make $*" >>"$ASKED"\ncase "$LACKS $*" in "make --no-print-directory otp-folders") [ "$(grep -c folders "$ASKED")" -gt "$TIMES" ]; exit ;; esac\n'
                'case "$*" in *"$FAILS"*) echo "2 passed, 1 failed"; exit 1 ;; esac\necho "3 passed, 0 failed"\n',
}


def ci(t, *words, no_apart=0, fails="nothing", lacks="", times=0):
    """Runs .ci/run in a repository of stand-ins: exit status, output, the `make` commands and the other calls that came of it."""
    if shutil.which("git") is None:
        raise erlt.Skipped("git is not here")
    there = tempfile.mkdtemp(dir=t.folder)
    asked = os.path.join(there, "asked")
    real = {name: read(name) for name in (".ci/run", "scripts/dev/tally", "scripts/dev/releases", "test/run", "test/lib/choice.py", "test/lib/results.py")}
    for name, text in {**CI_STAND_INS, **real}.items():
        path = os.path.join(there, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)
    git = ["git", "-C", there, "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "stand-ins"]):
        t.equal(run(git + command)[0], 0, " ".join(command))
    status, out, err = run(["env", f"PATH={there}/bin:{os.environ['PATH']}", f"ASKED={asked}", f"NO_APART={no_apart}", f"FAILS={fails}", f"LACKS={lacks}", f"TIMES={times}",
                            f"TMPDIR={there}", os.path.join(there, ".ci/run"), *words], there)
    calls = []
    if os.path.exists(asked):
        with open(asked, encoding="utf-8") as f:
            calls = f.read().splitlines()
    t.true(not [name for name in os.listdir(there) if name.startswith("et-ci")], "no clone is left")
    return status, out + err, [c for c in calls if c.startswith("make ")], [c for c in calls if not c.startswith("make ")]


def test_parts_are_the_whole(t):
    """All parts, one after another, run what .ci/run runs, where nodes can be apart and where they cannot."""
    parts = run([".ci/run", "--parts"])[1].split()
    t.true(len(parts) > 4, "there are parts")
    one_by_one = set()
    for part in parts:
        status, out, commands, others = ci(t, part)
        t.equal((status, re.findall(r", (\d+) failed$", out)[-1]), (0, "0"), out)
        t.true(commands and others[0].startswith("deps build test"), f"{part} installs and runs something")
        one_by_one |= set(commands)
    for no_apart in (0, 1):
        status, out, commands, others = ci(t, no_apart=no_apart)
        t.equal((status, set(commands)), (0, one_by_one), out)
        t.equal(any(c.startswith("apart") for c in others), no_apart == 0)


def rows():
    """[(part, stage, command)] of .ci/run"""
    return [tuple(cell.strip() for cell in line.split("|")) for line in run([".ci/run", "--commands"])[1].splitlines()]


def test_parts_have_every_suite(t):
    """Each suite runs in the stages that its tests have, each time by the README's command; the commands of a stage differ."""
    suites = {}
    for _, stage, command in rows():
        m = re.fullmatch(r"make ONLY=(\S+) check", command)
        if m:
            suites.setdefault(m[1], []).append(stage)
    stages = {suite: [] for suite in SUITES if suite not in ("chaos", "fuzz")}
    flags = {"A": "--first", "B": "-B", "here": "--here", "alone": "--alone"}
    for line in run(["test/run", "--stages"])[1].splitlines():
        stage, suite = line.split(":")
        stages.get(suite, []).append(flags[stage])
    t.equal(suites, {**stages, "d-vm": ["-B"], "d-kernel": ["--here"]})
    t.true(all(stages.values()), f"a stage for each suite: {stages}")
    t.equal(sorted({(s, c) for _, s, c in rows()}), sorted((s, c) for _, s, c in rows()))


def test_stage_a_by_itself(t):
    """It builds, runs what is of stage A, and nothing else."""
    status, out, commands, others = ci(t, "--stage", "A")
    t.equal(status, 0, out)
    expected = [command for _, stage, command in rows() if stage in ("--build", "--first", "-A")]
    t.equal(sorted(c for c in commands if not re.search("(otp|arm64)-folder", c)), sorted(re.sub(r"^step |DTRACE\S+ |'", "", c) for c in expected))
    t.true(not [c for c in others if c.startswith("apart")], "nothing of stage A is apart")


def test_a_part_that_fails(t):
    tests = {part: 3 * len([1 for p, stage, _ in rows() if p == part and stage != "--build"]) for part in ("otp-27", "otp-29")}  # each command has three
    status, out, _, _ = ci(t, "otp-27", fails="ONLY=port check-otp")
    t.equal((status, out.splitlines()[-1]), (1, f"{tests['otp-27'] - 1} passed, 1 failed"), out)
    status, out, _, _ = ci(t, "otp-29", "otp-27", fails="OTHERS=27 ONLY=port")
    t.equal((status, out.splitlines()[-1]), (1, f"{sum(tests.values()) - 1} passed, 1 failed"), out)
    first = 3 * len([1 for _, stage, command in rows() if stage == "--first" and "step" not in command]) + 1  # lint is the step
    for fails, passed in (("ready-unit", 0), ("SANITIZE=address,undefined -j", first)):
        status, out, commands, _ = ci(t, fails=fails)
        t.equal((status, out.splitlines()[-1]), (1, f"{passed} passed, 1 failed"), out)
        t.equal(any("check" in c for c in commands), passed > 0, "no test runs without what it rests on")
        t.true(not [c for c in commands if "SANITIZE" in c and "check" in c], "nor does one with sanitizers")


def test_what_cannot_be_fetched(t):
    """A fetch has a second chance; after that it is said what could not run, with an exit status of its own."""
    for what, said in (("deps", "packages could not be installed"), ("make", "the Debians of other OTP releases could not be made")):
        for times, expected in ((1, 0), (2, 75)):
            status, out, commands, _ = ci(t, "otp-27", lacks=what, times=times)
            t.equal(status, expected, out)
            t.equal([line for line in out.splitlines() if line.startswith("could not run")], [f"could not run: {said}"] if expected else [])
            t.equal(any("check" in c for c in commands), expected == 0)


def test_a_part_that_is_none(t):
    status, out, commands, others = ci(t, "otp-27", "nonsense")
    t.equal((status, commands, others), (2, [], []))
    t.match(out, r"^\.ci/run: there is no part 'nonsense'; there are demo lint ")


def test_workflow_lacks_a_part(t):
    """lint-ci compares the workflow with the parts both ways."""
    there = os.path.join(t.folder, "there")
    for name in (".ci/run", "scripts/dev/releases", "scripts/dev/lint-ci", ".github/workflows/ci.yml"):
        os.makedirs(os.path.dirname(os.path.join(there, name)), exist_ok=True)
        shutil.copy(os.path.join(ROOT, name), os.path.join(there, name))
    workflow = read(".github", "workflows", "ci.yml")
    for text, breaches in ((workflow, r"parts of \.ci/run: ok"), (workflow.replace("- e2e\n", "- host\n"),
                           r"\S+ci\.yml:\d+: the part host is there twice\n\S+ci\.yml:\d+: has no job for the part e2e of \.ci/run"),
                           (workflow.replace("- e2e\n", "- e2e\n          - more\n"), r"\S+ci\.yml:\d+: \.ci/run has no part more")):
        with open(os.path.join(there, ".github/workflows/ci.yml"), "w", encoding="utf-8") as f:
            f.write(text)
        status, out, err = run(["scripts/dev/lint-ci"], there)
        t.true(re.fullmatch(breaches + r"\n", out), f"{breaches} in {out}{err}")
        t.equal(status, 0 if text is workflow else 1)



# A suite whose tests end as a plan says: PLAN is {test: [outcome of its first run, of its second, ...]}, where the last one stays, and an
# outcome is "pass" or a class of results.py. Each run notes its tests in the file `ran`.
MADE_UP = """
import json, os, sys
sys.path.insert(0, {lib!r})
import results
plan = json.loads({plan!r})
ran = os.path.join({folder!r}, "ran")
past = open(ran).read().split() if os.path.exists(ran) else []
chosen = os.environ.get("TEST_ONLY", "").splitlines() or list(plan)
failed = 0
for name in chosen:
    outcomes = plan[name]
    outcome = outcomes[min(past.count(name), len(outcomes) - 1)]
    failed += outcome != "pass"
    results.write(name, "pass" if outcome == "pass" else "fail", outcome, text="what " + name + " said")
    with open(ran, "a") as f:
        f.write(name + "\\n")
print(f"{{len(chosen) - failed}} passed, {{failed}} failed")
sys.exit(failed > 0)
"""


def judged(t, plan, stage="-B", listed="", words=(), suite="web"):
    """(exit status, output, how often each test ran, the names in unsteady.json) of a tally of one made-up suite"""
    folder = tempfile.mkdtemp(dir=t.folder)
    program = os.path.join(folder, suite, "run")
    os.makedirs(os.path.dirname(program))
    with open(program, "w", encoding="utf-8") as f:
        f.write(MADE_UP.format(lib=os.path.join(ROOT, "test", "lib"), plan=json.dumps(plan), folder=folder))
    known = os.path.join(folder, "unsteady.md")
    with open(known, "w", encoding="utf-8") as f:
        f.write(listed)
    status, out, err = run([TALLY, "--keep", os.path.join(folder, "kept"), "--unsteady", known, *words, stage, f"python3 {program}"])
    t.equal(err, "")
    with open(os.path.join(folder, "ran"), encoding="utf-8") as f:
        ran = f.read().split()
    with open(os.path.join(folder, "kept", "unsteady.json"), encoding="utf-8") as f:
        unsteady = [json.loads(line)["test"] for line in f]
    return status, out, {name: ran.count(name) for name in plan}, unsteady


def test_unsteady(t):
    """A test that fails once is unsteady: it runs again until it has passed twice, counts as passed, and is shown with its first failure."""
    for kind in ("timeout", "machine", "assertion"):
        status, out, ran, unsteady = judged(t, {"a/good": ["pass"], "a/once": [kind, "pass"]})
        t.equal((status, out.splitlines()[-1], ran, unsteady), (0, "2 passed, 0 failed", {"a/good": 1, "a/once": 3}, ["a/once"]), out)
        t.match(out, rf"(?s)^== unsteady\n  unsteady: web/a/once in .*{kind}, then passed, passed; load [\d.]+\)\n    [|] what a/once said\n2 passed")
    status, out, ran, unsteady = judged(t, {"a/twice": ["timeout", "timeout", "pass"]})
    t.equal((status, out.splitlines()[-1], ran, unsteady), (0, "1 passed, 0 failed", {"a/twice": 4}, ["a/twice"]), "passes two times of three")


def test_unsteady_fails_always(t):
    status, out, ran, unsteady = judged(t, {"a/good": ["pass"], "a/bad": ["timeout"], "a/mostly": ["timeout", "pass", "timeout"]})
    t.equal((status, out.splitlines()[-1], ran, unsteady), (1, "1 passed, 2 failed", {"a/good": 1, "a/bad": 3, "a/mostly": 4}, []), out)


def test_unsteady_never_a_finding(t):
    """What is a finding at once, in its repetition, or of stage A, is not repeated (any more)."""
    status, out, ran, unsteady = judged(t, {"a/dead": ["finding", "pass"], "a/late": ["timeout", "finding", "pass"]})
    t.equal((status, out.splitlines()[-1], ran, unsteady), (1, "0 passed, 2 failed", {"a/dead": 1, "a/late": 2}, []), out)
    for stage in ("--first", "-A", "--between"):
        status, out, ran, _ = judged(t, {"a/once": ["timeout", "pass"]}, stage=stage)
        t.equal((status, out.splitlines()[-1], ran), (1, "0 passed, 1 failed", {"a/once": 1}), out)


def test_unsteady_too_many(t):
    """Six unsteady tests fail the run; of more than twenty that fail none is repeated."""
    for n, status, failed in ((5, 0, 0), (6, 1, 1)):
        got, out, _, unsteady = judged(t, {f"a/{i}": ["timeout", "pass"] for i in range(n)})
        t.equal((got, out.splitlines()[-1], len(unsteady)), (status, f"{n} passed, {failed} failed", n), out)
    status, out, ran, _ = judged(t, {f"a/{i}": ["timeout", "pass"] for i in range(21)})
    t.equal((status, out.splitlines()[-1], set(ran.values())), (1, "0 passed, 21 failed", {1}), out)


def test_unsteady_needs_a_cause(t):
    """Where two of three could hide a race in a node, the list has to name the cause."""
    plan, row = {"ends/once": ["timeout", "pass"], "options/once": ["timeout", "pass"]}, "| `e2e/ends/once` | 2026-11-28 | no end | %s |\n"
    for listed, failed in (("", 1), (row % "", 1), (row % "the socket of the test", 0)):
        status, out, _, unsteady = judged(t, plan, listed=listed, suite="e2e")
        t.equal((status, out.splitlines()[-1], unsteady), (failed, f"2 passed, {failed} failed", ["ends/once", "options/once"]), out)


def test_unsteady_machine(t):
    """A test that fails twice as the machine lacks something could not run, which has an exit status of its own unless something failed."""
    for plan, status, failed in (({"a/lacks": ["machine"]}, 75, 1), ({"a/lacks": ["machine"], "a/dead": ["finding"]}, 1, 2),
                                 ({"a/lacks": ["machine", "pass"]}, 0, 0)):
        got, out, _, _ = judged(t, plan)
        t.equal((got, out.splitlines()[-1].split(", ")[1]), (status, f"{failed} failed"), out)
        t.equal("could not run: web/a/lacks" in out, bool(failed))


def test_unsteady_nameless(t):
    """What a suite counts beyond the tests that it names, its end without a result, and a bad status without a failed test fail at once."""
    for program, said in (("echo 3 passed, 1 failed; false", "3 passed, 1 failed"), ("echo gone; kill $$", "0 passed, 1 failed"),
                          ("echo 2 passed, 0 failed; false", "2 passed, 1 failed"), ("echo 2 passed, 0 failed", "2 passed, 0 failed")):
        status, out, _ = run([TALLY, "--keep", t.folder, "-B", program])
        t.equal((status, out.splitlines()[-1]), (int(", 0 failed" not in said), said), out)


def test_no_end(t):
    """A suite that does not end is ended with all that it has started, its output so far is shown, and the others go on. So is what a suite leaves
    behind that holds its output. A suite that has no time left is not begun."""
    pids = os.path.join(t.folder, "pids")
    hangs = f"echo it said this; sleep 1000 & echo $! >>{pids}; wait"
    leaves = f"sleep 1000 & echo $! >>{pids}; echo 1 passed, 0 failed"
    good = "echo 1 passed, 0 failed"
    for stage, last in (("--alone", 0), ("-B", 900)):
        status, out, err = run([TALLY, "--keep", t.folder, "--until", str(time.time() + last + 2), stage, hangs, *(["--alone", good] if last else [])])
        t.equal((status, err), (1, ""))
        t.match(out, "(?s)it said this\n.*it had not ended in time\n.*== failed\n.*it had not ended in time")
        t.equal(out.splitlines()[-1], f"{int(last > 0)} passed, 1 failed", out)
        status, out, err = run([TALLY, "--keep", t.folder, stage, leaves, "--alone", good])
        t.equal((status, out.splitlines()[-1], err), (1, "2 passed, 1 failed", ""), out)
        t.match(out, "it left something that holds its output")
    with open(pids, encoding="ascii") as f:
        for pid in f.read().split():
            erlt.until(lambda p=pid: not os.path.exists(f"/proc/{p}") or read("/proc", p, "stat").rpartition(")")[2].split()[0] == "Z", f"{pid} still runs")
    status, out, err = run([TALLY, "--keep", t.folder, "--until", "1", "--alone", f"echo began >>{pids}; {good}"])
    t.equal((status, out.splitlines()[-1], err), (1, "0 passed, 1 failed", ""), out)
    t.match(out, "there was no time left for it")
    with open(pids, encoding="ascii") as f:
        t.true("began" not in f.read(), "it has begun")


def test_terminated(t):
    """A tally that is terminated shows what its suites have said, and ends them."""
    for stage in ("-B", "--alone"):
        pids = os.path.join(t.folder, "pids" + stage)
        env = {k: v for k, v in os.environ.items() if not k.startswith("TEST_")}
        suites = [f"echo said {i}; sleep 1000 & echo $! >>{pids}; wait" for i in range(1 if stage == "--alone" else os.cpu_count() or 1)]
        with subprocess.Popen([TALLY, "--keep", t.folder, stage, *suites], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as tally:
            erlt.until(lambda: os.path.exists(pids) and len(open(pids, encoding="ascii").read().split()) == len(suites), "the suites do not begin")
            tally.terminate()
            out, _ = tally.communicate(timeout=erlt.PATIENCE)
        t.equal(tally.returncode, -signal.SIGTERM, out)
        for i in range(len(suites)):
            t.match(out, f"said {i}\n")


def test_first(t):
    """What has to hold first runs before the builds that only other commands need; where it, or stage A, fails, nothing else runs."""
    good, bad, lacks = "echo 1 passed, 0 failed", "echo 0 passed, 1 failed; false", "echo 0 passed, 1 failed; exit 75"
    for first, then, ran, status, said in (
            (good, good, ["--first", "-A", "--between", "-B", "--alone"], 0, "5 passed, 0 failed"), (bad, good, ["--first"], 1, "0 passed, 1 failed"),
            (good, bad, ["--first", "-A"], 1, "1 passed, 1 failed"), (lacks, good, ["--first", "-A", "--between", "-B", "--alone"], 75, "4 passed, 1 failed")):
        log = os.path.join(tempfile.mkdtemp(dir=t.folder), "log")
        note = f"echo %s >>{log}; %s"
        got, out, _ = run([TALLY, "--keep", t.folder, "--build", note % ("one", "true"), "--first", note % ("--first", first), "--build", note % ("two", "true"),
                           "-A", note % ("-A", then), "--between", note % ("--between", good), "-B", note % ("-B", good), "--alone", note % ("--alone", good)])
        with open(log, encoding="utf-8") as f:
            t.equal(f.read().split(), ["one", ran[0], *(["two"] if len(ran) > 1 else []), *ran[1:]], out)
        t.equal((got, out.splitlines()[-1]), (status, said), out)


def test_loose(t):
    """A wrong value may be tried again, and says why load may change it; what is left behind, or died, is a finding; a wait that ends is late; a
    full disk is the machine's."""
    def loose(inner):
        with inner.loose("another may be faster"):
            inner.equal(1, 2)

    def strict(inner):
        with inner.loose("another may be faster"):
            pass
        inner.true(False, "wrong")

    def odd(_):
        int("none")

    def died(inner):
        inner.equal(-11, 0, "exit status")

    def sanitized(inner):
        inner.true(False, "ERROR: AddressSanitizer: what it says")

    def left(_):
        raise erlt.Finding("left behind")

    def late(inner):
        raise erlt.Late("no end")

    def full(inner):
        raise OSError(28, "No space left on device")

    path = os.path.join(t.folder, "results")
    before = os.environ.get("TEST_RESULTS")
    os.environ["TEST_RESULTS"] = path
    try:
        with open(os.devnull, "w", encoding="ascii") as nowhere:
            erlt.run([(f.__name__, f) for f in (loose, strict, odd, died, sanitized, left, late, full)], out=nowhere)
    finally:
        del os.environ["TEST_RESULTS"]
        if before is not None:
            os.environ["TEST_RESULTS"] = before
    with open(path, encoding="utf-8") as f:
        rows = list(map(json.loads, f))
    t.equal({row["test"]: row["class"] for row in rows},
            {"loose": "assertion", "strict": "assertion", "odd": "assertion", "died": "finding", "sanitized": "finding", "left": "finding", "late": "timeout",
             "full": "machine"})
    t.equal([row["test"] for row in rows if "another may be faster" in row["text"]], ["loose"])


def test_no_end_of_a_test(t):
    """A test that does not end is ended by the end of what it waits for; it is late, says where it was, and the next one runs."""
    def waits(_):
        subprocess.run("sleep 1000; sleep 1000", shell=True, check=False)  # the second one, too

    def two(_):
        pass

    class Nothing:
        used, nodes = [], []

        def __init__(self, _):
            pass

        def end(self):
            return []

    out = io.StringIO()
    with mock.patch.object(erlt, "LONGEST", 0.2), mock.patch.object(erlt.results, "write") as written:
        erlt.run([("waits", waits), ("two", two)], out=out, make=Nothing)
    t.equal([(call.args[:3]) for call in written.call_args_list], [("waits", "fail", "timeout"), ("two", "pass", "finding")], out.getvalue())
    t.match(out.getvalue(), r"(?s)had not ended after 0.2 s; it was here:.*in waits\n.*sleep 1000; sleep 1000.*\n1 passed, 1 failed\n$")


def test_more_than_one_processor(t):
    """A test that uses more than one processor for some time fails, unless it is one of those that run by themselves."""
    used = iter((0, 16, 16, 32, 32, 46))
    clock = iter((0, 10, 10, 20, 20, 30))

    class Nothing:
        used, nodes = [], []

        def __init__(self, _):
            pass

        def end(self):
            return []

    def plain(_):
        pass

    out = io.StringIO()
    with mock.patch.object(erlt, "processor_time", lambda: next(used)), mock.patch.object(erlt.time, "monotonic", lambda: next(clock)), \
            mock.patch.object(erlt.results, "write") as written:
        erlt.run([("busy", plain), ("busy_alone", erlt.alone(lambda _: None)), ("slow", plain)], out=out, make=Nothing)
    t.match(out.getvalue(), r"FAIL busy \(10.0 s\)\n +\| it used 1.6 processors for 10 s: .*@alone\)\n  ok   busy_alone .*\n  ok   slow")
    t.equal([c.args[1] for c in written.call_args_list], ["fail", "pass", "pass"], "verdicts")
    t.equal(written.call_args_list[0].args[2], "machine", "the class")


def test_wrong_patches_apply(t):
    """The wrong patches that scripts/dev/wrong gives to stage A change one line each of a room, and fit the sources of today."""
    if shutil.which("git") is None:
        raise erlt.Skipped("git is not here")
    folder = os.path.join(ROOT, "test", "tools", "wrong")
    names = sorted(os.listdir(folder))
    here = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%s"], capture_output=True, text=True, check=False).stdout.strip()
    t.equal(names, [n for n in ("dif.patch", "engine.patch", "lang.patch") if n != here], "all but the one that scripts/dev/wrong tries here")
    for name in names:
        status, out, err = run(["git", "apply", "--check", "--recount", os.path.join(folder, name)])
        t.equal(status, 0, f"{name}: {out}{err}")
        text = read("test", "tools", "wrong", name)
        t.equal([len(re.findall(rf"^\{sign}[^{sign}]", text, re.M)) for sign in "+-"], [1, 1], name)
        t.match(text, rf"^--- a/(c_src|guest)/{name[:-6]}/")
