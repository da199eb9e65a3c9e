// places.ts - the columns of several nodes on one axis of time, whose places are as wide as a column and are counted from 1970. A place is shown
// once each node has a reading there, or as soon as one node is two places further; what comes later is added.
import { addHist, type Hist } from "./buckets.ts";
import { mergeInto, stands } from "./functions.ts";
import { type Aggregation, type Cells, type Column, type Trace, together } from "./trace.ts";

/** How far from its place a reading may be, in columns, before it is taken for one of another place. */
const SLACK = 0.75;

interface Place {
    /** Over all nodes. */
    column: Column;
    /** By node, with the keys of all. */
    parts: Map<string, Column>;
}

/** Whose columns they are. */
export interface Owner {
    /** The traces that have begun, by node. */
    readonly members: ReadonlyMap<string, Trace>;
    /** Their aggregations together. */
    readonly aggregations: ReadonlyMap<number, Aggregation>;
    /** Whether the node is a part of keys. */
    readonly apart: boolean;
    /** The numbers that a node's keys have here, and whether all of them are known; null: there is no such aggregation. */
    numbers(agg: number, node: string, keys: Int32Array): { keys: Int32Array; known: boolean } | null;
}

export class Places {
    columns: Column[] = [];
    /** The place of each column, and what the column was when that place was made. */
    private readonly at = new WeakMap<Column, { n: number; dt: number; keyed: boolean }>();
    private readonly places = new Map<number, Place>();
    /** The places that have to be made, or made again. */
    private dirty = new Set<number>();
    /** Least and greatest values come only when they change: the latest, by aggregation, key and node, up to place `carried`. */
    private readonly latest = new Map<number, Map<number, Map<string, number>>>();
    private carried = -Infinity;

    /** step: the width of a place, ms. of: a node's columns. kept: how long they are kept, ms. */
    constructor(
        private readonly owner: Owner,
        private readonly step: number,
        private readonly of: (t: Trace) => readonly Column[],
        private readonly kept: number,
    ) {}

    /** What one node has of a column: at the same place, with the keys of all. */
    partOf(node: string, column: Column): Column | undefined {
        return this.places.get(column.n)?.parts.get(node);
    }

    /** Takes over what has come to the traces of the nodes. */
    update(): void {
        for (const t of this.owner.members.values()) this.settle(t);
        this.make();
    }

    /** Columns are made again. */
    anew(): void {
        this.places.clear();
        this.latest.clear();
        this.carried = -Infinity;
        for (const t of this.owner.members.values())
            for (const c of this.of(t)) {
                const known = this.at.get(c);
                if (known) this.dirty.add(known.n);
            }
    }

    // Gives places to the columns that have none yet, and finds those that have changed.
    private settle(t: Trace): void {
        let before = -Infinity;
        for (const c of this.of(t)) {
            const known = this.at.get(c);
            if (!known || known.dt !== c.dt || known.keyed !== c.keyed) {
                const exact = c.t / this.step;
                const next = Number.isFinite(before) ? before + 1 : Math.round(exact);
                const n = known?.n ?? (Math.abs(next - exact) <= SLACK ? next : Math.max(Math.round(exact), before));
                this.at.set(c, { n, dt: c.dt, keyed: c.keyed });
                this.dirty.add(n);
            }
            before = this.at.get(c)!.n;
        }
    }

    // Makes the places that are complete, and those that wait no longer.
    private make(): void {
        const all = [...this.owner.members.values()];
        const lastOf = (t: Trace) =>
            this.of(t).length > 0 ? this.at.get(this.of(t)[this.of(t).length - 1]!)!.n : -Infinity;
        const newest = Math.max(...all.map(lastOf));
        const until = Math.max(newest - 1, Math.min(newest, ...all.filter((t) => !t.stopped).map(lastOf)));
        // what has been carried forward depends on all that was before
        if (this.carries && [...this.dirty].some((n) => n <= this.carried)) this.anew();
        const found = new Map<number, [string, Column][]>();
        for (const [node, t] of this.owner.members)
            for (const column of this.of(t)) {
                const { n } = this.at.get(column)!;
                if (n > until) break;
                if (!this.dirty.has(n)) continue;
                const there = found.get(n);
                if (there) there.push([node, column]);
                else found.set(n, [[node, column]]);
            }
        this.dirty = new Set([...this.dirty].filter((n) => n > until));
        for (const n of [...found.keys()].sort((x, y) => x - y)) {
            this.places.set(n, this.place(n, found.get(n)!));
            this.carried = Math.max(this.carried, n);
        }
        if (found.size === 0) return;
        const oldest = Math.min(...all.map((t) => (this.of(t)[0] ? this.at.get(this.of(t)[0]!)!.n : Infinity)));
        for (const n of this.places.keys())
            if (n < oldest || (newest - n) * this.step > this.kept) this.places.delete(n);
        this.columns = [...this.places.values()].map((p) => p.column).sort((x, y) => x.n - y.n);
    }

