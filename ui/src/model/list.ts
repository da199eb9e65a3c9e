// list.ts - the table of an aggregation: its keys as a tree, part by part, with values, rates and totals, sorted and searched.
import { type Hist, quantile } from "./buckets.ts";
import { additive, isMean, mergeInto, scalar, stands } from "./functions.ts";
import { perKey } from "./perkey.ts";
import type { Part } from "./protocol.ts";
import { type Aggregation, type Column, partText, type Value } from "./trace.ts";

export const SORT_BY = ["key", "value", "rate", "p50", "p99"] as const;
export type SortBy = (typeof SORT_BY)[number];

export interface Item {
    /** Parts of the key down to here, as one text that is unique among the items. */
    path: string;
    label: string;
    part: Part;
    parts: readonly Part[]; // of the key, down to here
    depth: number;
    value: number; // as the script shows it
    rate: number; // added in the last second
    p50: number;
    p99: number;
    /** Value, rate, median and percentile are lower bounds; of a histogram the value is not. */
    atLeast: boolean;
    children: Item[];
    leaf: boolean;
}

// Parts of a key as texts, kept for the life of the key.
const labels = new WeakMap<readonly Part[], string[]>();
function labelsOf(parts: readonly Part[]): string[] {
    let known = labels.get(parts);
    if (!known) labels.set(parts, (known = parts.length === 0 ? ["(no key)"] : parts.map(partText)));
    return known;
}

function plus(fn: string, a: number[] | null, b: readonly number[]): number[] {
    if (a === null) return [...b];
    mergeInto(fn, a, b);
    return a;
}

// A histogram in a flat array, of which buckets lo to hi were touched; one for each level of the tree, reused.
class Flat {
    readonly counts: Float64Array;
    lo: number;
    hi = -1;
    constructor(readonly wide: number) {
        this.counts = new Float64Array(wide);
        this.lo = wide;
    }
    add(b: number, n: number): void {
        this.counts[b]! += n;
        if (b < this.lo) this.lo = b;
        if (b > this.hi) this.hi = b;
    }
    take(other: Flat): void {
        for (let b = other.lo; b <= other.hi; b++) if (other.counts[b] !== 0) this.add(b, other.counts[b]!);
    }
    clear(): void {
        if (this.hi >= 0) this.counts.fill(0, this.lo, this.hi + 1);
        this.lo = this.wide;
        this.hi = -1;
    }
}

/** Added per second, by key, over the last `ms` of columns, divided as the script asked; for avg and stddev the number of executions. */
export function rates(agg: Aggregation, columns: readonly Column[], ms = 1000): Map<number, number> {
    const sum = new Map<number, number>();
    let dt = 0;
    for (let i = columns.length - 1; i >= 0 && dt < ms; i--) {
        const c = columns[i]!;
        dt += c.dt;
        const cells = c.cells.get(agg.id);
        if (!cells || stands(agg.fn)) continue;
        const { keys, values } = agg.hist ? perKey(cells, agg.buckets!, "rate") : { keys: cells.keys, values: cells.a };
        for (let k = 0; k < keys.length; k++) sum.set(keys[k]!, (sum.get(keys[k]!) ?? 0) + values[k]!);
    }
    if (dt > 0) for (const [k, n] of sum) sum.set(k, (n * 1000) / dt / (isMean(agg.fn) ? 1 : agg.normal));
    return sum;
}

const SEP = "\u001f";

/**
 * The tree of an aggregation's keys, one part at each level; a key with no part is one leaf. Rates are those of the last `ms` of the columns.
 */
