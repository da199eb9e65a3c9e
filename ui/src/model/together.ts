// together.ts - the traces of one script on several nodes, as one trace that every view can show.
//
// Each node's trace stays what it is (trace.ts). Here its columns get places on one axis of time, whose places are as wide as a column and
// are counted from 1970, and its keys get numbers that hold for all nodes. Apart, the node is the first part of each key; merged, it is left
// out, and equal keys of several nodes are one. A place is shown once each node has a reading there, or as soon as one node is two places
// further; what comes later is added. So nothing is lost, and a node that lags, or has ended, leaves a gap of its own.
import { addHist, type Hist } from "./buckets.ts";
import { mergeInto, stands } from "./functions.ts";
import type { AggregationInfo, Part, Started, Stopped } from "./protocol.ts";
import { Aggregation, ALL, CELLS, type Cells, type Column, KEPT, OTHERS, ROWS, Trace, together } from "./trace.ts";

/** How far from its place a reading may be, in columns, before it is taken for one of another place. */
const SLACK = 0.75;
const CALM = new Set<Stopped["reason"]>(["exit", "user", "left"]);

interface Place {
    /** Over all nodes. */
    column: Column;
    /** By node, with the keys of all. */
    parts: Map<string, Column>;
}

/** How much more room the cells of several nodes take: they are kept by node and together, and their keys once more. */
const SHARED = 2.25;
/** The most cells that each of several traces may keep. */
export const cellsOf = (nodes: number): number => Math.floor(CELLS / (SHARED * nodes));

/** An aggregation of several nodes: values are added up when they are looked at. */
class Sum extends Aggregation {
    private readonly ids = new Map<string, number>();
    private readonly known = new WeakMap<Aggregation, Map<number, number>>();
    private summed = -1;
    /** Whether a key was used of which nothing is known yet. */
    unnamed = false;

    constructor(
        info: AggregationInfo,
        private readonly group: Together,
    ) {
        super(info);
    }

    /** The number here of a node's key. */
    idOf(node: string, agg: Aggregation, key: number): number {
        const apart = this.group.apart;
        if (key === ALL || (key === OTHERS && !apart)) return key;
        let known = this.known.get(agg);
        if (!known) this.known.set(agg, (known = new Map()));
        const old = known.get(key);
        if (old !== undefined) return old;
        if (key >= 0 && agg.keyTypes.length > 0 && !agg.keys.has(key)) {
            this.unnamed = true;
            return OTHERS;
        }
        const rest = key === OTHERS ? agg.keyTypes.map((_, i) => agg.parts(key)[i] ?? "") : agg.parts(key);
        const parts: Part[] = apart ? [node, ...rest] : rest;
        const text = JSON.stringify(parts);
        let id = this.ids.get(text);
        if (id === undefined) {
            this.ids.set(text, (id = this.ids.size));
            this.keys.set(id, parts);
        }
        known.set(key, id);
        return id;
    }

    override settle(): void {
        if (this.summed === this.group.version) return;
        this.summed = this.group.version;
        const own = new Set<number>(); // values that are not a node's
        this.now.clear();
        for (const [node, trace] of this.group.members) {
            const agg = trace.aggregations.get(this.id);
            if (!agg) continue;
            for (const [key, value] of agg.rows()) {
                const id = this.idOf(node, agg, key);
                let sum = this.now.get(id);
                if (sum === undefined) {
                    this.now.set(id, value);
                    continue;
                }
                if (!own.has(id)) {
                    own.add(id);
                    this.now.set(id, (sum = sum instanceof Map ? new Map(sum) : [...sum]));
                }
                if (sum instanceof Map) addHist(sum, value as Hist);
                else mergeInto(this.fn, sum, value as number[]);
            }
        }
        this.gone = new Set([...this.keys.keys()].filter((id) => !this.now.has(id)));
    }
}

export class Together extends Trace {
    /** The traces that have begun, by node. */
    readonly members = new Map<string, Trace>();
    /** Whether the node is a part of keys. */
    apart: boolean;
    private readonly aggs: AggregationInfo[];
    /** The place of each column, and what the column was when that place was made. */
    private readonly at = new WeakMap<Column, { n: number; dt: number; keyed: boolean }>();
    private readonly places = new Map<number, Place>();
    /** The places that have to be made, or made again. */
    private dirty = new Set<number>();
    private readonly taken = new Map<string, number>(); // records, by node
    /** Least and greatest values come only when they change: the latest, by aggregation, key and node, up to place `carried`. */
    private readonly latest = new Map<number, Map<number, Map<string, number>>>();
    private carried = -Infinity;

    /** first: what the first of these nodes says when it has started. */
    constructor(
        first: Started,
        readonly nodes: readonly string[],
        apart: boolean,
    ) {
        super({ ...first, node: nodes.join(", "), aggregations: [] });
        this.aggs = first.aggregations;
        this.apart = apart;
        this.fresh();
    }

    /** The width of a column, ms. */
    private get step(): number {
        return Math.max(1000, this.info.interval);
    }

    /** The trace of a node has begun. */
    add(node: string, trace: Trace): void {
        this.members.set(node, trace);
        this.taken.delete(node);
        const all = [...this.members.values()];
        const probes = all.reduce((sum, t) => sum + t.info.enabled.probes, 0);
        this.info.enabled = {
            probes,
            text: [...this.members].map(([name, t]) => `${name}: ${t.info.enabled.text ?? ""}`).join("\n"),
        };
        this.info.prints ||= trace.info.prints;
        this.update();
    }

    setApart(apart: boolean): void {
        if (apart === this.apart) return;
        this.apart = apart;
        this.fresh();
        this.update();
    }

