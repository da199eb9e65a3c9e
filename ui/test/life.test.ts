import assert from "node:assert/strict";
import { test } from "node:test";
import { type Do, gapText, Life, type Link, NODE_MS, type Now, RESTART_MS } from "../src/model/life.ts";
import type { Part, Started, Stopped } from "../src/model/protocol.ts";
import { Seam } from "../src/model/seam.ts";
import { Trace } from "../src/model/trace.ts";

const [A, B] = ["a".repeat(32), "b".repeat(32)];
const RUNNING: Now = { phase: "running", silent: 0, stopping: false, placing: false, reason: null, saved: false };
const end = (reason: Stopped["reason"], text = ""): Stopped => ({ type: "stopped", trace: 1, reason, text });

/** A page whose trace runs. */
function running(): Life {
    const l = new Life();
    l.linked("open", true, "", false, 0);
    l.hello(A, 10_000, 0);
    return l;
}
const says = (l: Life, now: number, n = RUNNING) => {
    const t = l.tell(n, now);
    return [t.state, t.text, t.more] as const;
};

test("a cut connection: how long the trace waits, and what comes then", () => {
    const l = running();
    l.linked("mute", false, "", true, 1000);
    assert.deepEqual(says(l, 3000), [
        "mute",
        "no answer for 2 s",
        "It stands still, or the network is cut; trying again. The trace goes on, and waits 8 s more for this page.",
    ]);
    l.linked("cut", false, "", true, 4000);
    assert.match(says(l, 10_000)[2], /waits 1 s more/);
    assert.match(says(l, 12_000)[2], /By now the trace has ended/);
    assert.equal(l.tick(12_000), null);
    l.linked("open", true, "", true, 12_000);
    assert.equal(l.hello(A, 10_000, 12_000), "rejoin");
    assert.equal(says(l, 12_000)[0], "back");
    assert.equal(l.started(), "link");
    assert.equal(says(l, 12_001)[1], "running");
});

test("a server that stood still: nothing to be done once it answers", () => {
    const l = running();
    l.linked("mute", false, "", true, 1000);
    l.linked("open", false, "", true, 6000);
    assert.equal(l.lost, null);
    assert.equal(says(l, 6000)[0], "running");
});

test("another server: the script is started again, once, if it was not away for too long", () => {
    for (const [wait, what] of [
        [8000, "restart"],
        [10_001 + RESTART_MS, "end"],
    ] as [number, Do][]) {
        const l = running();
        l.linked("gone", false, "", true, 1000);
        assert.match(says(l, 1000)[2], /within 40 s, the script starts again/);
        l.linked("open", true, "", true, 1000 + wait);
        assert.equal(l.hello(B, 10_000, 1000 + wait), what);
        if (what !== "restart") continue;
        assert.equal(says(l, 1000 + wait)[1], "starting again");
        assert.equal(l.failed(1000 + wait), "end");
    }
    const l = running();
    assert.equal(l.stopped(end("server"), 1000), true);
    l.linked("gone", false, "", true, 1100);
    assert.equal(l.tick(1001 + 10_000 + RESTART_MS), "end");
});

test("a trace that ends on the same server while the page is away", () => {
    const l = running();
    l.linked("cut", false, "", true, 1000);
    l.linked("open", true, "", true, 20_000);
    assert.equal(l.hello(A, 10_000, 20_000), "rejoin");
    assert.equal(l.failed(20_001), "end");
});

test("a connection that is lost again before the answer", () => {
    const l = running();
    l.linked("cut", false, "", true, 1000);
    l.linked("open", true, "", true, 2000);
    assert.equal(l.hello(A, 10_000, 2000), "rejoin");
    l.linked("cut", false, "", true, 2100);
    l.linked("open", true, "", true, 3000);
    assert.equal(l.hello(A, 10_000, 3000), "rejoin");
    assert.equal(l.started(), "link");
});

test("a node that is gone is waited for, and its modules as well", () => {
    const l = running();
    assert.equal(l.stopped(end("lost", "shop is gone"), 1000), true);
    assert.deepEqual(says(l, 3000), [
        "node",
        "node gone",
        "If it is back within 58 s, the script starts again by itself, and the map goes on. It was said: shop is gone",
    ]);
    assert.equal(l.tick(2000), "look");
    assert.equal(l.found(), "restart");
    assert.equal(l.found(), null);
    assert.equal(l.tick(2500), null);
    assert.equal(l.failed(3000), null); // no probes matched, yet
    assert.equal(l.tick(4000), "look");
    assert.equal(l.found(), "restart");
    assert.equal(l.started(), "node");
    assert.equal(l.stopped(end("lost"), 10_000), true);
    assert.equal(l.tick(10_001 + NODE_MS), "end");
    for (const reason of ["exit", "user", "left", "overload", "limit", "error"] as const)
        assert.equal(l.stopped(end(reason), 0), false);
});

