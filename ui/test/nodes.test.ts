// Several nodes at once: their traces as one, by node and merged.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AggregationInfo, Change, Results } from "../src/model/protocol.ts";
import { read as readSession, write as writeSession } from "../src/model/saved.ts";
import { linesOf } from "../src/model/series.ts";
import { Together } from "../src/model/together.ts";
import { ALL, Trace } from "../src/model/trace.ts";
import { DEFAULT_VIEW, NO_PLACE, read as readAddress, write } from "../src/model/url.ts";
import { said } from "./fake/engine.ts";
import { random, started, T0 } from "./fake/world.ts";

const COUNT: AggregationInfo = { id: 0, name: "@n", function: "count", keys: ["string"], normal: 1, buckets: null };
const TIME: AggregationInfo = {
    id: 1,
    name: "@t",
    function: "quantize",
    keys: ["string"],
    normal: 1,
    buckets: said("quantize", []),
};
const MOST: AggregationInfo = { id: 2, name: "@m", function: "max", keys: ["string"], normal: 1, buckets: null };
const MEAN: AggregationInfo = { id: 3, name: "@a", function: "avg", keys: [], normal: 1, buckets: null };
const ALL_OF_THEM = [COUNT, TIME, MOST, MEAN];

const trace = (node: string, late = 0) => new Trace(started(T0 + late, { node, aggregations: ALL_OF_THEM }));
const results = (n: number, t: number, ...aggregations: Change[]): Results => ({
    type: "results",
    n,
    t: T0 + t,
    dt: 1000,
    aggregations,
});
const KEYS: Change[] = [0, 1, 2].map((id) => ({
    id,
    keys: [
        [0, "x"],
        [1, "y"],
    ],
}));

function two(apart: boolean): { a: Trace; b: Trace; both: Together } {
    const [a, b] = [trace("a@h"), trace("b@h", 300)];
    a.results(results(1, 1000, ...KEYS));
    // its keys have other numbers
    b.results(
        results(
            1,
            1300,
            ...[0, 1, 2].map((id) => ({
                id,
                keys: [
                    [0, "y"],
                    [1, "z"],
                ] as [number, string][],
            })),
        ),
    );
    const both = new Together(a.info, ["a@h", "b@h"], apart);
    both.add("a@h", a);
    both.add("b@h", b);
    return { a, b, both };
}

const columnsOf = (t: Together, node: string) => t.columns.flatMap((c) => t.partOf(node, c) ?? []);
const shown = (t: Trace, id: number) =>
    Object.fromEntries(
        [...t.aggregations.get(id)!.rows()].map(([k, v]) => [
            t.aggregations.get(id)!.parts(k).join(),
            t.aggregations.get(id)!.shown(v),
        ]),
    );
const added = (t: Together, n: number, id: number) => {
    const c = t.columns.at(n)!.cells.get(id)!;
    const agg = t.aggregations.get(id)!;
    return Object.fromEntries(
        Array.from(c.keys, (k, i) => [
            [...agg.parts(k), ...(c.bucket ? [`b${c.bucket[i]}`] : [])].join(),
            c.b ? [c.a[i], c.b[i]] : c.a[i],
        ]),
    );
};

test("nodes apart: the node is the first part of each key, and nothing is added up", () => {
    const { a, b, both } = two(true);
    a.results(
        results(
            2,
            2000,
            {
                id: 0,
                add: [
                    [0, 3],
                    [1, 4],
                ],
            },
            { id: 1, add: [[0, 70, 5]] },
        ),
    );
    b.results(results(2, 2300, { id: 0, add: [[0, 10]] }, { id: 1, add: [[1, 70, 2]] }));
    both.update();
    assert.deepEqual(added(both, -1, 0), { "a@h,x": 3, "a@h,y": 4, "b@h,y": 10 });
    assert.deepEqual(added(both, -1, 1), { "a@h,x,b70": 5, "b@h,z,b70": 2 });
    assert.deepEqual([...both.columns.at(-1)!.merged.get(1)!], [[70, 7]]);
    assert.deepEqual(shown(both, 0), { "a@h,x": 3, "a@h,y": 4, "b@h,y": 10, "b@h,z": 0 });
    assert.deepEqual(both.aggregations.get(0)!.keyTypes, ["string", "string"]);
    assert.equal(both.info.node, "a@h, b@h");
    assert.equal(both.info.enabled.probes, 84);
});

