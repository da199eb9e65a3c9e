import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { addHist, bucketsOf, type Hist, percentile, total } from "../src/model/buckets.ts";
import { palette, scaleFor } from "../src/model/colour.ts";
import { csv, heatCsv, listCsv, traceJson } from "../src/model/export.ts";
import { flame, folded, frames, framesOf, matched, stacksOf } from "../src/model/flame.ts";
import { compact, counted, divided, exact, guessUnit, percent, range, value } from "../src/model/format.ts";
import {
    columnHist,
    compare,
    EDGE_ROW,
    GAP,
    keyCounts,
    keyTable,
    layout,
    linearTop,
    rowCounts,
    used,
} from "../src/model/heat.ts";
import { KeyTable } from "../src/model/keytable.ts";
import { lines, rates, sort, tree } from "../src/model/list.ts";
import { perKey } from "../src/model/perkey.ts";
import type { AggregationInfo, Results } from "../src/model/protocol.ts";
import { linesOf } from "../src/model/series.ts";
import { ALL, OTHERS, Trace } from "../src/model/trace.ts";
import { type Address, DEFAULT_VIEW, NO_PLACE, read, write } from "../src/model/url.ts";
import { engineOf, said } from "./fake/engine.ts";
import { shop, started, T0 } from "./fake/world.ts";

const agg = (id: number, fn: string, keys: string[] = ["string"], params: number[] = []): AggregationInfo => ({
    id,
    name: `@a${id}`,
    function: fn,
    keys,
    normal: 1,
    buckets: fn === "quantize" || fn === "lquantize" || fn === "llquantize" ? said(fn, params) : null,
});
const trace = (...aggregations: AggregationInfo[]) => new Trace(started(T0, { aggregations }));
const results = (n: number, ...aggregations: Results["aggregations"]): Results => ({
    type: "results",
    n,
    t: T0 + n * 1000,
    dt: 1000,
    aggregations,
});

test("what the script sees is the sum of what was added, until it clears or truncates", () => {
    const t = trace(agg(0, "count"));
    const a = t.aggregations.get(0)!;
    const shown = () => [...a.rows()].map(([k, v]) => [a.parts(k)[0], a.shown(v)]);
    t.results(
        results(1, {
            id: 0,
            keys: [
                [0, "x"],
                [1, "y"],
            ],
            add: [
                [0, 5],
                [1, 7],
            ],
        }),
    );
    t.results(results(2, { id: 0, add: [[0, 10]] }));
    assert.deepEqual(shown(), [
        ["x", 15],
        ["y", 7],
    ]);
    t.results(results(3, { id: 0, add: [[0, 1]], now: [[0, 1]] })); // clear: y is at its start
    assert.deepEqual(shown(), [
        ["x", 1],
        ["y", 0],
    ]);
    t.results(results(4, { id: 0, now: [[0, 1]], gone: [1] })); // trunc
    assert.deepEqual(shown(), [["x", 1]]);
    t.results(results(5, { id: 0, keys: [[1, "y"]], add: [[1, 3]], normal: 2 }));
    assert.deepEqual(
        shown(),
        [
            ["x", 0],
            ["y", 1],
        ],
        "divided towards zero",
    );
    t.results(results(6, { id: 0, add: [[OTHERS, 9]], normal: 1 }));
    assert.deepEqual(shown(), [
        ["x", 1],
        ["y", 3],
        ["all other keys", 9],
    ]);
});

