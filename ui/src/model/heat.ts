// heat.ts - a heat map without the colours of its pixels: its rows, their heights, what is in each cell, and which keys cells consist of.
//
// Rows are buckets or, where buckets would be lower than a pixel, runs of them. The lowest row may be the underflow, the highest the
// overflow: everything below or above what is shown. Every count of a column is in exactly one row, so that shares add up to 1.
import { addHist, type Buckets, type Hist, percentile, total } from "./buckets.ts";
import type { HistFn } from "./functions.ts";
import { type Aggregation, ALL, type Column } from "./trace.ts";

export type YScale = "log" | "linear";
export interface Zoom {
    from: number;
    to: number; // inclusive
}
export interface HeatRow {
    first: number; // bucket
    last: number; // inclusive
    from: number; // value
    to: number; // inclusive
    y0: number; // top, px
    y1: number; // bottom, px
    kind: "in" | "over" | "under";
    /** By what a count is multiplied where rows of unequal width are equally high; see `even`. */
    even: number;
}
export interface Layout {
    rows: HeatRow[]; // from the bottom up
    rowOf: Int32Array; // by bucket; -1: none
    height: number;
    /** The position of a value, px from the top; clamped to the map. */
    y(value: number): number;
    /** The value at a height, within the rows between underflow and overflow. */
    value(y: number): number;
}

/** Margins of the map, px: values at the left, times below, names of the percentile lines at the right. */
export const MARGINS = { left: 66, right: 38, top: 6, bottom: 22 };

/** Height of the underflow and the overflow row, px; GAP separates them from the others. */
export const EDGE_ROW = 12;
export const GAP = 3;
const FEWEST = 6; // buckets shown, if there are that many

// A position on the axis that makes every bucket of quantize equally high: 0 is at 0, 1 at 1, 2 at 2, 4 at 3; likewise below 0.
const logPlace = (v: number): number => (v >= 1 ? 1 + Math.log2(v) : v > 0 ? v : -Math.log2(1 - v));
const logValue = (p: number): number => (p >= 1 ? 2 ** (p - 1) : p > 0 ? p : 1 - 2 ** -p);

// The height of a bucket on the axis, in any unit. On a logarithmic axis the steps within a decade of llquantize are equally high, as the
// buckets of quantize are: a brick that is higher than others for no reason but its place would look like more. `even` does the same for
// their counts. A bucket around zero is no higher than 1, whatever it spans.
function weight(from: number, to: number, scale: YScale, fn: HistFn): number {
    if (scale === "linear") return to + 1 - from;
    if (fn === "llquantize" || (from < 0 && to > 0)) return 1;
    return Math.max(logPlace(to + 1) - logPlace(from), 1e-9);
}

/**
 * On a logarithmic axis the first step of a decade of llquantize is as high as the last one, but up to ten times as wide by ratio: where a
 * decade begins, the same values would look like many more. Colours compare counts for a width of a factor of two; in the widest steps
 * that is the count itself.
 */
function even(from: number, to: number, scale: YScale, fn: HistFn): number {
    if (scale === "linear" || fn !== "llquantize") return 1;
    const [lo, hi] = from >= 0 ? [from, to + 1] : [-to, 1 - from];
    return lo >= 1 && Number.isFinite(hi) ? Math.max(1, Math.LN2 / Math.log(hi / lo)) : 1;
}

/** The buckets that have counts, over all columns: the lowest and the highest, null if there are none. */
export function used(columns: readonly Column[], agg: number): [number, number] | null {
    let lo = Infinity;
    let hi = -Infinity;
    for (const c of columns)
        for (const [b, n] of c.merged.get(agg) ?? [])
            if (n > 0) {
                if (b < lo) lo = b;
                if (b > hi) hi = b;
            }
    return lo <= hi ? [lo, hi] : null;
}

