// together.ts - the traces of one script on several nodes, as one trace that every view can show.
//
// Each node's trace stays what it is (trace.ts). Here its columns get places on one axis of time (places.ts), also readings that come more often
// than once a second, and its keys get numbers that hold for all nodes. Apart, the node is the first part of each key; merged, it is left out,
// and equal keys of several nodes are one. Nothing is lost, and a node that lags, or has ended, leaves a gap of its own.
import { addHist, type Hist } from "./buckets.ts";
import { mergeInto } from "./functions.ts";
import { type Owner, Places } from "./places.ts";
import type { AggregationInfo, Part, RunningTrace, Started, Stopped } from "./protocol.ts";
import { Aggregation, ALL, CELLS, type Column, FINE_MS, KEPT, OTHERS, ROWS, Trace } from "./trace.ts";
import { MOST_NODES } from "./url.ts";

const CALM = new Set<Stopped["reason"]>(["exit", "user", "left"]);

/** Those of the running traces that can be looked at as one: of one script, each on another node. */
export function together(running: readonly RunningTrace[]): RunningTrace[][] {
    const sets = new Map<string, RunningTrace[]>();
    for (const r of running) {
        const what = JSON.stringify([r.script, r.args, r.options]);
        const set = sets.get(what) ?? [];
        if (set.length < MOST_NODES && set.every((x) => x.node !== r.node)) sets.set(what, [...set, r]);
    }
    return [...sets.values()].filter((set) => set.length > 1);
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
        this.atLeast.clear();
        for (const [node, trace] of this.group.members) {
            const agg = trace.aggregations.get(this.id);
            if (!agg) continue;
            for (const key of agg.atLeast) this.atLeast.add(this.idOf(node, agg, key));
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

export class Together extends Trace implements Owner {
    /** The traces that have begun, by node. */
    readonly members = new Map<string, Trace>();
    /** Whether the node is a part of keys. */
    apart: boolean;
    private readonly aggs: AggregationInfo[];
    private readonly taken = new Map<string, number>(); // records, by node
    private readonly seconds: Places;
    /** Readings as they come, if that is more often than once a second. */
    private readonly readings: Places | null;

    /** first: what the first of these nodes says when it has started. */
    constructor(
        first: Started,
        readonly nodes: readonly string[],
        apart: boolean,
    ) {
        super({ ...first, node: nodes.join(", "), aggregations: [] });
        this.aggs = first.aggregations;
        this.apart = apart;
        const { interval } = this.info;
        this.seconds = new Places(this, Math.max(1000, interval), (t) => t.columns, KEPT);
        this.readings = interval < 1000 ? new Places(this, interval, (t) => t.fine, FINE_MS) : null;
        this.fresh();
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
        // the numbers of the two kinds of places are far from each other
        return this.seconds.partOf(node, column) ?? this.readings?.partOf(node, column);
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
            this.takeRecords(node, t);
            for (const [name, cost] of t.cost) this.cost.set(name, cost);
            for (const [name, drop] of t.drops) this.drops.set(name, drop);
            for (const [kind, at] of t.since) this.since.set(kind, Math.min(at, this.since.get(kind) ?? at));
        }
        for (const a of this.aggregations.values())
            a.normal = all.map((t) => t.aggregations.get(a.id)).find((x) => x)?.normal ?? a.normal;
        this.faults = all.flatMap((t) => t.faults);
        this.gaps.length = 0;
        for (const [node, t] of this.members) this.gaps.push(...t.gaps.map((g) => ({ ...g, node })));
        this.skipped = all.reduce((sum, t) => sum + t.skipped, 0);
        this.fired = all.reduce((sum, t) => sum + t.fired, 0);
        this.recordsSkipped = all.reduce((sum, t) => sum + t.recordsSkipped, 0);
        this.recorded = all.some((t) => t.recorded && !t.stopped);
        this.viewers = Math.max(1, ...all.map((t) => t.viewers));
        this.seen = Math.max(...all.map((t) => t.seen));
        this.stopped = all.every((t) => t.stopped) ? this.ended() : null;
        this.seconds.update();
        this.readings?.update();
        this.columns = this.seconds.columns;
        this.fine = this.readings?.columns ?? [];
        this.version++;
    }

    // Keys and columns are made again.
    private fresh(): void {
        this.aggregations.clear();
        this.info.aggregations = this.apart ? this.aggs.map(withNode) : this.aggs;
        for (const a of this.info.aggregations) this.aggregations.set(a.id, new Sum(a, this));
        this.seconds.anew();
        this.readings?.anew();
    }

    numbers(agg: number, node: string, keys: Int32Array): { keys: Int32Array; known: boolean } | null {
        const sum = this.aggregations.get(agg) as Sum | undefined;
        const of = this.members.get(node)!.aggregations.get(agg);
        if (!sum || !of) return null;
        sum.unnamed = false;
        const found = keys.map((key) => sum.idOf(node, of, key));
        return { keys: found, known: !sum.unnamed };
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
    texts: ["node", ...(a.texts ?? a.keys.map(() => null))],
});
