// look.test.ts - what the views share and show of a part of a trace: values of a range, flame graphs in their modes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, type Frame, functionsOf, type Stacks, stacksOf, timeline } from "../src/model/flame.ts";
import type { AggregationInfo, Results } from "../src/model/protocol.ts";
import { valuesIn } from "../src/model/range.ts";
import { steps, timed, timeSteps } from "../src/model/series.ts";
import { ALL, Trace } from "../src/model/trace.ts";
import { said } from "./fake/engine.ts";
import { started, T0 } from "./fake/world.ts";

const agg = (id: number, fn: string, keys: string[] = ["string"], params: number[] = []): AggregationInfo => ({
    id,
    name: `@a${id}`,
    function: fn,
    keys,
    normal: 1,
    buckets: /quantize/.test(fn) ? said(fn as "quantize", params) : null,
});
const results = (n: number, ...aggregations: Results["aggregations"]): Results => ({
    type: "results",
    n,
    t: T0 + n * 1000,
    dt: 1000,
    aggregations,
});

test("the values of some columns and keys: sums, histograms, averages, the least value", () => {
    const t = new Trace(
        started(T0, {
            aggregations: [agg(0, "sum"), agg(1, "lquantize", ["string"], [0, 10, 1]), agg(2, "avg"), agg(3, "min")],
        }),
    );
    t.results(results(1, { id: 0, keys: [[0, "x"]], add: [[0, 5]] }, { id: 1, add: [[0, 1, 4]] }));
    t.results(
        results(
            2,
            { id: 0, keys: [[1, "y"]], add: [[0, 2], [1, 9]] }, // biome-ignore format: a row a key
            { id: 1, add: [[0, 1, 1, 2, 3]] },
            { id: 2, add: [[0, 2, 10]] },
            { id: 3, add: [[0, 7]] },
        ),
    );
    t.results(results(3, { id: 0, add: [[0, 1]] }, { id: 2, add: [[0, 1, 2]] }, { id: 3, add: [[0, 4]] }));
    const of = (id: number, from: number, keys: number[] | null = null) =>
        [...valuesIn(t.aggregations.get(id)!, t.columns.slice(from), keys && new Set(keys))].map(([k, v]) => [
            k,
            v instanceof Map ? [...v] : v,
        ]);
    assert.deepEqual(of(0, 1), [
        [0, [3]],
        [1, [9]],
    ]);
    assert.deepEqual(of(0, 0, [0]), [[0, [8]]]);
    assert.deepEqual(of(1, 0), [
        [
            0,
            [
                [1, 5],
                [2, 3],
            ],
        ],
    ]);
    assert.deepEqual(of(2, 0), [[0, [3, 12]]]);
    assert.deepEqual(of(3, 0), [[0, [4]]]);
    assert.deepEqual(of(3, 0, [7]), []);
});

const STACKS: Stacks = [
    [["a", "m:b/0 (x.erl:1)", "c"], 5],
    [["a", "m:b/0 (x.erl:2)"], 2],
    [["d", "c", "m:b/0 (x.erl:1)", "c"], 3],
];
const shape = (f: Frame): unknown => [f.name, f.value, ...f.children.map(shape)];

test("functions of stacks: own and whole values, callers and callees of one that calls itself", () => {
    assert.deepEqual(
        functionsOf(STACKS).map((f) => [f.name, f.self, f.total]),
        [
            ["c", 8, 8],
            ["m:b/0", 2, 10],
            ["a", 0, 7],
            ["d", 0, 3],
        ],
    );
    const c = around(STACKS, "c");
    assert.deepEqual(shape(c.callers), ["c", 8, ["m:b/0", 5, ["a", 5]], ["d", 3]]);
    assert.deepEqual(shape(c.callees), ["c", 8, ["m:b/0", 3, ["c", 3]]]);
    const b = around(STACKS, "m:b/0");
    assert.deepEqual(shape(b.callers), ["m:b/0", 10, ["a", 7], ["c", 3, ["d", 3]]]);
    assert.deepEqual([b.callees.value, b.callees.self], [10, 2]);
    assert.deepEqual(shape(around(STACKS, "none").callers), ["none", 0]);
});

test("a flame graph by time has the columns in their order, each with its heaviest stack first", () => {
    const t = new Trace(started(T0, { aggregations: [agg(0, "count", ["stack"])] }));
    const a = t.aggregations.get(0)!;
    t.results(
        results(1, {
            id: 0,
            keys: [
                [0, ["x", "r"]],
                [1, ["y", "r"]],
            ],
            add: [
                [0, 1],
                [1, 3],
            ],
        }),
    );
    t.results(results(2));
    t.results(results(3, { id: 0, add: [[0, 6]] }));
    const f = timeline(
        t.columns.map((c) => ({ name: String(c.n), stacks: stacksOf(a, valuesIn(a, [c], null)) })),
        false,
    );
    assert.deepEqual(shape(f), ["all", 10, ["1", 4, ["r", 4, ["y", 3], ["x", 1]]], ["3", 6, ["r", 6, ["x", 6]]]]);
    assert.deepEqual(
        f.children.map((c) => [c.x0, c.x1]),
        [
            [0, 0.4],
            [0.4, 1],
        ],
    );
});

test("lines against time: a gap where readings are missing, sums when stacked", () => {
    const column = (t: number) => ({ n: t, t, dt: 1000, cells: new Map(), merged: new Map(), keyed: true });
    const columns = [1000, 2100, 5000].map(column);
    const line = (key: number, ...values: number[]) => ({ key, values: Float64Array.from(values), weight: 0 });
    const lines = [line(ALL, 9, 9, 9), line(1, 1, NaN, 3), line(2, 10, 20, 30)];
    assert.deepEqual(timed(columns, lines, 1000, false), [
        [0.5, 1.6, 3.05, 4.5],
        [9, 9, null, 9],
        [1, null, null, 3],
        [10, 20, null, 30],
    ]);
    // what a long reading covers is known; the second before a short one is not
    const long = [column(1000), { ...column(6000), dt: 5000 }, { ...column(7700), dt: 700 }];
    assert.deepEqual(timed(long, [line(2, 1, 2, 3)], 1000, false), [
        [0.5, 3.5, 6.5, 7.35],
        [1, 2, null, 3],
    ]);
    assert.deepEqual(steps(0, 97, 5), [0, 20, 40, 60, 80]);
    assert.deepEqual(timeSteps(100.5, 121, 5), [105, 110, 115, 120]);
    assert.deepEqual(timed(columns, lines, 1000, true).slice(1), [
        [9, 9, null, 9],
        [1, 0, null, 3],
        [11, 20, null, 33],
    ]);
});