/** The highest bucket that a linear axis shows individually: up to the 99th percentile, so that one outlier does not flatten everything. */
export function linearTop(columns: readonly Column[], agg: number, buckets: Buckets, q = 0.99): number {
    const sum: Hist = new Map();
    for (const c of columns) for (const [b, n] of c.merged.get(agg) ?? []) if (n > 0) sum.set(b, (sum.get(b) ?? 0) + n);
    const all = total(sum);
    let before = 0;
    for (const [b, n] of [...sum].sort((x, y) => x[0] - y[0])) {
        before += n;
        if (before >= q * all) return b;
    }
    return buckets.count - 1;
}

/** Rows for buckets `lo` to `hi` (as `used` returns them), or for a zoom, on a map of this many pixels. */
export function layout(
    buckets: Buckets,
    range: [number, number] | null,
    zoom: Zoom | null,
    scale: YScale,
    height: number,
): Layout {
    const bounded: number[] = []; // buckets with two ends, ascending
    for (let b = 0; b < buckets.count; b++) {
        const s = buckets.bounds(b);
        if (s && Number.isFinite(s.from) && Number.isFinite(s.to)) bounded.push(b);
    }
    let i = 0;
    let j = bounded.length - 1;
    if (zoom) {
        while (i < j && buckets.bounds(bounded[i]!)!.to < zoom.from) i++;
        while (j > i && buckets.bounds(bounded[j]!)!.from > zoom.to) j--;
    } else if (range) {
        while (i < j && bounded[i]! < range[0]) i++;
        while (j > i && bounded[j]! > range[1]) j--;
        for (let grow = true; j - i + 1 < FEWEST && grow; ) {
            grow = false;
            if (j < bounded.length - 1) j++, (grow = true);
            if (j - i + 1 < FEWEST && i > 0 && buckets.bounds(bounded[i - 1]!)!.from >= 0) i--, (grow = true);
        }
    } else {
        // nothing yet: zero and what is a little above
        while (i < j && buckets.bounds(bounded[i]!)!.to < 0) i++;
        j = Math.min(j, i + 19);
    }
    const shown = bounded.slice(i, j + 1);
    const first = shown[0] ?? 0;
    const last = shown[shown.length - 1] ?? 0;
    const below = first > 0 && (zoom !== null || (range !== null && range[0] < first));
    const above = last < buckets.count - 1;
    const top = above ? EDGE_ROW + GAP : 0;
    const bottom = height - (below ? EDGE_ROW + GAP : 0);

    const spans = shown.map((b) => {
        const s = buckets.bounds(b)!;
        return { b, from: s.from, to: s.to, weight: weight(s.from, s.to, scale, buckets.fn) };
    });
    const sum = spans.reduce((s, x) => s + x.weight, 0);
    const perWeight = (bottom - top) / sum;
    const rows: HeatRow[] = [];
    const rowOf = new Int32Array(buckets.count).fill(-1);
    if (below) {
        rows.push({
            first: 0,
            last: first - 1,
            from: -Infinity,
            to: spans[0]!.from - 1,
            y0: height - EDGE_ROW,
            y1: height,
            kind: "under",
            even: 1,
        });
        rowOf.fill(0, 0, first);
    } else rowOf.fill(0, 0, first); // buckets without a row of their own belong to the lowest
    const edges: { at: number; value: number; place: number }[] = [];
    let at = 0;
    let open: HeatRow | null = null;
    for (const s of spans) {
        edges.push({ at: bottom - at * perWeight, value: s.from, place: 0 });
        at += s.weight;
        const y = Math.round(bottom - at * perWeight);
        if (!open)
            open = {
                first: s.b,
                last: s.b,
                from: s.from,
                to: s.to,
                y0: y,
                y1:
                    rows.length > 0 && rows[rows.length - 1]!.kind === "in"
                        ? rows[rows.length - 1]!.y0
                        : Math.round(bottom),
                kind: "in",
                even: 1,
            };
        open.last = s.b;
        open.to = s.to;
        open.y0 = y;
        if (open.y1 - open.y0 >= 1) {
            rows.push(open);
            rowOf.fill(rows.length - 1, open.first, open.last + 1);
            open = null;
        }
    }
    if (open) {
        const prev = rows[rows.length - 1];
        if (prev && prev.kind === "in") {
            prev.last = open.last;
            prev.to = open.to;
            rowOf.fill(rows.length - 1, open.first, open.last + 1);
        }
    }
    if (spans.length > 0) edges.push({ at: bottom - at * perWeight, value: spans[spans.length - 1]!.to + 1, place: 0 });
    if (above) {
        rows.push({
            first: last + 1,
            last: buckets.count - 1,
            from: spans.length > 0 ? spans[spans.length - 1]!.to + 1 : -Infinity,
            to: Infinity,
            y0: 0,
            y1: EDGE_ROW,
            kind: "over",
            even: 1,
        });
        rowOf.fill(rows.length - 1, last + 1);
    }

    for (const r of rows) if (r.kind === "in") r.even = even(r.from, r.to, scale, buckets.fn);

    // Within a bucket a logarithmic axis continues logarithmically.
    const inside = (e0: number, e1: number, v: number): number => {
        if (scale === "linear" || (e0 < 0 && e1 > 0)) return (v - e0) / (e1 - e0);
        const p0 = logPlace(e0);
        return (logPlace(v) - p0) / (logPlace(e1) - p0);
    };
    const find = (test: (e: { at: number; value: number }) => boolean): number => {
        let lo = 0;
        let hi = edges.length - 2;
        while (lo < hi) {
            const mid = (lo + hi + 1) >> 1;
            if (test(edges[mid]!)) lo = mid;
            else hi = mid - 1;
        }
        return Math.max(0, lo);
    };
    return {
        rows,
        rowOf,
        height,
        y(v) {
            if (edges.length < 2) return height;
            if (v < edges[0]!.value) return below ? height - EDGE_ROW / 2 : bottom;
            if (v > edges[edges.length - 1]!.value) return above ? EDGE_ROW / 2 : top;
            const k = find((e) => e.value <= v);
            const [e0, e1] = [edges[k]!, edges[k + 1]!];
            return e0.at + inside(e0.value, e1.value, v) * (e1.at - e0.at);
        },
        value(y) {
            if (edges.length < 2) return 0;
            const yy = Math.min(bottom, Math.max(top, y));
            const k = find((e) => e.at >= yy);
            const [e0, e1] = [edges[k]!, edges[k + 1]!];
            const f = e1.at === e0.at ? 0 : (yy - e0.at) / (e1.at - e0.at);
            if (scale === "linear" || (e0.value < 0 && e1.value > 0)) return e0.value + f * (e1.value - e0.value);
            const p0 = logPlace(e0.value);
            return logValue(p0 + f * (logPlace(e1.value) - p0));
        },
    };
}