test("a count has the noun of one, or of several", () => {
    assert.deepEqual(
        [0, 1, 2, 1234].map((n) => counted(n, "call")),
        ["0 calls", "1 call", "2 calls", "1\u202f234 calls"],
    );
    assert.deepEqual(
        [1, 3].map((n) => counted(n, "process", "processes")),
        ["1 process", "3 processes"],
    );
    // no text of the page does it by itself
    for (const file of readdirSync("ui/src", { recursive: true, encoding: "utf8" }).filter((f) => /\.tsx?$/.test(f))) {
        const text = readFileSync(`ui/src/${file}`, "utf8");
        if (file !== "model/format.ts")
            assert.doesNotMatch(text, /=== 1 \? "|\? "" : "s"|exact\([\w.!]+\)\} [a-z]+s\b/, file);
    }
});

test("a lower bound is one until the script clears it, and so is every sum of it", () => {
    const t = trace(agg(0, "sum", ["string", "stack"]), agg(1, "quantize"));
    const [a, h] = [t.aggregations.get(0)!, t.aggregations.get(1)!];
    t.results(
        results(
            1,
            {
                id: 0,
                keys: [
                    [0, "x", ["leaf", "root"]],
                    [1, "y", ["other", "root"]],
                ],
                add: [
                    [0, 5],
                    [1, 7],
                ],
                at_least: [1],
            },
            { id: 1, keys: [[0, "k"]], add: [[0, 70, 3]], at_least: [0] },
        ),
    );
    const marked = () => {
        const root = tree(a, t.columns, true);
        return [root, ...root.children].map((i) => [i.label, i.atLeast]);
    };
    assert.deepEqual(marked(), [
        ["total", true],
        ["x", false],
        ["y", true],
    ]);
    assert.equal(tree(h, t.columns, true).atLeast, true);
    const named = [...frames(flame(stacksOf(a), false))].map((f) => [f.name, f.atLeast]);
    assert.deepEqual(named.sort(), [["all", true], ["leaf", false], ["other", true], ["root", false], ["root", true], ["x", false], ["y", true]].sort()); // biome-ignore format: a line
    assert.equal(
        [...frames(flame(stacksOf(h), false))].some((f) => f.atLeast),
        false,
        "how many values there are is known",
    );
    assert.match(
        listCsv(a, tree(a, t.columns, false)),
        /^key,sum,per second,at least\r\n"x, leaf.*,false\r\n"y, .*,true\r\n$/,
    );
    const json = JSON.parse(traceJson(t)) as { aggregations: { keys: { at_least?: boolean }[] }[] };
    assert.deepEqual(
        json.aggregations[0]!.keys.map((k) => k.at_least),
        [undefined, true],
    );
    t.state({ type: "state", n: 1, t: T0 + 1000, skipped: 0, aggregations: [{ id: 0, keys: [[0, "x", ["leaf"]], [1, "y", ["other"]]], now: [[0, 5], [1, 7]], at_least: [0] }] }); // biome-ignore format: a line
    assert.deepEqual([...a.atLeast], [0], "as the state says");
    t.results(results(2, { id: 0, now: [[1, 3]], at_least: [1] }));
    assert.deepEqual([...a.atLeast], [1], "after a clear those that came with it");
    t.results(results(3, { id: 0, gone: [1], now: [] }));
    assert.deepEqual([...a.atLeast], []);
});

test("the histogram of each key in view", () => {
    const t = trace(agg(0, "quantize"));
    const a = t.aggregations.get(0)!;
    for (let n = 1; n <= 3; n++)
        t.results(results(n, { id: 0, ...(n === 1 ? { keys: [[0, "x"], [1, "y"]] as [number, string][] } : {}), add: [[0, 70, n], [1, 71, 1, 80, 2]] })); // biome-ignore format: a line
    for (const table of [new KeyTable(a), new KeyTable(a, 0)]) {
        table.of(t.columns.slice(1));
        const of = (k: number) => Array.from(table.counts(k)).flatMap((n, b) => (n > 0 ? [[b, n]] : []));
        assert.deepEqual(of(0), [[70, 5]]);
        assert.deepEqual(of(1), [
            [71, 2],
            [80, 4],
        ]);
        assert.deepEqual(of(7), []);
    }
});

test("integers beyond 2^53 come as text", () => {
    const t = trace(agg(0, "sum"));
    t.results(results(1, { id: 0, keys: [[0, "18446744073709551615"]], add: [[0, "9223372036854775807"]] }));
    assert.deepEqual([...t.aggregations.get(0)!.now], [[0, [2 ** 63]]]);
});

test("avg, stddev, min and max", () => {
    const t = trace(agg(0, "avg", []), agg(1, "stddev", []), agg(2, "max", []));
    t.results(
        results(
            1,
            { id: 0, keys: [[0]], add: [[0, 2, 10]] },
            { id: 1, keys: [[0]], add: [[0, 4, 20, 120]] },
            { id: 2, keys: [[0]], add: [[0, 7]] },
        ),
    );
    t.results(results(2, { id: 0, add: [[0, 1, 11]] }, { id: 2, add: [[0, 9]] }));
    const shown = (id: number) => t.aggregations.get(id)!.shown(t.aggregations.get(id)!.now.get(0)!);
    assert.equal(shown(0), 7);
    assert.equal(shown(1), 2); // sqrt(30 - 25), towards zero
    assert.equal(shown(2), 9);
    assert.deepEqual([...linesOf(t.aggregations.get(0)!, t.columns, "rate", 5, null)[0]!.values], [5, 11]);
});

test("a late viewer knows the columns of before, but not their keys", () => {
    const t = trace(agg(0, "quantize"));
    t.history({
        type: "history",
        columns: [{ n: 1, t: T0 + 1000, dt: 1000, aggregations: [{ id: 0, add: [[ALL, 70, 5]] }] }],
    });
    t.state({
        type: "state",
        n: 1,
        t: T0 + 1000,
        skipped: 0,
        aggregations: [
            {
                id: 0,
                keys: [
                    [0, "x"],
                    [1, "y"],
                ],
                now: [
                    [0, 70, 3],
                    [1, 70, 2],
                ],
            },
        ],
    });
    t.results(results(2, { id: 0, add: [[1, 71, 4]] }));
    const a = t.aggregations.get(0)!;
    assert.deepEqual([...columnHist(t.columns[0]!, 0, null)!], [[70, 5]]);
    assert.equal(columnHist(t.columns[0]!, 0, new Set([1])), null);
    assert.deepEqual([...columnHist(t.columns[1]!, 0, new Set([1]))!], [[71, 4]]);
    assert.deepEqual(keyCounts(a, t.columns), { keys: [{ key: 1, count: 4, share: 4 / 9 }], total: 9, unknown: 5 });
    assert.deepEqual(keyCounts(a, t.columns, 0, 99, new Set([0])), { keys: [], total: 0, unknown: 0 });
    assert.equal(a.shown(a.now.get(1)!), 6);
    // the same history once more changes nothing
    t.history({
        type: "history",
        columns: [{ n: 2, t: T0 + 2000, dt: 1000, aggregations: [{ id: 0, add: [[ALL, 70, 999]] }] }],
    });
    assert.deepEqual(
        t.columns.map((c) => c.n),
        [1, 2],
    );
    assert.deepEqual([...t.columns[1]!.merged.get(0)!], [[71, 4]]);
});

test("readings that come more often than each second are columns of a second", () => {
    const t = new Trace(
        started(T0, { interval: 250, aggregations: [agg(0, "quantize"), agg(1, "avg"), agg(2, "max")] }),
    );
    const reading = (n: number, ...aggregations: Results["aggregations"]): Results => ({
        type: "results",
        n,
        t: T0 + n * 250,
        dt: 250,
        aggregations,
    });
    for (let n = 1; n <= 8; n++)
        t.results(
            reading(
                n,
                { id: 0, keys: n === 1 ? [[0, "x"]] : [], add: [[0, 70, 1, 71, n]] },
                { id: 1, add: [[0, 1, n]] },
                { id: 2, add: [[0, n]] },
            ),
        );
    assert.deepEqual(
        t.columns.map((c) => [c.n, c.t - T0, c.dt]),
        [
            [1, 1000, 1000],
            [5, 2000, 1000],
        ],
    );
    assert.deepEqual(
        [...t.columns[1]!.merged.get(0)!],
        [
            [70, 4],
            [71, 26],
        ],
    );
    assert.deepEqual(
        [...columnHist(t.columns[1]!, 0, new Set([0]))!],
        [
            [70, 4],
            [71, 26],
        ],
    );
    assert.deepEqual([...linesOf(t.aggregations.get(1)!, t.columns, "rate", 5, null)[0]!.values], [2.5, 6.5]);
    assert.deepEqual([...linesOf(t.aggregations.get(2)!, t.columns, "rate", 5, null)[0]!.values], [4, 8]);
    t.history({ type: "history", columns: [reading(8, { id: 0, add: [[ALL, 70, 99]] })] });
    assert.deepEqual(
        [...t.columns[1]!.merged.get(0)!],
        [
            [70, 4],
            [71, 26],
        ],
        "not taken twice",
    );
});

test("ten minutes are kept, and of too many cells the sums", () => {
    const t = trace(agg(0, "count"));
    for (let n = 1; n <= 700; n++) t.results(results(n, { id: 0, add: [[0, 1]] }));
    assert.equal(t.columns[0]!.n, 100);
    assert.equal(t.columns.length, 601);
    const big = new Trace(started(T0, { aggregations: [agg(0, "quantize")] }), 1000);
    const per = 100;
    for (let n = 1; n <= 12; n++)
        big.results(results(n, { id: 0, add: Array.from({ length: per }, (_, k) => [k, 70, 2]) }));
    assert.deepEqual(
        big.columns.map((c) => c.keyed).indexOf(true),
        3,
        "3 columns of one cell and 9 of 100 are at most 1000",
    );
    assert.equal(big.columns[0]!.keyed, false);
    assert.equal(big.columns[11]!.keyed, true);
    assert.deepEqual([...columnHist(big.columns[0]!, 0, null)!], [[70, 2 * per]], "totals stay exact");
});

test("rows of a heat map: every bucket in exactly one, from bottom to top, on whole pixels", () => {
    for (const [fn, params, range] of [
        ["quantize", [], [70, 90]],
        ["quantize", [], [60, 66]],
        ["lquantize", [0, 1000, 1], [1, 1001]],
        ["lquantize", [0, 100, 10], [0, 11]],
        ["llquantize", [10, 0, 9, 10], [95, 150]],
        ["llquantize", [10, 2, 6, 20], [40, 90]],
    ] as const)
        for (const scale of ["log", "linear"] as const)
            for (const zoom of [null, { from: 20, to: 300 }]) {
                const b = bucketsOf(fn, said(fn, params));
                const lay = layout(b, [range[0], range[1]], zoom, scale, 400);
                const what = `${fn}(${params}) ${scale} ${zoom ? "zoomed" : ""}`;
                assert.ok(lay.rows.length >= 2, what);
                for (let i = 0; i < b.count; i++) {
                    const r = lay.rows[lay.rowOf[i]!];
                    assert.ok(r, `${what}: bucket ${i} has no row`);
                    if (lay.rowOf[i]! > 0)
                        assert.ok(i >= r.first && i <= r.last, `${what}: bucket ${i} in ${r.first}..${r.last}`);
                }
                for (let i = 0; i < lay.rows.length; i++) {
                    const r = lay.rows[i]!;
                    assert.ok(
                        r.y1 - r.y0 >= 1 && Number.isInteger(r.y0) && Number.isInteger(r.y1),
                        `${what}: row ${i} ${r.y0}..${r.y1}`,
                    );
                    const next = lay.rows[i + 1];
                    if (next)
                        assert.ok(
                            next.y1 === r.y0 ||
                                (next.kind === "over" || r.kind === "under" ? r.y0 - next.y1 <= GAP + 1 : false),
                            `${what}: gap above row ${i}: ${r.y0} ${next.y1}`,
                        );
                }
                const top = lay.rows[lay.rows.length - 1]!;
                assert.ok(top.kind !== "over" || (top.y0 === 0 && top.y1 === EDGE_ROW), what);
                // a value lies in the row of its bucket, and comes back from its height
                for (const v of [1, 5, 20, 60, 250]) {
                    const r = lay.rows[lay.rowOf[engineOf(fn, params).of(v)]!]!;
                    const y = lay.y(v);
                    assert.ok(y >= r.y0 - 1 && y <= r.y1 + 1, `${what}: ${v} at ${y}, row ${r.y0}..${r.y1}`);
                    if (r.kind === "in" && v > r.from && v < r.to)
                        assert.ok(Math.abs(lay.value(y) - v) <= 0.02 * v, `${what}: ${v} -> ${y} -> ${lay.value(y)}`);
                }
            }
});

test("counts of a column add up over its rows, overflow and underflow included", () => {
    const b = bucketsOf("lquantize", said("lquantize", [0, 100, 10]));
    const h = new Map([
        [0, 1],
        [1, 2],
        [5, 4],
        [11, 8],
    ]);
    const lay = layout(b, [0, 11], null, "log", 300);
    const counts = rowCounts(h, lay);
    assert.equal(lay.rows[0]!.kind, "under");
    assert.equal(lay.rows[lay.rows.length - 1]!.kind, "over");
    assert.equal(counts[0], 1);
    assert.equal(counts[counts.length - 1], 8);
    assert.equal(
        counts.reduce((s, n) => s + n, 0),
        15,
    );
});

test("a linear axis ends at the 99th percentile, what is above is the overflow", () => {
    const t = trace(agg(0, "lquantize", [], [0, 1000, 10]));
    t.results(results(1, { id: 0, keys: [[0]], add: [[0, 3, 990, 50, 9, 90, 1]] }));
    assert.deepEqual(used(t.columns, 0), [3, 90]);
    assert.equal(linearTop(t.columns, 0, t.aggregations.get(0)!.buckets!), 3);
});

test("a rectangle against the rest", () => {
    const t = trace(agg(0, "lquantize", ["string"], [0, 100, 10]));
    const a = t.aggregations.get(0)!;
    t.results(
        results(1, {
            id: 0,
            keys: [
                [0, "fast"],
                [1, "slow"],
            ],
            add: [
                [0, 1, 90],
                [1, 9, 10],
            ],
        }),
    );
    t.results(
        results(2, {
            id: 0,
            add: [
                [0, 1, 80, 9, 5],
                [1, 9, 15],
            ],
        }),
    );
    const c = compare(a, t.columns, new Set([t.columns[1]!]), 8, 10);
    assert.equal(c.inside, 20);
    assert.equal(c.outside, 180);
    assert.deepEqual(c.keys, [
        { key: 1, inside: 15, outside: 10, shareInside: 0.75, shareOutside: 10 / 180 },
        { key: 0, inside: 5, outside: 170, shareInside: 0.25, shareOutside: 170 / 180 },
    ]);
    assert.deepEqual(
        keyCounts(a, [t.columns[1]!], 9, 9).keys.map((k) => [k.key, k.count]),
        [
            [1, 15],
            [0, 5],
        ],
    );
});

test("a list nests keys, sums them, sorts and searches", () => {
    const t = trace(agg(0, "count", ["string", "string"]));
    const a = t.aggregations.get(0)!;
    t.results(
        results(1, {
            id: 0,
            keys: [
                [0, "a", "f"],
                [1, "a", "g"],
                [2, "b", "f"],
            ],
            add: [
                [0, 10],
                [1, 20],
                [2, 25],
            ],
        }),
    );
    t.results(results(2, { id: 0, add: [[2, 4]] }));
    const root = tree(a, t.columns, true);
    sort(root, "value", true);
    assert.equal(root.value, 59);
    assert.equal(root.rate, 4);
    assert.deepEqual(
        root.children.map((c) => [c.label, c.value, c.rate]),
        [
            ["a", 30, 0],
            ["b", 29, 4],
        ],
    );
    assert.deepEqual(
        root.children[0]!.children.map((c) => [c.label, c.value]),
        [
            ["g", 20],
            ["f", 10],
        ],
    );
    assert.deepEqual(
        lines(root, new Set(), "").map((i) => i.label),
        ["a", "b"],
    );
    assert.deepEqual(
        lines(root, new Set([root.children[0]!.path]), "").map((i) => i.label),
        ["a", "g", "f", "b"],
    );
    assert.deepEqual(
        lines(root, new Set(), "b f").map((i) => i.label),
        ["b", "f"],
    );
    t.results(results(3, { id: 0, add: [[OTHERS, 7]] }));
    const others = tree(a, t.columns, true).children.find((c) => c.label === "all other keys")!;
    assert.deepEqual([others.leaf, others.value], [true, 7], "others have no parts");
    t.results(results(4, { id: 0, gone: [OTHERS] }));
    t.columns.splice(2);
    const flat = tree(a, t.columns, false);
    sort(flat, "key", false);
    assert.deepEqual(
        flat.children.map((c) => c.label),
        ["a, f", "a, g", "b, f"],
    );
    assert.deepEqual(
        [...rates(a, t.columns, 2000)],
        [
            [2, 14.5],
            [0, 5],
            [1, 10],
        ],
    );
    a.normal = 10;
    assert.deepEqual([tree(a, t.columns, true).value, tree(a, t.columns, true).rate], [5, 0.4], "both are divided");
});

test("lines of rates and percentiles", () => {
    const t = trace(agg(0, "count"), agg(1, "lquantize", ["string"], [0, 100, 10]));
    t.results(
        results(
            1,
            {
                id: 0,
                keys: [
                    [0, "x"],
                    [1, "y"],
                ],
                add: [[0, 5]],
            },
            { id: 1, keys: [[0, "x"]], add: [[0, 1, 10]] },
        ),
    );
    t.results({
        ...results(2, {
            id: 0,
            add: [
                [0, 4],
                [1, 50],
            ],
        }),
        dt: 500,
    });
    const l = linesOf(t.aggregations.get(0)!, t.columns, "rate", 5, null);
    assert.deepEqual(
        l.map((x) => [x.key, [...x.values]]),
        [
            [ALL, [5, 108]],
            [1, [0, 100]],
            [0, [5, 8]],
        ],
    );
    assert.deepEqual([...linesOf(t.aggregations.get(1)!, t.columns, "p50", 5, null)[0]!.values], [5, NaN]);
});

test("stacks: frames, trees, both ways around, folded", () => {
    assert.deepEqual(framesOf(["leaf", "mid", "root"]), ["root", "mid", "leaf"]);
    assert.deepEqual(framesOf("\n   leaf\n   root\n"), ["root", "leaf"]);
    assert.deepEqual(framesOf("root;leaf"), ["root", "leaf"]);
    const t = trace(agg(0, "count", ["stack"]));
    t.results(
        results(1, {
            id: 0,
            keys: [
                [0, ["c", "b", "a"]],
                [1, ["d", "b", "a"]],
                [2, ["b", "a"]],
            ],
            add: [
                [0, 5],
                [1, 3],
                [2, 2],
            ],
        }),
    );
    const stacks = stacksOf(t.aggregations.get(0)!);
    const f = flame(stacks, false);
    const b = f.children[0]!.children[0]!;
    assert.deepEqual([f.value, b.name, b.value, b.self], [10, "b", 10, 2]);
    assert.deepEqual(
        b.children.map((c) => [c.name, c.value, c.x0, c.x1]),
        [
            ["c", 5, 0, 0.5],
            ["d", 3, 0.5, 0.8],
        ],
    );
    assert.deepEqual(
        flame(stacks, true).children.map((c) => [c.name, c.value]),
        [
            ["c", 5],
            ["d", 3],
            ["b", 2],
        ],
    );
    assert.equal(
        matched(f, (n) => n === "d" || n === "c"),
        8,
    );
    assert.equal(folded(stacks), "a;b;c 5\na;b;d 3\na;b 2\n");
});

/** Relative luminance as WCAG defines it, and what is left of it without red cones. */
function luminance([r, g, b]: readonly number[]): [number, number] {
    const lin = (x: number) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4);
    const [lr, lg, lb] = [lin(r!), lin(g!), lin(b!)];
    return [0.2126 * lr + 0.7152 * lg + 0.0722 * lb, 0.115 * lr + 0.885 * lg];
}
const hex = (text: string) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));