    private get carries(): boolean {
        return !this.owner.apart && [...this.owner.aggregations.values()].some((a) => stands(a.fn));
    }

    private place(n: number, sources: readonly [string, Column][]): Place {
        const parts = new Map<string, Column>();
        for (const [node, column] of sources) {
            const part = this.renumbered(n, node, column);
            const old = parts.get(node);
            // two readings of one node: the second one is later
            parts.set(
                node,
                old
                    ? this.joined(
                          [
                              [node, old],
                              [node, part],
                          ],
                          (agg, [x, y]) => (y ? together(agg, x!, y) : x!),
                      )
                    : part,
            );
        }
        if (parts.size === 1 && !this.carries) return { parts, column: [...parts.values()][0]! };
        const column = this.joined([...parts], (agg, cells, nodes, keyed) =>
            stands(agg.fn) && !this.owner.apart
                ? this.carry(agg, cells, nodes)
                : this.owner.apart && keyed
                  ? concat(cells)
                  : cells.reduce((x, y) => together(agg, x, y)),
        );
        return { parts, column };
    }

    // A column of a node at its place, with the keys of all nodes.
    private renumbered(n: number, node: string, column: Column): Column {
        const cells = new Map<number, Cells>();
        for (const [id, c] of column.cells) {
            const numbers = this.owner.numbers(id, node, c.keys);
            if (!numbers) continue;
            cells.set(id, { ...c, keys: numbers.keys });
            if (!numbers.known) this.dirty.add(n);
        }
        return { ...column, n, t: n * this.step, cells };
    }

    // One column of several at the same place.
    private joined(
        parts: readonly (readonly [string, Column])[],
        cells: (agg: Aggregation, lists: Cells[], nodes: string[], keyed: boolean) => Cells,
    ): Column {
        const columns = parts.map(([, c]) => c);
        const { n, t } = columns[0]!;
        const keyed = columns.every((c) => c.keyed);
        const nodes = new Set(parts.map(([node]) => node));
        const dts = [...nodes].map((x) => parts.reduce((sum, [node, c]) => sum + (node === x ? c.dt : 0), 0));
        const out: Column = { n, t, dt: Math.max(...dts), keyed, cells: new Map(), merged: new Map() };
        for (const agg of this.owner.aggregations.values()) {
            const have = parts.filter(([, c]) => c.cells.has(agg.id));
            if (have.length === 0) continue;
            const lists = have.map(([, c]) => c.cells.get(agg.id)!);
            const names = have.map(([node]) => node);
            out.cells.set(agg.id, lists.length > 1 || this.carries ? cells(agg, lists, names, keyed) : lists[0]!);
            if (!agg.hist) continue;
            const hist: Hist = new Map();
            for (const c of columns) addHist(hist, c.merged.get(agg.id) ?? []);
            out.merged.set(agg.id, hist);
        }
        return out;
    }

    // The least or greatest value of the keys that have changed on some node.
    private carry(agg: Aggregation, lists: readonly Cells[], nodes: readonly string[]): Cells {
        let latest = this.latest.get(agg.id);
        if (!latest) this.latest.set(agg.id, (latest = new Map()));
        const changed = new Set<number>();
        lists.forEach((cells, i) =>
            cells.keys.forEach((key, k) => {
                let of = latest.get(key);
                if (!of) latest.set(key, (of = new Map()));
                of.set(nodes[i]!, cells.a[k]!);
                changed.add(key);
            }),
        );
        return agg.cells(
            [...changed].map((key) => {
                const [first, ...more] = [...latest.get(key)!.values()];
                const sum = [first!];
                for (const v of more) mergeInto(agg.fn, sum, [v]);
                return [key, sum[0]!];
            }),
        );
    }
}

// Cells of which no two are of the same key.
function concat(lists: readonly Cells[]): Cells {
    const n = lists.reduce((sum, c) => sum + c.keys.length, 0);
    const first = lists[0]!;
    const out: Cells = {
        keys: new Int32Array(n),
        bucket: first.bucket && new Uint32Array(n),
        a: new Float64Array(n),
        b: first.b && new Float64Array(n),
        c: first.c && new Float64Array(n),
    };
    let at = 0;
    for (const cells of lists) {
        out.keys.set(cells.keys, at);
        out.a.set(cells.a, at);
        for (const k of ["bucket", "b", "c"] as const) if (cells[k]) out[k]?.set(cells[k], at);
        at += cells.keys.length;
    }
    return out;
}