/** The histogram of a column, over all keys or over those given; null if the keys of the column are not known. */
export function columnHist(column: Column, agg: number, keys: ReadonlySet<number> | null): Hist | null {
    const merged = column.merged.get(agg);
    if (keys === null) return merged ?? new Map();
    const cells = column.cells.get(agg);
    if (!cells?.bucket) return new Map();
    if (!column.keyed) return null;
    const h: Hist = new Map();
    for (let i = 0; i < cells.keys.length; i++)
        if (keys.has(cells.keys[i]!)) h.set(cells.bucket[i]!, (h.get(cells.bucket[i]!) ?? 0) + cells.a[i]!);
    return h;
}

/** The histogram of columns that are drawn as one; null if the keys of one of them are not known. */
export function histOf(parts: readonly Column[], agg: number, keys: ReadonlySet<number> | null): Hist | null {
    if (parts.length === 1) return columnHist(parts[0]!, agg, keys);
    const sum: Hist = new Map();
    for (const c of parts) {
        const h = columnHist(c, agg, keys);
        if (h === null) return null;
        addHist(sum, h);
    }
    return sum;
}

/** Counts of a column by row; negative counts are ignored. */
export function rowCounts(h: Hist, lay: Layout): Float64Array {
    const out = new Float64Array(lay.rows.length);
    for (const [b, n] of h) {
        const r = b < lay.rowOf.length ? lay.rowOf[b]! : -1;
        if (r >= 0 && n > 0) out[r]! += n;
    }
    return out;
}

export interface Cell {
    i: number; // column
    r: number; // row
}

