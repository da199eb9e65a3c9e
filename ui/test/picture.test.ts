// The heat map: its axis of time, the width of its columns, its colours.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketsOf } from "../src/model/buckets.ts";
import { hueColour, MOST_HUES, palette, type RGB, scaleFor } from "../src/model/colour.ts";
import { ago, moment } from "../src/model/format.ts";
import { histOf, layout, outliers } from "../src/model/heat.ts";
import { liveWidth, mapColumns, readings, timeTicks, widthOf } from "../src/model/heattime.ts";
import { within } from "../src/model/look.ts";
import type { AggregationInfo, Results } from "../src/model/protocol.ts";
import { Trace } from "../src/model/trace.ts";
import { said } from "./fake/engine.ts";
import { started, T0 } from "./fake/world.ts";

const AGG: AggregationInfo = {
    id: 0,
    name: "@0",
    function: "quantize",
    keys: ["string"],
    normal: 1,
    buckets: said("quantize", []),
};

/** A trace with readings an interval apart, each with one value; `late`: by how much some come later. */
function trace(interval: number, numbers: number[], late: Record<number, number> = {}): Trace {
    const t = new Trace(started(T0, { interval, aggregations: [AGG] }));
    const at = (n: number) => T0 + n * interval + (late[n] ?? 0);
    for (const n of numbers) {
        const reading: Results = {
            type: "results",
            n,
            t: at(n),
            dt: at(n) - at(n - 1),
            aggregations: [{ id: 0, add: [[0, 70, 1]] }],
        };
        t.results(reading);
    }
    return t;
}

const ALL_TIME = { from: 0, to: Infinity };
const ends = (t: Trace, width: number, range = ALL_TIME) =>
    mapColumns(readings(t.columns, t.fine, width), range, width, t.info.interval).map((c) => [
        c.from - T0,
        c.t - T0,
        c.parts.length,
    ]);

test("columns lie where their times are: late readings are wide, missing ones a gap", () => {
    const t = trace(1000, [1, 2, 3, 6, 7], { 2: 400 });
    assert.deepEqual(ends(t, 1000), [
        [0, 1000, 1],
        [1000, 2400, 1],
        [2400, 3000, 1],
        [5000, 6000, 1],
        [6000, 7000, 1],
    ]);
    assert.deepEqual(
        ends(t, 1000, { from: T0 + 2800, to: T0 + 6000 }).map((c) => c[1]),
        [6000],
        "the middle of a column decides whether it is in view",
    );
    assert.deepEqual([ago(4900), ago(125_000)], ["4 s", "2:05"]);
});

test("a reading that took long does not cover the time before it, of which nothing is known", () => {
    const t = trace(1000, [1, 2]);
    const reading = (n: number, end: number, dt: number): Results => ({
        type: "results",
        n,
        t: T0 + end,
        dt,
        aggregations: [{ id: 0, add: [[0, 70, 1]] }],
    });
    t.results(reading(3, 12_000, 7000)); // from second 5 on
    t.results(reading(4, 18_000, 6000));
    assert.deepEqual(ends(t, 1000), [
        [0, 1000, 1],
        [1000, 2000, 1],
        [5000, 12_000, 1],
        [12_000, 18_000, 1],
    ]);
    assert.deepEqual(
        ends(t, 10_000).map((c) => c[0]),
        [0, 5000, 12_000],
    );
});

test("columns of several readings have as many each, though their times waver", () => {
    const late = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [n, (n % 3) * 40 - 40]));
    const t = trace(
        1000,
        Array.from({ length: 20 }, (_, i) => i + 2),
        late,
    );
    assert.deepEqual(
        ends(t, 2000).map((c) => c[2]),
        Array<number>(10).fill(2),
    );
    for (const [i, c] of ends(t, 2000).entries()) if (i > 0) assert.equal(c[0], ends(t, 2000)[i - 1]![1]);
});

test("readings of 100 ms are kept for a minute, before that seconds; nothing is lost or counted twice", () => {
    const t = trace(
        100,
        Array.from({ length: 1000 }, (_, i) => i + 1),
    );
    assert.equal(t.columns.length, 100);
    assert.equal(t.fine.length, 600);
    const shown = mapColumns(readings(t.columns, t.fine, 100), ALL_TIME, 100, 100);
    assert.equal(shown.length, 40 + 600);
    const count = (width: number) =>
        mapColumns(readings(t.columns, t.fine, width), ALL_TIME, width, 100).reduce(
            (sum, c) => sum + histOf(c.parts, 0, null)!.get(70)!,
            0,
        );
    assert.deepEqual([100, 200, 500, 1000, 10_000].map(count), Array<number>(5).fill(1000));
    // the columns of seconds do not share their sums with the readings
    assert.deepEqual([...t.fine[0]!.merged.get(0)!], [[70, 1]]);
    // a second that is being filled keeps its begin
    for (let n = 1001; n <= 1005; n++) t.results({ type: "results", n, t: T0 + n * 100, dt: 100, aggregations: [] });
    assert.deepEqual(ends(t, 1000).at(-1), [100_000, 100_500, 1]);
    const few = new Trace(started(T0, { interval: 100, aggregations: [AGG] }), 1000);
    for (let n = 1; n <= 300; n++)
        few.results({
            type: "results",
            n,
            t: T0 + n * 100,
            dt: 100,
            aggregations: [{ id: 0, add: [[0, 70, 1, 71, 1]] }],
        });
    assert.equal(few.fine.length, 120, "of many cells whole seconds");
});