export function tree(
    agg: Aggregation,
    columns: readonly Column[],
    nested: boolean,
    rows: Iterable<[number, Value]> = agg.rows(),
    ms = 1000,
): Item {
    const rate = rates(agg, columns, ms);
    interface Node {
        item: Item;
        values: Value[]; // of keys that end here
        below: Map<string, Node> | null;
    }
    const make = (path: string, part: Part, label: string, depth: number, parts: readonly Part[] = []): Node => ({
        item: {
            path,
            part,
            parts,
            label,
            depth,
            value: 0,
            rate: 0,
            p50: NaN,
            p99: NaN,
            atLeast: false,
            children: [],
            leaf: true,
        },
        values: [],
        below: null,
    });
    const root = make("", "", "total", 0);
    for (const [key, value] of rows) {
        const parts = agg.parts(key);
        const texts = labelsOf(parts);
        const r = rate.get(key) ?? 0;
        const least = agg.atLeast.has(key);
        let at = root;
        root.item.rate += r;
        root.item.atLeast ||= least;
        const deep = nested ? texts.length : 1;
        for (let i = 0; i < deep; i++) {
            const label = nested ? texts[i]! : texts.join(", ");
            at.below ??= new Map();
            let next = at.below.get(label);
            if (!next) {
                next = make(
                    at.item.path + SEP + label,
                    nested ? (parts[i] ?? "") : label,
                    label,
                    i + 1,
                    nested ? parts.slice(0, i + 1) : parts,
                );
                at.below.set(label, next);
                at.item.children.push(next.item);
                at.item.leaf = false;
            }
            at = next;
            at.item.rate += r;
            at.item.atLeast ||= least;
        }
        at.values.push(value);
    }
    const flats: Flat[] = [];
    const finishHist = (n: Node): Flat => {
        const sum = (flats[n.item.depth] ??= new Flat(agg.buckets!.count));
        sum.clear();
        for (const v of n.values) for (const [b, c] of v as Hist) sum.add(b, c);
        if (n.below) for (const b of n.below.values()) sum.take(finishHist(b));
        let all = 0;
        let above = 0; // of counts greater than zero
        for (let b = sum.lo; b <= sum.hi; b++) {
            const c = sum.counts[b]!;
            all += c;
            if (c > 0) above += c;
        }
        n.item.value = Math.trunc(all / agg.normal);
        if (above > 0) {
            n.item.p50 = quantile(sum.counts, sum.lo, sum.hi, above, agg.buckets!, 0.5);
            n.item.p99 = quantile(sum.counts, sum.lo, sum.hi, above, agg.buckets!, 0.99);
        }
        return sum;
    };
    const finish = (n: Node): number[] | null => {
        let sum: number[] | null = null;
        for (const v of n.values) sum = plus(agg.fn, sum, v as number[]);
        if (n.below)
            for (const b of n.below.values()) {
                const v = finish(b);
                if (v) sum = plus(agg.fn, sum, v);
            }
        if (sum) n.item.value = agg.shown(sum);
        return sum;
    };
    if (agg.hist) finishHist(root);
    else finish(root);
    return root.item;
}

const TEXT = new Intl.Collator("en", { numeric: true }).compare;

/** Sorts every level in place. */
export function sort(item: Item, by: SortBy, down: boolean): void {
    const sign = down ? -1 : 1;
    const number = (x: number) => (Number.isNaN(x) ? -Infinity : x);
    item.children.sort((a, b) =>
        by === "key" ? sign * TEXT(a.label, b.label) : sign * (number(a[by]) - number(b[by])) || TEXT(a.label, b.label),
    );
    for (const c of item.children) sort(c, by, down);
}

/** The lines to show: what is open or, with a search, whatever has a match in it or above it. */
export function lines(root: Item, open: ReadonlySet<string>, search: string): Item[] {
    const out: Item[] = [];
    const wanted = search.trim().toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length === 0) {
        const all = (items: readonly Item[]): void => {
            for (const i of items) {
                out.push(i);
                if (open.has(i.path)) all(i.children);
            }
        };
        all(root.children);
        return out;
    }
    const visit = (item: Item, above: string): boolean => {
        const text = `${above} ${item.label.toLowerCase()}`;
        const at = out.length;
        out.push(item);
        const self = wanted.every((w) => text.includes(w));
        let any = self;
        for (const c of item.children) any = visit(c, text) || any;
        if (!any) out.length = at;
        return any;
    };
    for (const c of root.children) visit(c, "");
    return out;
}

/** The width of a bar: for additive functions the share of the whole, for others the share of the largest. */
export function barOf(agg: Aggregation, root: Item, item: Item): number {
    if (additive(agg.fn)) return root.value > 0 ? Math.max(0, item.value) / root.value : 0;
    let max = 0;
    for (const c of root.children) max = Math.max(max, c.value);
    return max > 0 ? Math.max(0, item.value) / max : 0;
}

export { scalar };
