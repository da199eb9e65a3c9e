"""`make demo-web`: what a newcomer runs first."""
import os
import re
import subprocess

import client
import erlt


def test_the_demo(t, _s):
    """It prints an address that opens the page, beside a node in which something happens; ended, it leaves nothing running."""
    if erlt.TOOL != os.path.join(erlt.ROOT, "bin", "erltrace"):
        raise erlt.Skipped("the demo is of the usual build")
    demo = subprocess.Popen([os.path.join(erlt.ROOT, "demo", "web")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env=dict(os.environ, DEMO_LISTEN="127.0.0.1:0", ERLTRACE_ROOT=erlt.ROOT), text=True)
    said = ""
    try:
        while "token=" not in said:
            line = demo.stdout.readline()
            t.true(line, f"it has ended: {said}")
            said += line
        shop = int(t.match(said, r"OS process (\d+)")[1])
        s = client.Found(said.splitlines()[-1])
        node = s.get("/api/state").json()["node"]
        t.match(said, "node " + re.escape(node), "the node is named")
        left = subprocess.run(["grep", "-rlF", s.token, os.path.join(erlt.ROOT, "build", "demo-web")], stdout=subprocess.PIPE, check=False)
        t.equal(left.stdout, b"", "files with the token")
        w = s.websocket()
        w.start("#pragma D option aggrate=200ms\nerlang*:::process-spawn { @ = count(); }", node=node)
        w.wait("results", lambda m: client.added(m).get(0, [0])[0] > 0)
        w.close()
    finally:
        demo.terminate()
        rest = demo.stdout.read()
        status = demo.wait(erlt.PATIENCE)
    t.equal((status, rest), (0, ""), "the end")
    erlt.until(lambda: not os.path.exists(f"/proc/{shop}"), "the shop is still open")
