"""A cluster as one system: all of its nodes are traced by the name of one, those that come as well, and those that go are told."""
import os
import signal

import erlt
from erlt import COOKIE, json_lines

# The first tick of each node says that its probes fire.
COUNT = ('tick-50ms /!began/ { began = 1; printf("ready %s\\n", node); }\n'
         "erlang*:etw:work/1:entry { @[node] = count(); }")

# OTP cuts connections of nodes that come and go, unless told not to.
TOGETHER = ("-kernel", "prevent_overlapping_partitions", "false")


def fresh(t):
    return t.node(options=TOGETHER)


def joined(t, *nodes):
    """Connects nodes with the first one, and so with each other: one after the other."""
    for n, new in enumerate(nodes[1:], 2):
        t.equal(new(f"net_adm:ping('{nodes[0].name}')"), "pong", "the nodes are connected")
        for node in nodes[:n]:
            erlt.until(lambda node=node, n=n: len(node("nodes()")) == n - 1, f"{node.name} does not see all others")


def other_release(t, otp):
    """A node of another release; None where that is not installed, or is the one under test."""
    if otp == t.otp or not os.path.isdir(os.path.join(erlt.cache(), f"otp-{otp}")):
        return None
    node = erlt.Node(otp=otp, options=TOGETHER)
    t.nodes.append(node)
    return node


def clusters(t):
    """Three nodes that are connected; of other releases as far as they are there."""
    nodes = [fresh(t)] + [other_release(t, otp) or fresh(t) for otp in ("27", "29")]
    joined(t, *nodes)
    return nodes


def begin(t, node, *args):
    return t.trace("--cluster", node.name, "--cookie", COOKIE, *args)


def calls(node, n):
    node(f"etw:calls({erlt.pid(node('etw:worker()'))}, {n})")


def counted(trace):
    """The counts by node."""
    return {o["keys"][0]: o["value"] for o in json_lines(trace.out.text()) if o.get("type") == "aggregation"}


def members(trace):
    """What was told of members, in order."""
    return [(o["what"], o["node"]) for o in json_lines(trace.out.text()) if o.get("type") == "member"]


def wait_count(trace, node, n):
    """Waits until printa() shows that a node has counted n."""
    trace.wait(rf'"keys":\["{node.name}"\],"values":\[{n}\]')


def wait_ready(trace, node):
    trace.wait(f"ready {node.name}")


def test_counts_of_all(t):
    """Each node has its own key, a predicate chooses nodes, and hidden connections leave the cluster's own view of its members as it was."""
    nodes = clusters(t)
    seen = [node("lists:sort(nodes())") for node in nodes]
    trace = begin(t, nodes[1], "--json", "-n",
                  COUNT + f'erlang*:etw:work/1:entry /node == "{nodes[2].name}"/ {{ @one = count(); }}')
    for node, n in zip(nodes, (101, 211, 307)):
        wait_ready(trace, node)
        t.equal(node("lists:sort(nodes())"), seen[nodes.index(node)], "its view of the cluster")
        calls(node, n)
    trace.interrupt()
    t.equal(trace.end(), 0, "its status", trace)
    sums = [o["value"] for o in json_lines(trace.out.text()) if o.get("name") == "@one"]
    found = {o["keys"][0]: o["value"] for o in json_lines(trace.out.text()) if o.get("name") == "@"}
    t.equal(found, {node.name: n for node, n in zip(nodes, (101, 211, 307))}, "counts", trace)
    t.equal(sums, [307], "the count of the predicate", trace)
    for node in nodes:
        t.clean(node)


def test_a_node_that_joins(t):
    """A node that comes is traced, and told; the counts of the others go on."""
    nodes = [fresh(t), fresh(t)]
    joined(t, *nodes)
    trace = begin(t, nodes[0], "--json", "-n", COUNT)
    for node in nodes:
        wait_ready(trace, node)
    calls(nodes[0], 101)
    third = other_release(t, "29") or fresh(t)
    joined(t, *nodes, third)
    wait_ready(trace, third)
    for node, n in zip(nodes + [third], (2, 211, 307)):
        calls(node, n)
    trace.interrupt()
    t.equal(trace.end(), 0, "its status", trace)
    t.equal(counted(trace), {nodes[0].name: 103, nodes[1].name: 211, third.name: 307}, "counts", trace)
    t.equal(members(trace), [("joined", third.name)], "what is told", trace)
    for node in nodes + [third]:
        t.clean(node)