test("nodes merged: equal keys are one, whatever their numbers are", () => {
    const { a, b, both } = two(false);
    a.results(
        results(
            2,
            2000,
            {
                id: 0,
                add: [
                    [0, 3],
                    [1, 4],
                ],
            },
            { id: 1, add: [[1, 70, 5, 71, 1]] },
            { id: 3, add: [[0, 2, 10]] },
        ),
    );
    b.results(results(2, 2300, { id: 0, add: [[0, 10]] }, { id: 1, add: [[0, 70, 2]] }, { id: 3, add: [[0, 1, 5]] }));
    both.update();
    assert.deepEqual(added(both, -1, 0), { x: 3, y: 14 });
    assert.deepEqual(added(both, -1, 1), { "y,b70": 7, "y,b71": 1 });
    assert.deepEqual(added(both, -1, 3), { "": [3, 15] });
    assert.deepEqual(shown(both, 0), { x: 3, y: 14, z: 0 });
    assert.deepEqual(shown(both, 1), { x: 0, y: 8, z: 0 });
    assert.deepEqual(shown(both, 3), { "": 5 });
    // what a node has is not changed by the sum
    assert.equal(a.aggregations.get(0)!.shown(a.aggregations.get(0)!.now.get(1)!), 4);
    assert.deepEqual(
        [...a.columns.at(-1)!.merged.get(1)!],
        [
            [70, 5],
            [71, 1],
        ],
    );
});

test("nodes merged and apart: one can be made of the other at any time", () => {
    const { a, b, both } = two(false);
    a.results(results(2, 2000, { id: 0, add: [[1, 4]] }));
    b.results(results(2, 2300, { id: 0, add: [[0, 10]] }));
    both.update();
    const merged = added(both, -1, 0);
    both.setApart(true);
    assert.deepEqual(added(both, -1, 0), { "a@h,y": 4, "b@h,y": 10 });
    both.setApart(false);
    assert.deepEqual(added(both, -1, 0), merged);
});

test("nodes merged: a greatest value is that of all nodes, also where only one has sent it again", () => {
    const { a, b, both } = two(false);
    a.results(results(2, 2000, { id: 2, add: [[1, 50]] }));
    b.results(results(2, 2300, { id: 2, add: [[0, 20]] }));
    both.update();
    a.results(results(3, 3000));
    b.results(results(3, 3300, { id: 2, add: [[0, 30]] })); // less than the other node's
    both.update();
    assert.deepEqual(added(both, -1, 2), { y: 50 });
    assert.deepEqual(shown(both, 2), { x: 0, y: 50, z: 0 });
    const y = linesOf(both.aggregations.get(2)!, both.columns, "rate", 9, null)[0]!;
    assert.deepEqual([...y.values].slice(1), [50, 50]);
});

test("nodes merged: what comes late changes no keys, and greatest values only from there on", () => {
    const { a, b, both } = two(false);
    const agg = both.aggregations.get(2)!;
    for (const n of [2, 3, 4]) a.results(results(n, n * 1000, { id: 2, add: [[1, n]] }));
    both.update();
    b.results(results(2, 2000, { id: 2, add: [[0, 3]] }));
    b.results(results(3, 2200, { id: 0, add: [[0, 1]] })); // at the same place, without that aggregation
    both.update();
    assert.equal(both.aggregations.get(2), agg);
    assert.deepEqual(
        [1, 2].map((i) => added(both, i, 2)),
        [{ y: 3 }, { y: 3 }],
    );
    assert.equal(added(both, 1, 0).y, 1);
});

test("a node that lags leaves a gap of its own, which is filled when it comes", () => {
    const { a, b, both } = two(true);
    for (const n of [2, 3, 4]) a.results(results(n, n * 1000, { id: 0, add: [[0, n]] }));
    both.update();
    // the other node may still be on its way to the newest place, and is waited for no longer at those before
    assert.deepEqual(
        both.columns.map((c) => c.t - both.columns[0]!.t),
        [0, 1000, 2000],
    );
    assert.equal(columnsOf(both, "b@h").length, 1);
    b.results(results(2, 2300, { id: 0, add: [[0, 7]] }));
    both.update();
    assert.deepEqual(added(both, 1, 0), { "a@h,x": 2, "b@h,y": 7 });
    assert.deepEqual(
        columnsOf(both, "b@h").map((c) => c.n - both.columns[0]!.n),
        [0, 1],
    );
    a.stopped = { type: "stopped", reason: "exit" };
    b.stopped = { type: "stopped", reason: "lost", text: "the node is gone" };
    both.update();
    assert.equal(both.columns.length, 4);
    assert.equal(both.stopped?.reason, "lost");
    assert.equal(both.stopped?.text, "a@h: exit; b@h: the node is gone");
});

test("readings that come early and late are each shown once, and none is lost", () => {
    const rand = random(3);
    const { a, b, both } = two(true);
    let sum = 0;
    for (let n = 2; n <= 300; n++) {
        // the interval of one node is a little longer, so that it falls behind by some places
        a.results(results(n, Math.round(n * 1000 + 900 * (rand() - 0.5)), { id: 0, add: [[0, n]] }));
        b.results(results(n, Math.round(n * 1009 + 300 + 400 * (rand() - 0.5)), { id: 0, add: [[0, n]] }));
        sum += 2 * n;
        if (n % 7 === 0) both.update();
    }
    a.stopped = b.stopped = { type: "stopped", reason: "exit" };
    both.update();
    const all = both.columns.flatMap((c) => [...(c.cells.get(0)?.a ?? [])]).reduce((x, y) => x + y, 0);
    assert.equal(all, sum);
    for (const node of ["a@h", "b@h"]) assert.equal(columnsOf(both, node).length, 300); // no two at one place
    const n = both.columns.map((c) => c.n);
    assert.deepEqual(
        n,
        n.map((_, i) => n[0]! + i),
    );
});

