// buckets.ts - the buckets of quantize() and its variants, and histograms over them.
//
// The ranges of the buckets come with the aggregation (`started`). A histogram is sparse: counts by bucket number, zeros left out. Bounds
// are integers, inclusive at both ends; beyond 2^53 they are as exact as a double can be.

import type { HistFn } from "./functions.ts";
import { type AggregationInfo, num } from "./protocol.ts";

export interface Bounds {
    from: number; // -Infinity: open below
    to: number; // +Infinity: open above
}

/** The buckets of one aggregation. */
export interface Buckets {
    readonly count: number;
    /** The range of bucket b, from 0 to count - 1. null: a bucket that never holds anything. */
    bounds(b: number): Bounds | null;
    readonly fn: HistFn;
}

/** Makes the buckets from what `started` says. */
export function bucketsOf(fn: HistFn, said: NonNullable<AggregationInfo["buckets"]>): Buckets {
    const n = Math.min(said.from.length, said.to.length);
    const table: (Bounds | null)[] = [];
    for (let b = 0; b < n; b++) {
        const from = said.from[b]!;
        const to = said.to[b]!;
        table.push(
            from === null && to === null
                ? null
                : { from: from === null ? -Infinity : num(from), to: to === null ? Infinity : num(to) },
        );
    }
    return { fn, count: n, bounds: (b) => table[b] ?? null };
}

/** The values that buckets `first` to `last` hold together. */
export function valuesOf(buckets: Buckets, first: number, last: number): Bounds {
    const held: Bounds[] = [];
    for (let b = first; b <= Math.min(last, buckets.count - 1); b++) {
        const x = buckets.bounds(b);
        if (x) held.push(x);
    }
    return { from: held[0]?.from ?? -Infinity, to: held[held.length - 1]?.to ?? Infinity };
}

/** A histogram: counts by bucket number, zeros left out. */
export type Hist = Map<number, number>;

/** Adds n to bucket b; leaves out a count that becomes zero. */
export function bump(h: Hist, b: number, n: number): void {
    const v = (h.get(b) ?? 0) + n;
    if (v === 0) h.delete(b);
    else h.set(b, v);
}

export function addHist(into: Hist, from: Iterable<readonly [number, number]>, factor = 1): void {
    for (const [b, n] of from) bump(into, b, n * factor);
}

/** The sum of all counts that are greater than zero. */
export function total(h: Iterable<readonly [number, number]>): number {
    let sum = 0;
    for (const [, n] of h) if (n > 0) sum += n;
    return sum;
}

/** The value at a share, 0 to 1, of a bucket whose counts are assumed to be spread evenly; its only bound if it is open. */
export function inside(buckets: Buckets, b: number, share: number): number {
    const bounds = buckets.bounds(b);
    if (bounds === null) return NaN;
    const { from, to } = bounds;
    if (to === Infinity) return from;
    if (from === -Infinity) return to;
    return from + share * (to + 1 - from);
}

/**
 * The value below which the share q (0 to 1) of the values lies, by linear interpolation inside its bucket (the error is at most that
 * bucket's width). For an open bucket, its closed end. NaN for an empty histogram.
 */
export function percentile(h: Hist, buckets: Buckets, q: number): number {
    const all = total(h);
    if (all === 0) return NaN;
    const sorted = [...h].filter(([, n]) => n > 0).sort((a, b) => a[0] - b[0]);
    const rank = q * all;
    let before = 0;
    for (const [b, n] of sorted) {
        if (before + n >= rank) {
            return inside(buckets, b, (rank - before) / n);
        }
        before += n;
    }
    return buckets.bounds(sorted[sorted.length - 1]![0])?.from ?? NaN;
}

/** The same for counts in a flat array, all of which are in buckets `lo` to `hi` and add up to `all`. */
export function quantile(
    counts: Float64Array,
    lo: number,
    hi: number,
    all: number,
    buckets: Buckets,
    q: number,
): number {
    const rank = q * all;
    let before = 0;
    for (let b = lo; b <= hi; b++) {
        const n = counts[b]!;
        if (n <= 0) continue;
        if (before + n >= rank) return inside(buckets, b, (rank - before) / n);
        before += n;
    }
    return NaN;
}