def test_a_node_that_is_killed_and_comes_back(t):
    """What a node had counted is kept when it is killed, that is told, and it is traced again when it is back; the trace has not failed."""
    stays, dies = fresh(t), fresh(t)
    joined(t, stays, dies)
    # A lost node is left alone by what goes to all nodes while the trace runs, and at its end (-v: clocks).
    trace = begin(t, stays, "-v", "--json", "-n", COUNT + 'tick-50ms { setopt("aggrate", "50ms"); printa(@); }')
    for node in (stays, dies):
        wait_ready(trace, node)
    calls(dies, 101)
    wait_count(trace, dies, 101)  # the consumer has them
    dies.p.kill()
    dies.p.wait()
    trace.wait('"what":"left"')
    calls(stays, 211)
    begun = len(trace.out.lines)
    back = erlt.Node(otp=t.otp, name=dies.short, options=TOGETHER)
    t.nodes.append(back)
    joined(t, stays, back)
    trace.wait(f"ready {back.name}", start=begun)
    calls(back, 307)
    for node, n in ((stays, 211), (back, 101 + 307)):  # what printa() shows is not printed once more at the end
        wait_count(trace, node, n)
    trace.interrupt()
    t.equal(trace.end(), 0, "its status", trace)
    last = {}
    for o in json_lines(trace.out.text()):
        for d in o.get("data", []):
            last.update({r["keys"][0]: r["values"][0] for r in d.get("rows", [])})
    last.update(counted(trace))
    t.equal(last, {stays.name: 211, dies.name: 101 + 307}, "counts", trace)
    t.equal(members(trace), [("left", dies.name), ("joined", dies.name)], "what is told", trace)
    for node in (stays, back):
        t.clean(node)


def test_a_node_that_stands_still(t):
    """A node that is stopped is told, does not hold up the others, and goes on when it does."""
    goes, stands = fresh(t), fresh(t)
    joined(t, goes, stands)
    trace = begin(t, goes, "-qn", COUNT)
    for node in (goes, stands):
        wait_ready(trace, node)
    calls(stands, 101)
    os.kill(stands.pid, signal.SIGSTOP)
    try:
        trace.wait_error(f"{stands.name} does not answer")
        calls(goes, 211)
    finally:
        os.kill(stands.pid, signal.SIGCONT)
    trace.wait_error(f"{stands.name} answers again")
    calls(stands, 2)
    trace.interrupt()
    t.equal(trace.end(), 0, "its status", trace)
    for node, n in ((goes, 211), (stands, 103)):
        t.match(trace.out.text(), rf"{node.name} +{n}$", "counts")
        t.clean(node)


def test_one_that_cannot_be_traced(t):
    """A node that does not take our cookie is told with the reason, and the others are traced."""
    node, other = fresh(t), fresh(t)
    joined(t, node, other)
    t.logs.append("Connection attempt from node .* rejected. Invalid challenge reply")
    other("erlang:set_cookie(node(), another)")
    trace = begin(t, node, "-qn", COUNT)
    wait_ready(trace, node)
    trace.wait_error(rf"warning: \[NODE_COOKIE\] {other.name} is not traced: .* refused the cookie")
    calls(node, 101)
    trace.interrupt()
    t.equal(trace.end(), 0, "its status", trace)
    t.match(trace.out.text(), rf"{node.name} +101$", "counts")


def test_not_beside_others(t):
    """A cluster is the only target, and -y is for it."""
    for words in (["--node", "a"], ["-p", "1"], ["--local"], ["--kernel"]):
        status, _, err = t.run("--cluster", "a", *words, "-n", "BEGIN")
        t.equal(status, 2, " ".join(words))
        t.match(err, "--cluster cannot be used with", " ".join(words))
