// perkey.ts - the value of each key of a column: the sum of its counts, or a percentile of its histogram.
//
// The cells of a column never change (when its keys are given up it gets new ones), so this is computed once for each column and measure,
// and kept as long as the column. Flat arrays throughout: a column may have a hundred thousand cells.
import { type Buckets, quantile } from "./buckets.ts";
import type { Cells } from "./trace.ts";

/** The measure that is taken of a histogram. */
export type Measure = "rate" | "p50" | "p90" | "p99";

export interface PerKey {
    readonly keys: ArrayLike<number>; // each key once
    readonly values: ArrayLike<number>;
    /** Over all keys. */
    readonly all: number;
}

const SHARE = { p50: 0.5, p90: 0.9, p99: 0.99 };
const kept = new WeakMap<Cells, Map<Measure, PerKey>>();

/** Computes it from the cells of a histogram; with "rate" it is the sum of counts. */
export function perKey(cells: Cells, buckets: Buckets, measure: Measure): PerKey {
    let known = kept.get(cells);
    if (!known) kept.set(cells, (known = new Map()));
    let found = known.get(measure);
    if (!found) known.set(measure, (found = workedOut(cells, buckets, measure)));
    return found;
}

function workedOut({ keys, bucket, a }: Cells, buckets: Buckets, measure: Measure): PerKey {
    // the line of each cell: cells of a key mostly lie together
    const lines = new Map<number, number>();
    const lineOf = new Int32Array(keys.length);
    for (let i = 0; i < keys.length; i++) {
        if (i > 0 && keys[i] === keys[i - 1]) {
            lineOf[i] = lineOf[i - 1]!;
            continue;
        }
        let line = lines.get(keys[i]!);
        if (line === undefined) lines.set(keys[i]!, (line = lines.size));
        lineOf[i] = line;
    }
    const values = new Float64Array(lines.size);
    const out = { keys: Int32Array.from(lines.keys()), values, all: 0 };
    if (measure === "rate") {
        for (let i = 0; i < keys.length; i++) {
            values[lineOf[i]!]! += a[i]!;
            out.all += a[i]!;
        }
        return out;
    }
    // cells in the order of their lines
    const start = new Int32Array(lines.size + 1);
    for (const line of lineOf) start[line + 1]!++;
    for (let l = 0; l < lines.size; l++) start[l + 1]! += start[l]!;
    const order = new Int32Array(keys.length);
    const next = start.slice();
    for (let i = 0; i < keys.length; i++) order[next[lineOf[i]!]!++] = i;
    const sums = new Float64Array(buckets.count);
    const merged = new Float64Array(buckets.count);
    for (let l = 0; l < lines.size; l++) {
        let [lo, hi, count] = [buckets.count, -1, 0];
        for (let k = start[l]!; k < start[l + 1]!; k++) {
            const i = order[k]!;
            const b = bucket![i]!;
            if (a[i]! <= 0) continue;
            sums[b]! += a[i]!;
            merged[b]! += a[i]!;
            count += a[i]!;
            lo = Math.min(lo, b);
            hi = Math.max(hi, b);
        }
        values[l] = quantile(sums, lo, hi, count, buckets, SHARE[measure]);
        sums.fill(0, lo, hi + 1);
    }
    let all = 0;
    for (const n of merged) all += n;
    out.all = quantile(merged, 0, buckets.count - 1, all, buckets, SHARE[measure]);
    return out;
}
