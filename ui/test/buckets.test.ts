import assert from "node:assert/strict";
import { test } from "node:test";
import { addHist, bucketsOf, type Hist, percentile } from "../src/model/buckets.ts";
import type { HistFn } from "../src/model/functions.ts";
import { engineOf, said } from "./fake/engine.ts";

// What bin/erltrace prints for these values: function, parameters, value, first and last value of its bucket.
const table: [HistFn, number[], number, number, number][] = [
    ["quantize", [], 0, 0, 0],
    ["quantize", [], 1, 1, 1],
    ["quantize", [], 1023, 512, 1023],
    ["quantize", [], 1024, 1024, 2047],
    ["quantize", [], -1, -1, -1],
    ["quantize", [], -5, -7, -4],
    ["quantize", [], 2 ** 62, 2 ** 62, Infinity],
    ["lquantize", [0, 100, 10], -1, -Infinity, -1],
    ["lquantize", [0, 100, 10], 0, 0, 9],
    ["lquantize", [0, 100, 10], 99, 90, 99],
    ["lquantize", [0, 100, 10], 100, 100, Infinity],
    ["lquantize", [-50, 50, 25], -26, -50, -26],
    ["llquantize", [10, 0, 3, 10], 0, 0, 0],
    ["llquantize", [10, 0, 3, 10], 7, 7, 7],
    ["llquantize", [10, 0, 3, 10], 10, 10, 19],
    ["llquantize", [10, 0, 3, 10], 999, 900, 999],
    ["llquantize", [10, 0, 3, 10], 10000, 10000, Infinity],
    ["llquantize", [10, 0, 3, 10], -15, -19, -10],
    ["llquantize", [10, 2, 6, 20], 99, -99, 99],
    ["llquantize", [10, 2, 6, 20], 149, 100, 149],
    ["llquantize", [10, 2, 6, 20], 1000, 1000, 1499],
    ["llquantize", [10, 0, 6, 20], 1, 1, 1],
    ["llquantize", [10, 0, 6, 20], 9, 9, 9],
    ["llquantize", [10, 0, 6, 20], 10, 10, 14],
    ["llquantize", [2, 3, 10, 2], 9, 8, 15],
];

test("a value's bucket holds it, and has the engine's bounds", () => {
    for (const [fn, params, v, from, to] of table) {
        const b = engineOf(fn, params);
        const i = b.of(v);
        assert.ok(i >= 0 && i < b.count, `${fn}(${params}) ${v}`);
        // -0 is 0
        assert.deepEqual([b.bounds(i).from + 0, b.bounds(i).to + 0], [from, to], `${fn}(${params}) ${v}`);
    }
});

test("buckets follow each other without gap", () => {
    for (const [fn, params] of table) {
        const b = engineOf(fn, params);
        const edges = new Map<number, number>();
        for (let i = 0; i < b.count; i++) {
            const { from, to } = b.bounds(i);
            if (Math.abs(from) < 2 ** 40 && Math.abs(to) < 2 ** 40 && b.of(from) === i) {
                assert.equal(b.of(to), i, `${fn}(${params}) bucket ${i} ${from}..${to}`);
                edges.set(from, to);
            }
        }
        for (const [, to] of edges)
            assert.ok(
                edges.has(to + 1) || !Number.isFinite(b.bounds(b.of(to + 1)).to) || to + 1 >= 2 ** 39,
                `${fn}(${params}) after ${to}`,
            );
    }
});

test("percentiles come from merged histograms", () => {
    const b = bucketsOf("lquantize", said("lquantize", [0, 100, 10]));
    const h: Hist = new Map();
    addHist(h, [[1, 50]]);
    addHist(h, [[2, 30]]);
    addHist(h, [[2, 20]]);
    assert.equal(percentile(h, b, 0.5), 10);
    assert.equal(percentile(h, b, 0.75), 15);
    assert.equal(percentile(h, b, 1), 20);
    assert.ok(Number.isNaN(percentile(new Map(), b, 0.5)));
    addHist(h, [[11, 1000]]);
    assert.equal(percentile(h, b, 0.9), 100, "an open bucket gives its closed end");
});