test("each state looks and reads differently", () => {
    const seen = new Set<string>();
    const see = (l: Life, n: Partial<Now> = {}) => {
        const t = l.tell({ ...RUNNING, ...n }, 5000);
        assert.ok(!seen.has(t.text), `twice: ${t.text}`);
        seen.add(t.text);
        assert.doesNotMatch(t.say, /\d/, "what is said does not count");
    };
    see(running());
    see(running(), { silent: 4000 });
    see(running(), { phase: "starting" });
    see(running(), { phase: "starting", placing: true });
    see(running(), { stopping: true });
    see(running(), { phase: "failed" });
    see(running(), { phase: "idle" });
    for (const link of ["mute", "cut", "gone", "refused"] as Link[]) {
        const l = running();
        l.linked(link, false, "", true, 1000);
        see(l);
    }
    for (const reason of ["left", "exit", "user", "overload", "lost", "limit", "error", "server"] as const)
        see(running(), { phase: "stopped", reason });
    const node = running();
    node.stopped(end("lost"), 1000);
    see(node);
    assert.equal(gapText("server", 3210), "server restarted: 3.2 s missing");
    assert.equal(gapText("node", 12_345), "node restarted: 12 s missing");
});

test("keys keep their numbers where a trace goes on", () => {
    const s = new Seam(
        new Map<number, Part[]>([
            [0, ["a", 1]],
            [4, ["b", 2]],
        ]),
    );
    assert.deepEqual(
        s.change({
            id: 3,
            keys: [
                [0, "b", 2],
                [1, "c", 3],
            ],
            add: [
                [0, 7],
                [1, 8],
                [-1, 9],
            ],
        }),
        {
            id: 3,
            keys: [
                [4, "b", 2],
                [5, "c", 3],
            ],
            add: [
                [4, 7],
                [5, 8],
                [-1, 9],
            ],
        },
    );
    assert.deepEqual(s.change({ id: 3, keys: [[2, "a", "1"]], now: [[2, 1]], gone: [1], at_least: [2, -1] }), {
        id: 3,
        keys: [[0, "a", "1"]],
        now: [[0, 1]],
        gone: [5],
        at_least: [0, -1],
    });
});

const STARTED = {
    type: "started",
    trace: 1,
    t: 1000,
    interval: 1000,
    aggregations: [{ id: 0, name: "@", function: "count", keys: ["string"], normal: 1, buckets: null }],
} as unknown as Started;

test("a trace that goes on: columns, keys and sums, with a gap that is known", () => {
    const t = new Trace(STARTED);
    const reading = (n: number, at: number, change: object) =>
        t.results({ type: "results", n, t: at, dt: 1000, aggregations: [{ id: 0, ...change }] });
    reading(1, 2000, { keys: [[0, "x"]], add: [[0, 5]] });
    reading(2, 3000, { add: [[0, 6]] });
    assert.equal(t.resume({ ...STARTED, trace: 1, t: 9000 }, "server"), true);
    t.state({ type: "state", n: 0, t: 9000, skipped: 0, aggregations: [{ id: 0, keys: [], now: [] }] });
    reading(1, 10_000, { keys: [[0, "y"]], add: [[0, 1]] });
    reading(2, 11_000, { keys: [[1, "x"]], add: [[1, 2]] });
    const agg = t.aggregations.get(0)!;
    assert.deepEqual(
        t.columns.map((c) => [c.n, c.t, [...c.cells.get(0)!.keys].map((k) => agg.parts(k)[0]), [...c.cells.get(0)!.a]]),
        [
            [1, 2000, ["x"], [5]],
            [2, 3000, ["x"], [6]],
            [3, 10_000, ["y"], [1]],
            [4, 11_000, ["x"], [2]],
        ],
    );
    assert.deepEqual(
        [...agg.rows()].map(([key, v]) => [agg.parts(key)[0], agg.shown(v)]),
        [
            ["x", 13],
            ["y", 1],
        ],
    );
    assert.deepEqual(t.gaps, [{ from: 3000, to: 9000, what: "server" }]);
    assert.equal(t.last, 2);
    // cut, and back: what comes again is not taken twice, and the sums are those of both
    t.history({
        type: "history",
        columns: [
            { n: 2, t: 11_000, dt: 1000, aggregations: [{ id: 0, add: [[1, 2]] }] },
            { n: 3, t: 12_000, dt: 1000, aggregations: [{ id: 0, add: [[1, 4]] }] },
        ],
    });
    t.state({
        type: "state",
        n: 3,
        t: 12_000,
        skipped: 0,
        aggregations: [
            {
                id: 0,
                keys: [
                    [0, "y"],
                    [1, "x"],
                ],
                now: [
                    [0, 1],
                    [1, 6],
                ],
            },
        ],
    });
    assert.deepEqual(
        t.columns.map((c) => c.n),
        [1, 2, 3, 4, 5],
    );
    assert.deepEqual([...agg.rows()].map(([key, v]) => [agg.parts(key)[0], agg.shown(v)]).sort(), [
        ["x", 17],
        ["y", 1],
    ]);
    assert.equal(t.resume({ ...STARTED, aggregations: [] }, "server"), false);
});
