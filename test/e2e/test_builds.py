"""An agent that was built with another OTP release than the node's; a tool and an agent that another Debian's compiler has built."""
import os
import subprocess

from erlt import ROOT, Skipped, aggregation, making, pid

ENTRY = 'tick-50ms /!ready/ { ready = 1; printf("ready\\n"); } erlang*:etw:work/1:entry { @["call"] = count(); }'


def agent_of(t, release):
    """Returns a root folder with an agent that this release's compiler built."""
    with making(f"agent-{release}") as root:
        return made(t, release, root)


def made(t, release, root):
    """Builds the agent in that folder unless it is up to date; returns the folder."""
    beam, pack = os.path.join(root, "priv", "agent", "erltrace_agent.beam"), os.path.join(ROOT, "scripts", "dev", "pack-agent")
    folder = os.path.join(ROOT, "guest", "agent")
    sources = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith((".erl", ".hrl"))]
    if not os.path.exists(beam) or os.path.getmtime(beam) < max(os.path.getmtime(f) for f in [pack, *sources]):
        os.makedirs(os.path.dirname(beam), exist_ok=True)
        for name in ("erltrace_agent.so", "lib"):
            if not os.path.lexists(os.path.join(root, "priv", name)):
                os.symlink(os.path.join(ROOT, "priv", name), os.path.join(root, "priv", name))
        main = os.path.join(folder, "erltrace_agent.erl")
        packed = subprocess.run([os.path.join(ROOT, "scripts", "dev", "in-otp"), release, pack, beam, main,
                                 *[f for f in sources if f.endswith(".erl") and f != main]], check=False, capture_output=True, text=True)
        if packed.returncode == 77:
            raise Skipped(packed.stderr.strip())
        t.equal(packed.returncode, 0, packed.stderr)
    return root


def traced(t, root):
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", ENTRY, node=node, env={"ERLTRACE_ROOT": root})
    trace.ready()
    node(f"etw:calls({worker}, 1009)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {"call": 1009}, "counts", trace)
    t.clean(node, 15000)


def test_agent_of_otp_27(t):
    traced(t, agent_of(t, "27"))


def test_agent_of_otp_29(t):
    traced(t, agent_of(t, "29"))


def test_attaches(t):
    """What this suite runs with. `make check-built` runs this test with each tool that other Debians' compilers have built, and with its agent."""
    traced(t, os.environ.get("ERLTRACE_ROOT", ROOT))