test("a palette's lightness only rises, or only falls, whatever the eyes", () => {
    for (const dark of [true, false]) {
        const p = palette(dark).map(luminance);
        for (let i = 8; i < p.length; i += 8)
            for (const eyes of [0, 1])
                assert.ok(
                    dark ? p[i]![eyes]! > p[i - 8]![eyes]! : p[i]![eyes]! < p[i - 8]![eyes]!,
                    `${dark} ${i} ${eyes}`,
                );
        assert.ok(dark ? p[255]![1]! > 4 * p[32]![1]! : p[32]![1]! > 4 * p[255]![1]!);
    }
});

test("every colour of a palette has a contrast of 3:1 against the ground of the map", () => {
    const style = readFileSync(new URL("../../src/style.css", import.meta.url), "utf8"); // from build/test;
    const [light, dark] = [...style.matchAll(/--map: (#[0-9a-f]{6});/g)].map((m) => luminance(hex(m[1]!))[0]);
    for (const [isDark, ground] of [
        [false, light!],
        [true, dark!],
    ] as const)
        palette(isDark).forEach((c, i) => {
            const l = luminance(c)[0];
            const contrast = (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05);
            assert.ok(contrast >= 3, `${isDark ? "dark" : "light"} ${i}: ${contrast}`);
        });
});

test("the steps of a palette are even", () => {
    // OKLab of sRGB bytes, from its definition; sixteenths of the palette, as bytes are too coarse for single steps
    const lab = (c: readonly number[]) => {
        const [r, g, b] = c.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4)) as [
            number,
            number,
            number,
        ];
        const [l, m, s] = [
            0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
            0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
            0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
        ].map(Math.cbrt) as [number, number, number];
        return [
            0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
        ];
    };
    for (const dark of [true, false]) {
        const p = palette(dark).map(lab);
        const steps = Array.from({ length: 15 }, (_, i) =>
            Math.hypot(...p[i * 17]!.map((x, k) => x - p[(i + 1) * 17]![k]!)),
        );
        assert.ok(
            Math.max(...steps) < 1.15 * Math.min(...steps),
            `${dark} ${steps.map((x) => x.toFixed(3)).join(" ")}`,
        );
    }
});

test("scales", () => {
    const counts = [1, 2, 2, 5, 1000, 0, -3];
    const rank = scaleFor("rank", counts);
    assert.deepEqual([1, 2, 5, 1000].map(rank.of), [0, 1 / 4, 3 / 4, 1]);
    // many cells of few counts use the whole palette; a single one is drawn as the most
    const band = scaleFor("rank", [
        ...Array<number>(900).fill(13),
        ...Array<number>(50).fill(14),
        ...Array<number>(50).fill(15),
    ]);
    assert.deepEqual([13, 14, 15].map(band.of), [0, 900 / 950, 1]);
    assert.deepEqual(
        band.ticks.map((t) => t.count),
        [13, 14, 15],
    );
    assert.equal(scaleFor("rank", [7, 7]).of(7), 1);
    assert.deepEqual([1, 500, 1000].map(scaleFor("linear", counts).of), [0.001, 0.5, 1]);
    assert.deepEqual([1, 1000].map(scaleFor("log", counts).of), [0, 1]);
    assert.deepEqual(scaleFor("rank", [0]).ticks, []);
    assert.equal(scaleFor("log", [1]).of(1), 1);
});

test("numbers", () => {
    assert.equal(exact(1234567), "1\u202f234\u202f567");
    assert.equal(compact(12345), "12.3k");
    assert.equal(compact(9999), "9999");
    assert.equal(value(1500, "ns"), "1.5 µs");
    assert.equal(value(2.5e9, "ns"), "2.5 s");
    assert.equal(value(1024, "bytes"), "1 KiB");
    assert.equal(range(1024, 2047, "ns"), "1.02 µs – 2.05 µs");
    assert.equal(range(100, Infinity, ""), "≥ 100");
    assert.equal(range(-Infinity, -1, ""), "< 0");
    assert.equal(percent(0.3333), "33.3 %");
    assert.equal(percent(0.0002), "<0.1 %");
    assert.equal(guessUnit("@", "send to scheduled, ns", ""), "ns");
    assert.equal(guessUnit("@lat", "", "@lat[probefunc] = quantize((timestamp - self->t) / 1000);"), "us");
    assert.equal(guessUnit("@lat", "", "@lat[probefunc] = quantize(timestamp - self->t);"), "ns");
    assert.equal(guessUnit("@size", "", "@size = quantize(arg2);"), "");
    assert.deepEqual(
        [
            divided("ns", 1),
            divided("ns", 1e6),
            divided("us", 1000),
            divided("ns", 7),
            divided("s", 1000),
            divided("", 1),
        ],
        ["ns", "ms", "ms", "", "", ""],
    );
});

test("an address holds script and view", () => {
    const a: Address = {
        node: "shop@host",
        name: "x.d",
        script: 'BEGIN { printf("ü €"); }',
        args: ["a b", "&="],
        view: {
            ...DEFAULT_VIEW,
            view: "list",
            y: "linear",
            percentiles: [90],
            nested: false,
            zoom: ["all of it", "b"],
            search: { list: "a & b" },
            sort: { by: "key", down: false },
        },
        look: {
            range: { from: T0, to: T0 + 5000 },
            width: 300_000,
            keys: ["a, b", "&key="],
            zoom: { from: -2.5, to: 1e9 },
        },
    };
    assert.deepEqual(read(`#${write(a)}`), a);
    assert.deepEqual(read("#time=7-3&width=1&values=x").look, NO_PLACE);
    assert.deepEqual(read("").view, DEFAULT_VIEW);
    assert.deepEqual(read("#view=nonsense&y=7&p=a,200&script=%%%").view, { ...DEFAULT_VIEW, percentiles: [] });
});

test("files", () => {
    assert.equal(
        csv([
            ["a,b", 'say "x"', 1.5],
            ["=1+1", -3, NaN],
        ]),
        '"a,b","say ""x""",1.5\r\n\'=1+1,-3,\r\n',
    );
    const t = trace(agg(0, "quantize"));
    t.results(results(1, { id: 0, keys: [[0, "x"]], add: [[0, 70, 3, 71, 1]] }));
    const a = t.aggregations.get(0)!;
    assert.equal(
        heatCsv(a, t.columns, null),
        `time,key,from,to,count\r\n2026-11-20T12:00:01.000Z,x,64,127,3\r\n2026-11-20T12:00:01.000Z,x,128,255,1\r\n`,
    );
    assert.match(listCsv(a, tree(a, t.columns, true)), /^key,count,per second,p50,p99\r\nx,4,4,/);
    const json = JSON.parse(traceJson(t)) as { aggregations: { keys: { buckets: unknown }[] }[] };
    assert.deepEqual(json.aggregations[0]!.keys[0]!.buckets, [
        { from: 64, to: 127, count: 3 },
        { from: 128, to: 255, count: 1 },
    ]);
});

test("ten minutes of a shop are drawn from what was added", () => {
    const t = new Trace(started(T0));
    const next = shop(T0);
    for (let n = 1; n <= 600; n++) t.results(next(n));
    for (const a of t.aggregations.values()) {
        if (!a.hist) continue;
        const fromColumns = keyCounts(a, t.columns);
        let seen = 0;
        for (const [, v] of a.rows()) seen += a.shown(v);
        assert.equal(fromColumns.total, seen);
        const table = keyTable(a, t.columns);
        assert.deepEqual(
            table.keys.map(({ key, count, share }) => ({ key, count, share })),
            fromColumns.keys,
        );
        assert.deepEqual(table, new KeyTable(a).of(t.columns), "counted anew, and in flat arrays");
        assert.deepEqual(table, new KeyTable(a, 0).of(t.columns));
    }
});

test("lists and lines of histograms are what each key's own histogram says, worked out once", () => {
    const t = new Trace(started(T0), 5000); // the oldest columns lose their keys
    const next = shop(T0);
    for (let n = 1; n <= 240; n++) t.results(next(n));
    assert.ok(!t.columns[0]!.keyed && t.columns.at(-1)!.keyed);
    for (const a of t.aggregations.values()) {
        if (!a.hist) continue;
        const close = (x: number, y: number, what: string) =>
            assert.ok(Object.is(x, y) || Math.abs(x - y) < 1e-6 * Math.abs(y), `${a.name} ${what}: ${x} ${y}`);
        for (const [measure, q] of [
            ["p50", 0.5],
            ["p90", 0.9],
            ["p99", 0.99],
        ] as const) {
            const lines = linesOf(a, t.columns, measure, 7, null);
            assert.deepEqual(lines, linesOf(a, t.columns, measure, 7, null));
            assert.equal(lines[0]!.key, ALL);
            for (const l of lines)
                t.columns.forEach((c, i) => {
                    const h = columnHist(c, a.id, l.key === ALL ? null : new Set([l.key]));
                    close(
                        l.values[i]!,
                        h ? percentile(h, a.buckets!, q) : NaN,
                        `${measure} of ${l.key} in column ${i}`,
                    );
                });
        }
        for (const nested of [true, false]) {
            const root = tree(a, t.columns, nested);
            const all: Hist = new Map();
            const byLabel = new Map<string, Hist>();
            for (const [key, v] of a.rows()) {
                addHist(all, v as Hist);
                const label = a.parts(key).map(String)[0]!;
                if (!byLabel.has(label)) byLabel.set(label, new Map());
                addHist(byLabel.get(label)!, v as Hist);
            }
            close(root.p99, percentile(all, a.buckets!, 0.99), "p99 of all");
            if (nested || a.keyTypes.length === 1)
                for (const c of root.children) {
                    close(c.p50, percentile(byLabel.get(c.label)!, a.buckets!, 0.5), `median of ${c.label}`);
                    close(c.value, total(byLabel.get(c.label)!), `count of ${c.label}`);
                }
        }
        const cells = t.columns.at(-1)!.cells.get(a.id)!;
        assert.equal(perKey(cells, a.buckets!, "p99"), perKey(cells, a.buckets!, "p99"));
    }
});

test("the keys in view cost what comes and goes, not what is seen", () => {
    const [KEYS, BUCKETS, VIEW] = [200, 32, 60];
    const t = new Trace(started(T0, { aggregations: [agg(0, "quantize")] }), 100 * KEYS * BUCKETS); // the oldest lose their keys
    const a = t.aggregations.get(0)!;
    const kept = new KeyTable(a);
    for (let n = 1; n <= 150; n++) {
        const add = Array.from({ length: KEYS }, (_, k) => [
            k,
            ...Array.from({ length: BUCKETS }, (_, b) => [64 + b, 1 + ((k * 7 + b * 3 + n) % 11)]).flat(),
        ]);
        t.results(
            results(n, {
                id: 0,
                ...(n === 1 ? { keys: add.map((_, k) => [k, `key ${k}`] as [number, string]) } : {}),
                add: add as [number, ...number[]][],
            }),
        );
        const before = kept.visited;
        const columns = t.columns.slice(-VIEW);
        const table = kept.of(columns);
        assert.ok(kept.visited - before <= 2 * KEYS * BUCKETS, `${kept.visited - before} cells in second ${n}`);
        if (n % 30 === 0) assert.deepEqual(table, keyTable(a, columns));
    }
    const worked = kept.worked;
    kept.of(t.columns.slice(-VIEW));
    assert.equal(kept.worked, worked, "nothing came, nothing is worked out");
    // back to the beginning, where no column has keys any more, and to all of it; a key that is in no column is in no line
    for (const columns of [t.columns.slice(0, 20), t.columns, t.columns.slice(40, 60), [], t.columns.slice(-2)])
        assert.deepEqual(kept.of(columns), keyTable(a, columns));
});
