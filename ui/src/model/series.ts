// series.ts - lines over time: what each key of an aggregation did in each column.
//
// There may be thousands of keys, of which a few are drawn: a first pass over the columns weighs all keys, a second one makes the lines of
// the heaviest.
import { isSum, scalar, stands } from "./functions.ts";
import { type Measure, type PerKey, perKey } from "./perkey.ts";
import { type Aggregation, ALL, type Cells, type Column, follows } from "./trace.ts";

export type { Measure } from "./perkey.ts";

export interface Line {
    key: number; // ALL: over all keys
    values: Float64Array; // by column, NaN where there is nothing
    weight: number; // lines are chosen by it: its sum, or its largest value
}

// The values of the keys of a column, before they are divided by time and by what the script asked for.
function valuesOf(agg: Aggregation, cells: Cells, measure: Measure): PerKey {
    if (agg.hist) return perKey(cells, agg.buckets!, measure);
    const { keys, a, b, c } = cells;
    const sum = (x: Float64Array | null) => (x ? x.reduce((s, v) => s + v, 0) : 0);
    if (isSum(agg.fn)) return { keys, values: a, all: sum(a) };
    const values = Float64Array.from(keys, (_, i) => scalar(agg.fn, [a[i]!, b?.[i] ?? 0, c?.[i] ?? 0]));
    return { keys, values, all: b && sum(a) > 0 ? scalar(agg.fn, [sum(a), sum(b), sum(c)]) : NaN };
}

/**
 * The lines of the `most` heaviest keys, preceded by one over all keys where that is meaningful. Counts and sums are rates per second; avg
 * and stddev are of what came in the interval; min and max are the values at that time.
 */
export function linesOf(
    agg: Aggregation,
    columns: readonly Column[],
    measure: Measure,
    most: number,
    only: ReadonlySet<number> | null,
): Line[] {
    const rate = isSum(agg.fn) || (agg.hist && measure === "rate");
    const normal = agg.hist ? 1 : agg.normal;
    const factor = (c: Column) => (rate ? 1000 / Math.max(1, c.dt) : 1) / normal;
    const found = columns.map((c) => {
        const cells = c.cells.get(agg.id);
        return cells ? valuesOf(agg, cells, measure) : null;
    });
    const weights = new Map<number, number>();
    found.forEach((f, i) => {
        if (!f) return;
        const by = factor(columns[i]!);
        for (let k = 0; k < f.keys.length; k++) {
            const key = f.keys[k]!;
            if (key === ALL || (only && !only.has(key))) continue;
            const v = Math.abs(f.values[k]!) * by;
            const old = weights.get(key) ?? 0;
            weights.set(key, rate ? old + v : Math.max(v, old));
        }
    });
    const chosen = [...weights].sort((x, y) => y[1] - x[1] || x[0] - y[0]).slice(0, most);
    // a missing entry is a rate of zero, unless keys are not known there
    const make = (key: number, weight: number): Line => ({
        key,
        weight,
        values: Float64Array.from(columns, (c) => (rate && (key === ALL || c.keyed) ? 0 : NaN)),
    });
    const lines = new Map(chosen.map(([key, weight]) => [key, make(key, weight)]));
    const all = make(ALL, 0);
    found.forEach((f, i) => {
        if (!f) return;
        const by = factor(columns[i]!);
        all.values[i] = f.all * by;
        for (let k = 0; k < f.keys.length; k++) {
            const line = lines.get(f.keys[k]!);
            if (line) line.values[i] = f.values[k]! * by;
        }
    });
    if (stands(agg.fn))
        // sent only when it changes
        for (const { values } of lines.values())
            for (let i = 1; i < values.length; i++) if (Number.isNaN(values[i]!)) values[i] = values[i - 1]!;
    const whole = !only && weights.size !== 1 && !stands(agg.fn) && found.some((f) => f);
    return whole ? [all, ...lines.values()] : [...lines.values()];
}

/** When a column is drawn, in seconds since 1970: in its middle, since its values are those of the whole. */
export const middle = (c: Column): number => (c.t - c.dt / 2) / 1000;

/**
 * Lines against time, and the values of each line, null where there are none. Where a column does not follow on the one before it there is
 * a row without values, so that no line runs over time of which nothing is known. Stacked lines are sums of a line and those before it, but for that over all keys.
 */
export function timed(
    columns: readonly Column[],
    lines: readonly Line[],
    interval: number,
    stacked: boolean,
): [number[], ...(number | null)[][]] {
    const times: number[] = [];
    const values: (number | null)[][] = lines.map(() => []);
    columns.forEach((c, i) => {
        const before = columns[i - 1];
        if (before && !follows(before.t, c, interval)) {
            times.push((before.t + c.t - c.dt) / 2000);
            for (const v of values) v.push(null);
        }
        times.push(middle(c));
        let sum = 0;
        lines.forEach((l, k) => {
            const v = l.values[i]!;
            if (Number.isNaN(v) && !stacked) values[k]!.push(null);
            else if (!stacked || l.key === ALL) values[k]!.push(v);
            else values[k]!.push((sum += v || 0));
        });
    });
    return [times, ...values];
}

/** Round steps for an axis from 0 (or `lo`) to `hi`. */
export function steps(lo: number, hi: number, most: number): number[] {
    if (!(hi > lo)) return [lo];
    const raw = (hi - lo) / Math.max(1, most);
    const mag = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * mag).find((s) => s >= raw) ?? mag * 10;
    const out: number[] = [];
    for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-9; v += step)
        out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
    return out;
}

/** At most `most` round times between two, in seconds. */
export function timeSteps(from: number, to: number, most: number): number[] {
    const step = [1, 2, 5, 10, 15, 30, 60, 120, 300].find((s) => (to - from) / s <= most) ?? 600;
    const first = Math.ceil(from / step);
    return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, i) => (first + i) * step);
}