test("readings of 100 ms of several nodes are columns of 100 ms, of each node and together", () => {
    const info = (node: string, late: number) => started(T0 + late, { node, interval: 100, aggregations: ALL_OF_THEM });
    const [a, b] = [new Trace(info("a@h", 0)), new Trace(info("b@h", 30))];
    const both = new Together(a.info, ["a@h", "b@h"], true);
    both.add("a@h", a);
    both.add("b@h", b);
    const rand = random(7);
    const of = (t: Trace, n: number, late: number, count: number) =>
        t.results({
            type: "results",
            n,
            t: T0 + n * 100 + late,
            dt: 100,
            aggregations:
                n === 1
                    ? KEYS.map((k) => (k.id === 1 ? { ...k, add: [[0, 70, count]] } : k))
                    : [{ id: 1, add: [[0, 70, count]] }],
        });
    for (let n = 1; n <= 900; n++) {
        of(a, n, Math.round(20 * rand()), 5);
        of(b, n, 30 + Math.round(20 * rand()), 1000 + n);
        both.update();
    }
    const { fine } = both;
    // a minute of whole seconds is kept
    assert.ok(fine.length >= 580 && fine.length <= 610, String(fine.length));
    for (let i = 1; i < fine.length; i++) assert.equal(fine[i]!.n, fine[i - 1]!.n + 1, "one after the other");
    const last = fine.at(-2)!;
    const count = (c: { merged: Map<number, Map<number, number>> }) => c.merged.get(1)!.get(70);
    const n = count(both.partOf("b@h", last)!)! - 1000;
    assert.equal(count(both.partOf("a@h", last)!), 5);
    assert.equal(count(last), 5 + 1000 + n, "what both have at that time");
    assert.ok(n >= 898, `reading ${n}`);
    assert.deepEqual([...last.cells.get(1)!.keys].map((k) => both.aggregations.get(1)!.parts(k)), [["a@h", "x"], ["b@h", "x"]]); // biome-ignore format: a line
    const total = (all: readonly { merged: Map<number, Map<number, number>> }[]) =>
        all.reduce((s, c) => s + count(c)!, 0);
    const seconds = both.columns.filter((c) => c.t - c.dt / 2 > fine[0]!.t);
    assert.ok(total(seconds) > 0.9 * total(fine), "the seconds have them as well");
    // both from the same moment on, whatever was before
    both.setApart(false);
    assert.deepEqual(both.fine.at(-2)!.cells.get(1)!.keys.length, 1);
    assert.equal(both.fine.length, fine.length);
});

test("columns of which the keys are not known stay so together", () => {
    const { a, b, both } = two(true);
    a.history({
        type: "history",
        columns: [{ n: 2, t: T0 + 2000, dt: 1000, aggregations: [{ id: 1, add: [[ALL, 70, 9]] }] }],
    });
    b.results(results(2, 2300, { id: 1, add: [[0, 70, 1]] }));
    both.update();
    assert.equal(both.columns.at(-1)!.keyed, false);
    assert.deepEqual([...both.columns.at(-1)!.merged.get(1)!], [[70, 10]]);
});

test("what the scripts print on several nodes is one console, with the node of each record", () => {
    const { a, b, both } = two(true);
    const record = (text: string, at: number) => ({
        type: "records" as const,
        probes: [[3, "tick-1s", ""] as [number, string, string]],
        rows: [[3, at, 0, text, []] as [number, number, number, string, unknown[]]],
        skipped: 0,
    });
    a.record(record("one\n", 100));
    both.update();
    b.record(record("two\n", 100));
    a.record(record("three\n", 900));
    both.update();
    assert.deepEqual(
        both.records.map((r) => [r.node, r.text.trim(), r.at]),
        [
            ["a@h", "one", 100],
            ["a@h", "three", 900],
            ["b@h", "two", 400],
        ],
    );
});

test("a session of several nodes is saved like any other, with the node as a part of keys", () => {
    const { a, b, both } = two(true);
    a.results(results(2, 2000, { id: 0, add: [[0, 3]] }, { id: 1, add: [[0, 70, 5]] }));
    b.results(results(2, 2300, { id: 0, add: [[-1, 4]] }));
    a.stopped = b.stopped = { type: "stopped", reason: "exit" };
    both.update();
    const { trace } = readSession(
        writeSession({ trace: both, look: "", erltrace: "0.1.0", running: false, notices: [] }).join(""),
    );
    assert.equal(trace.info.node, "a@h, b@h");
    assert.deepEqual(shown(trace, 0), shown(both, 0));
    assert.equal(shown(trace, 0)["b@h,all other keys"], 4);
    assert.deepEqual(trace.columns, both.columns);
});

test("an address has all nodes", () => {
    const a = {
        node: "a@h",
        also: ["b@h", "c d@h"],
        name: "",
        script: "x",
        args: [],
        view: DEFAULT_VIEW,
        look: NO_PLACE,
    };
    assert.deepEqual(readAddress(write(a)), a);
});