test("the width of columns: what readings are, what is seen, what was chosen", () => {
    assert.equal(widthOf(0, 1000, 120_000, 545), 1000);
    assert.equal(widthOf(0, 1000, 600_000, 545), 5000);
    assert.equal(widthOf(0, 100, 10_000, 545), 100);
    assert.equal(widthOf(0, 100, 30_000, 545), 200);
    assert.equal(widthOf(100, 1000, 30_000, 545), 1000, "no narrower than readings");
    assert.equal(widthOf(100, 100, 30_000, 545), 100);
    assert.equal(widthOf(100, 100, 600_000, 545), 2000, "no narrower than a pixel");
    assert.equal(widthOf(10_000, 100, 120_000, 545), 10_000);
    assert.deepEqual(
        [5_000, 31_000, 70_000, 900_000].map((has) => liveWidth(has, 120_000, 1000)),
        [30_000, 60_000, 120_000, 120_000],
    );
    assert.equal(liveWidth(5_000, 10_000, 100), 10_000);
    assert.deepEqual(
        timeTicks({ from: T0 - 500, to: T0 + 21_000 }, 0.02, 84).map((t) => t - T0),
        [0, 5000, 10_000, 15_000, 20_000],
    );
    assert.match(moment(T0 + 340, 100), /:00\.3$/);
    assert.match(moment(T0 + 340, 1000), /:00$/);
});

test("the columns of a range are those whose middle lies in it, or that hold its middle", () => {
    const second = { from: T0 + 1000, to: T0 + 2000 };
    assert.equal(within({ t: T0 + 2000, dt: 1000 }, second), true);
    assert.equal(within({ t: T0 + 2005, dt: 1000 }, second), true, "times waver");
    assert.equal(within({ t: T0 + 1000, dt: 1000 }, second), false);
    assert.equal(within({ t: T0 + 1200, dt: 100 }, second), true);
    assert.equal(within({ t: T0 + 2000, dt: 2000 }, { from: T0 + 100, to: T0 + 200 }), true);
});

const luminance = (c: RGB) => {
    const [r, g, b] = c.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4)) as [
        number,
        number,
        number,
    ];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
};
const contrast = (a: RGB, b: RGB) => Math.max(luminance(a), luminance(b)) / Math.min(luminance(a), luminance(b));

test("each hue at each share has a contrast of 3 to the ground, and more is further from it", () => {
    for (const [dark, ground] of [
        [true, [0x11, 0x13, 0x1a]],
        [false, [0xf6, 0xf6, 0xf8]],
    ] as [boolean, RGB][]) {
        assert.ok(contrast(palette(dark)[0]!, ground) >= 3);
        for (let key = 0; key < MOST_HUES; key++)
            for (const share of [0, 0.3, 1]) {
                const steps = [0, 0.25, 0.5, 0.75, 1].map((p) => contrast(hueColour(dark, key, share, p), ground));
                assert.ok(steps[0]! >= 3, `${dark} ${key} ${share}: ${steps[0]}`);
                for (let i = 1; i < steps.length; i++) assert.ok(steps[i]! > steps[i - 1]!, `${dark} ${key}: ${steps}`);
            }
    }
});

test("counts by the second: a single event in the widest column is the least there is", () => {
    const log = scaleFor("log", [0.1, 1, 10], 0.1);
    assert.deepEqual(
        [0.1, 1, 10].map((n) => Math.round(log.of(n) * 100) / 100),
        [0, 0.5, 1],
    );
});

test("on a logarithmic axis a decade of llquantize does not begin with more", () => {
    const b = bucketsOf("llquantize", said("llquantize", [10, 0, 3, 20]));
    const of = (v: number) => {
        for (let i = 0; i < b.count; i++) {
            const x = b.bounds(i);
            if (x && x.from <= v && v <= x.to) return i;
        }
        throw new Error(String(v));
    };
    const lay = layout(b, [of(10), of(990)], null, "log", 900);
    const row = (v: number) => lay.rows[lay.rowOf[of(v)]!]!;
    // as many values for each factor: 1 / v of them at v
    const seen = (v: number) => row(v).even * Math.log((row(v).to + 1) / row(v).from);
    assert.ok(Math.abs(seen(97) / seen(100) - 1) < 0.01, `${seen(97)} ${seen(100)}`);
    assert.ok(lay.rows.every((r) => r.even >= 1));
    assert.ok(layout(b, [of(10), of(990)], null, "linear", 900).rows.every((r) => r.even === 1));
    const heights = new Set(lay.rows.filter((r) => r.kind === "in").map((r) => r.y1 - r.y0));
    assert.ok(Math.max(...heights) - Math.min(...heights) <= 1);
});

test("what lies apart: above nearly everything, and alone", () => {
    const columns = Array.from({ length: 30 }, () => Float64Array.of(500, 200, 0, 0, 0, 0));
    columns[7]![5] = 1;
    assert.deepEqual(outliers(columns), [{ i: 7, r: 5 }]);
    columns[8]![4] = 1;
    assert.deepEqual(outliers(columns), [], "two that are neighbours are a band");
});