/** Most cells that are marked: more would hide what lies apart. */
const MOST_MARKS = 24;

/**
 * The cells to be marked: those above all but `share` of the counts in view, with nothing around them (in the columns beside and the two
 * rows above and below); of many the highest. A band that is rare but steady is seen as it is.
 */
export function outliers(counts: readonly (Float64Array | null)[], share = 0.01): Cell[] {
    const rows = Math.max(0, ...counts.map((c) => c?.length ?? 0));
    const sums = new Float64Array(rows);
    let all = 0;
    for (const c of counts)
        c?.forEach((n, r) => {
            sums[r]! += n;
            all += n;
        });
    let above = 0;
    let from = rows;
    while (from > 0 && above + sums[from - 1]! <= share * all) above += sums[--from]!;
    const out: Cell[] = [];
    const filled = (i: number, r: number) => (counts[i]?.[r] ?? 0) > 0;
    counts.forEach((c, i) => {
        for (let r = from; c && r < c.length; r++) {
            if (c[r]! <= 0) continue;
            let alone = true;
            for (let x = i - 1; x <= i + 1; x++)
                for (let y = r - 2; y <= r + 2; y++) if ((x !== i || y !== r) && filled(x, y)) alone = false;
            if (alone) out.push({ i, r });
        }
    });
    if (out.length > MOST_MARKS) out.sort((a, b) => b.r - a.r || b.i - a.i).length = MOST_MARKS;
    return out;
}

/** Percentile lines: for each histogram a value for each share; null where there is no data. */
export function percentileLines(
    hists: readonly (Hist | null)[],
    buckets: Buckets,
    shares: readonly number[],
): (number[] | null)[] {
    return hists.map((h) => (h && total(h) > 0 ? shares.map((q) => percentile(h, buckets, q)) : null));
}

export interface KeyCount {
    key: number;
    count: number;
    share: number; // of everything that was asked about
}

/** The count of each key, or of each of `only`, in these columns and, if given, only in buckets `first` to `last`; the largest first. */
export function keyCounts(
    agg: Aggregation,
    columns: readonly Column[],
    first = 0,
    last = Infinity,
    only: ReadonlySet<number> | null = null,
): { keys: KeyCount[]; total: number; unknown: number } {
    const sum = new Map<number, number>();
    let all = 0;
    for (const c of columns) {
        const cells = c.cells.get(agg.id);
        if (!cells?.bucket) continue;
        for (let i = 0; i < cells.keys.length; i++) {
            const b = cells.bucket[i]!;
            const n = cells.a[i]!;
            if (n <= 0 || b < first || b > last || (only && !only.has(cells.keys[i]!))) continue;
            sum.set(cells.keys[i]!, (sum.get(cells.keys[i]!) ?? 0) + n);
            all += n;
        }
    }
    const unknown = sum.get(ALL) ?? 0;
    sum.delete(ALL);
    const keys = [...sum].map(([key, count]) => ({ key, count, share: count / all }));
    keys.sort((x, y) => y.count - x.count || x.key - y.key);
    return { keys, total: all, unknown };
}

/** Whether values of these keys may be lower bounds, as keyCounts() has found them. */
export const hasLower = (agg: Aggregation, found: { keys: readonly KeyCount[]; unknown: number }): boolean =>
    (found.unknown > 0 && agg.atLeast.size > 0) || found.keys.some((k) => agg.atLeast.has(k.key));

export interface KeyRow extends KeyCount {
    p50: number;
    p99: number;
}

/**
 * The keys of these columns with count, median and 99th percentile; the largest first. This visits every cell: what is drawn each second
 * uses model/keytable.ts, unless there are too many keys.
 */
