"""results - one line of JSON for each test, which runners write and scripts/dev/tally reads and judges.

    {"suite": "e2e", "test": "ends/a_reader", "otp": "27", "verdict": "fail", "class": "timeout", "ms": 60123, "cpu_ms": 2100,
     "load": 1.4, "node": "et12_1@host", "text": "..."}

Fields:
    verdict  "pass", "fail" or "skip"
    class    of a failed test, otherwise null:
             "finding"    a node or program died, a core, what a sanitizer says, something left behind or in a node's log, an error of lint
             "assertion"  a wrong value, or an error of the test itself: of an exception, the default
             "timeout"    a wait has reached its end
             "machine"    the machine did not give what every program may expect: a port, memory, room on the disk, a browser that starts
    ms       from begin to end, of the processor time of all its processes cpu_ms (0: not measured)
    load     of the machine (the average of a minute), when the test ended
    node     the node that the test used, or null
    text     what failed, or why it was skipped; null

The file is named by TEST_RESULTS in the environment, and a line is added to it by one write. Without TEST_RESULTS nothing is written.
"""
import errno
import json
import os
import queue
import re
import subprocess
import sys

FINDING, ASSERTION, TIMEOUT, MACHINE = "finding", "assertion", "timeout", "machine"
CLASSES = (FINDING, ASSERTION, TIMEOUT, MACHINE)
TEXT = 4000  # characters of a text that are kept
# Errors of the operating system that are the machine's.
LACKS = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EADDRINUSE, errno.EMFILE, errno.ENFILE, errno.EAGAIN}
# What a wrong value says of a program that died: of a signal (subprocess has it as a negative status), or ended by a sanitizer.
DEATH = re.compile(r"Sanitizer|runtime error: |Segmentation fault|core dumped|\bgot \(?-(?:4|6|7|8|11)\b")


def class_of(error):
    """The class of an exception that ended a test. Exceptions that say theirs have it in `kind`."""
    kind = getattr(error, "kind", None)
    if kind != MACHINE and DEATH.search(str(error)):
        return FINDING
    if kind in CLASSES:
        return kind
    if isinstance(error, (subprocess.TimeoutExpired, TimeoutError, queue.Empty)):
        return TIMEOUT
    if isinstance(error, OSError) and error.errno in LACKS:
        return MACHINE
    return ASSERTION


def gravest(classes):
    """The class of a test that failed in several ways."""
    classes = set(classes)
    return next((kind for kind in (FINDING, TIMEOUT, ASSERTION, MACHINE) if kind in classes), FINDING)


def suite():
    """The suite whose runner this program is."""
    return os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0])))


def write(test, verdict, kind=None, *, otp="", ms=0, cpu_ms=0, node=None, text=None):
    """Adds the line of a test. `kind` is the class of a failed one."""
    path = os.environ.get("TEST_RESULTS")
    if not path:
        return
    line = {"suite": suite(), "test": test, "otp": otp or "", "verdict": verdict, "class": (kind or FINDING) if verdict == "fail" else None,
            "ms": round(ms), "cpu_ms": round(cpu_ms), "load": round(os.getloadavg()[0], 2), "node": node,
            "text": text[:TEXT] if text else None}
    data = (json.dumps(line) + "\n").encode()
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def read(path):
    """The lines of a file, as dictionaries. A line that is none of ours is a finding with its text."""
    found = []
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            lines = f.read().splitlines()
    except FileNotFoundError:
        return found
    for line in lines:
        try:
            row = json.loads(line)
            if row["verdict"] not in ("pass", "fail", "skip") or (row["verdict"] == "fail") != (row["class"] in CLASSES):
                raise ValueError
            found.append(row)
        except (ValueError, KeyError, TypeError):
            found.append({"suite": "?", "test": "?", "otp": "", "verdict": "fail", "class": FINDING, "ms": 0, "load": 0, "node": None,
                          "text": "no line of a test: " + line[:TEXT]})
    return found