    /** What one node has of a column: at the same place, with the keys of all. */
    partOf(node: string, column: Column): Column | undefined {
        return this.places.get(column.n)?.parts.get(node);
    }

    override get size(): number {
        return Math.round(SHARED * [...this.members.values()].reduce((sum, t) => sum + t.size, 0));
    }

    /** How long no node has sent anything. */
    override get silent(): number {
        const going = [...this.members.values()].filter((t) => !t.stopped);
        return going.length > 0 ? Math.min(...going.map((t) => t.silent)) : 0;
    }

    /** Takes over what has come to the traces of the nodes. */
    update(): void {
        const all = [...this.members.values()];
        for (const [node, t] of this.members) {
            this.settle(t);
            this.takeRecords(node, t);
            for (const [name, cost] of t.cost) this.cost.set(name, cost);
            for (const [name, drop] of t.drops) this.drops.set(name, drop);
        }
        for (const a of this.aggregations.values())
            a.normal = all.map((t) => t.aggregations.get(a.id)).find((x) => x)?.normal ?? a.normal;
        this.faults = all.flatMap((t) => t.faults);
        this.skipped = all.reduce((sum, t) => sum + t.skipped, 0);
        this.recordsSkipped = all.reduce((sum, t) => sum + t.recordsSkipped, 0);
        this.viewers = Math.max(1, ...all.map((t) => t.viewers));
        this.seen = Math.max(...all.map((t) => t.seen));
        this.stopped = all.every((t) => t.stopped) ? this.ended() : null;
        this.make();
        this.version++;
    }

    // Keys and columns are made again.
    private fresh(): void {
        this.aggregations.clear();
        this.info.aggregations = this.apart ? this.aggs.map(withNode) : this.aggs;
        for (const a of this.info.aggregations) this.aggregations.set(a.id, new Sum(a, this));
        this.anew();
    }

    // Columns are made again.
    private anew(): void {
        this.places.clear();
        this.latest.clear();
        this.carried = -Infinity;
        for (const t of this.members.values())
            for (const c of t.columns) {
                const known = this.at.get(c);
                if (known) this.dirty.add(known.n);
            }
    }

    // Gives places to the columns that have none yet, and finds those that have changed.
    private settle(t: Trace): void {
        let before = -Infinity;
        for (const c of t.columns) {
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

    private takeRecords(node: string, t: Trace): void {
        const had = this.taken.get(node) ?? 0;
        if (t.recordCount === had) return;
        this.taken.set(node, t.recordCount);
        const later = t.info.t - this.info.t;
        for (const r of t.records.slice(t.records.findIndex((r) => r.seq > had)))
            this.records.push({ ...r, node: r.node || node, at: r.at + later, seq: ++this.recordCount });
        this.records.splice(0, this.records.length - ROWS);
    }

    // Makes the places that are complete, and those that wait no longer.
    private make(): void {
        const all = [...this.members.values()];
        const lastOf = (t: Trace) =>
            t.columns.length > 0 ? this.at.get(t.columns[t.columns.length - 1]!)!.n : -Infinity;
        const newest = Math.max(...all.map(lastOf));
        const until = Math.max(newest - 1, Math.min(newest, ...all.filter((t) => !t.stopped).map(lastOf)));
        // what has been carried forward depends on all that was before
        if (this.carries && [...this.dirty].some((n) => n <= this.carried)) this.anew();
        const found = new Map<number, [string, Column][]>();
        for (const [node, t] of this.members)
            for (const column of t.columns) {
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
        for (const n of this.places.keys()) if ((newest - n) * this.step > KEPT) this.places.delete(n);
        this.columns = [...this.places.values()].map((p) => p.column).sort((x, y) => x.n - y.n);
    }

    private get carries(): boolean {
        return !this.apart && this.aggs.some((a) => stands(a.function));
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
            stands(agg.fn) && !this.apart
                ? this.carry(agg, cells, nodes)
                : this.apart && keyed
                  ? concat(cells)
                  : cells.reduce((x, y) => together(agg, x, y)),
        );
        return { parts, column };
    }

    // A column of a node at its place, with the keys of all nodes.
    private renumbered(n: number, node: string, column: Column): Column {
        const cells = new Map<number, Cells>();
        for (const [id, c] of column.cells) {
            const sum = this.aggregations.get(id) as Sum | undefined;
            const agg = this.members.get(node)!.aggregations.get(id);
            if (!sum || !agg) continue;
            cells.set(id, { ...c, keys: c.keys.map((key) => sum.idOf(node, agg, key)) });
            if (sum.unnamed) this.dirty.add(n);
            sum.unnamed = false;
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
        for (const agg of this.aggregations.values()) {
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

    private ended(): Stopped {
        const all = [...this.members].map(([node, t]) => ({ node, s: t.stopped! }));
        const worst = (all.find(({ s }) => !CALM.has(s.reason)) ?? all[0]!).s;
        const same = all.every(({ s }) => s.reason === worst.reason && s.text === worst.text);
        const output = all.filter(({ s }) => s.output?.trim());
        return {
            ...worst,
            ...(same ? {} : { text: all.map(({ node, s }) => `${node}: ${s.text ?? s.reason}`).join("; ") }),
            ms: Math.max(...all.map(({ s }) => s.ms ?? 0)),
            output: output.map(({ node, s }) => `${node}:\n${s.output}`).join("\n"),
        };
    }
}

const withNode = (a: AggregationInfo): AggregationInfo => ({
    ...a,
    keys: ["string", ...a.keys],
    ...(a.means ? { means: [null, ...a.means] } : {}),
});

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