export function keyTable(
    agg: Aggregation,
    columns: readonly Column[],
): { keys: KeyRow[]; total: number; unknown: number } {
    const buckets = agg.buckets!;
    const maps = new Map<number, Hist>();
    let unknown = 0;
    let all = 0;
    for (const c of columns) {
        const cells = c.cells.get(agg.id);
        if (!cells?.bucket) continue;
        const { keys, bucket, a } = cells;
        for (let i = 0; i < keys.length; i++) {
            const n = a[i]!;
            if (n <= 0) continue;
            const key = keys[i]!;
            all += n;
            if (key === ALL) {
                unknown += n;
                continue;
            }
            let h = maps.get(key);
            if (!h) maps.set(key, (h = new Map()));
            h.set(bucket[i]!, (h.get(bucket[i]!) ?? 0) + n);
        }
    }
    const rows: KeyRow[] = [];
    for (const [key, h] of maps) {
        const count = total(h);
        rows.push({
            key,
            count,
            share: count / all,
            p50: percentile(h, buckets, 0.5),
            p99: percentile(h, buckets, 0.99),
        });
    }
    rows.sort((x, y) => y.count - x.count || x.key - y.key);
    return { keys: rows, total: all, unknown };
}

export interface Compared {
    key: number;
    inside: number;
    outside: number;
    shareInside: number; // of everything inside
    shareOutside: number; // of everything outside
}

/**
 * Compares what is inside a rectangle (columns, and buckets `first` to `last`) with the rest of `columns`. Keys are sorted by how much
 * larger their share is inside.
 */
export function compare(
    agg: Aggregation,
    columns: readonly Column[],
    inside: ReadonlySet<Column>,
    first: number,
    last: number,
): { keys: Compared[]; inside: number; outside: number } {
    const ins = new Map<number, number>();
    const out = new Map<number, number>();
    let nIn = 0;
    let nOut = 0;
    for (const c of columns) {
        const cells = c.cells.get(agg.id);
        if (!cells?.bucket) continue;
        const within = inside.has(c);
        for (let i = 0; i < cells.keys.length; i++) {
            const n = cells.a[i]!;
            if (n <= 0) continue;
            const b = cells.bucket[i]!;
            const key = cells.keys[i]!;
            if (within && b >= first && b <= last) {
                ins.set(key, (ins.get(key) ?? 0) + n);
                nIn += n;
            } else {
                out.set(key, (out.get(key) ?? 0) + n);
                nOut += n;
            }
        }
    }
    const keys = [...new Set([...ins.keys(), ...out.keys()])]
        .filter((key) => key !== ALL)
        .map((key) => {
            const a = ins.get(key) ?? 0;
            const b = out.get(key) ?? 0;
            return {
                key,
                inside: a,
                outside: b,
                shareInside: nIn > 0 ? a / nIn : 0,
                shareOutside: nOut > 0 ? b / nOut : 0,
            };
        });
    keys.sort((x, y) => y.shareInside - y.shareOutside - (x.shareInside - x.shareOutside) || y.inside - x.inside);
    return { keys, inside: nIn, outside: nOut };
}

/** Values at which to label the axis: round ones, at least `gap` px apart. */
export function axisTicks(lay: Layout, scale: YScale, gap: number, base: 2 | 10): number[] {
    const rows = lay.rows.filter((r) => r.kind === "in");
    if (rows.length === 0) return [];
    const lo = rows[0]!.from;
    const hi = rows[rows.length - 1]!.to + 1;
    const ticks: number[] = [];
    if (scale === "linear") {
        const span = hi - lo;
        const most = Math.max(2, Math.floor(lay.height / gap));
        const raw = span / most;
        const mag = 10 ** Math.floor(Math.log10(raw));
        const step = [1, 2, 5, 10].map((m) => m * mag).find((s) => s >= raw) ?? mag * 10;
        for (let v = Math.ceil(lo / step) * step; v <= hi; v += step) ticks.push(v);
        return ticks;
    }
    const factor = base === 10 ? 10 : 2;
    const candidates: number[] = [];
    for (let p = Math.ceil(Math.log(2 ** 63) / Math.log(factor)); p >= 0; p--) candidates.push(-(factor ** p));
    candidates.push(0);
    for (let p = 0; factor ** p <= 2 ** 63; p++) candidates.push(factor ** p);
    let last = Infinity;
    for (const v of candidates) {
        if (v < lo || v > hi) continue;
        const y = lay.y(v);
        if (last - y >= gap) {
            ticks.push(v);
            last = y;
        }
    }
    return ticks;
}
