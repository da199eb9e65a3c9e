// trace.ts - what is known of one trace: its aggregations, their keys, and the columns of the last ten minutes.
//
// A column is one `results` of the server: what was added in that interval. The cells of a column lie in flat arrays, key by key; a
// histogram's cell is a triple of key, bucket and count. What the script itself sees is kept as well, in `now`, as doc/web-protocol.md
// describes: the sum of what was added, unless the script has cleared or truncated it. Cells take the most memory: when there are more than
// CELLS of them, the oldest columns keep only their sums over all keys.
import { addHist, type Buckets, bucketsOf, bump, type Hist } from "./buckets.ts";
import { isHist, moreSums, scalar, stands } from "./functions.ts";
import type { What } from "./life.ts";
import { type Marking, NO_MARKS } from "./marks.ts";
import {
    type AggregationInfo,
    type Change,
    type Cost,
    type Diagnostic,
    type Drop,
    type Fault,
    type History,
    type Message,
    num,
    type Part,
    type Records,
    type Results,
    type Row,
    type Started,
    type State,
    type Stopped,
} from "./protocol.ts";
import { Seam } from "./seam.ts";

/** By how much a reading may be late, ms. */
export const GRACE_MS = 500;
/** How long columns are kept, ms. */
export const KEPT = 600_000;
/** How long readings that come more often than once a second are kept each by itself, ms: whole seconds. */
export const FINE_MS = 60_000;
/** Most cells of all columns of a trace together: 16 bytes each; of readings by themselves a quarter more. */
export const CELLS = 4_000_000;
/** Most lines of the console, and rows of records. */
export const ROWS = 20_000;

/** Key ids that stand for no key of the script. */
export const OTHERS = -1;
export const ALL = -2;

/** What was added to one aggregation in one interval. For a histogram: triples; for other functions b and c are the further sums. */
export interface Cells {
    keys: Int32Array;
    /** For a histogram: the bucket. */
    bucket: Uint32Array | null;
    a: Float64Array;
    b: Float64Array | null; // avg, stddev: sum
    c: Float64Array | null; // stddev: sum of squares
}

export interface Column {
    n: number;
    t: number; // ms since 1970, its end
    dt: number; // ms
    cells: Map<number, Cells>; // by aggregation
    /** Over all keys, by aggregation: histograms. */
    merged: Map<number, Hist>;
    /** Whether its cells say which keys they belong to. */
    keyed: boolean;
}

/**
 * Whether a column follows on what ended at `end`: what happened between them is in it. Times waver by less than half an interval; a reading
 * that took long says nothing of the time before it. interval: of readings, ms.
 */
export const follows = (end: number, c: Pick<Column, "t" | "dt">, interval: number): boolean =>
    c.t - c.dt - end < Math.min(c.dt, Math.max(1000, interval)) / 2;

/** A value of a key: for avg count and sum, for stddev also the sum of squares, for others one number. */
export type Value = number[] | Hist;

export class Aggregation {
    readonly id: number;
    readonly name: string;
    readonly fn: string;
    readonly keyTypes: string[];
    /** What each part of a key names. */
    readonly means: AggregationInfo["means"];
    /** Each part of a key as the script writes it. */
    readonly texts: AggregationInfo["texts"];
    readonly buckets: Buckets | null;
    normal: number;
    keys = new Map<number, Part[]>();
    /** A key that is neither here nor in `gone` has its initial value. */
    now = new Map<number, Value>();
    /** Keys that the script has removed. */
    gone = new Set<number>();
    /** Keys whose values are lower bounds, since a size in them was too large to count. */
    atLeast = new Set<number>();
    /** What was counted before the trace was started again. */
    private carried: [number, Value][] = [];
    private carriedAtLeast: ReadonlySet<number> = new Set();
    private cleared = false;
    private seam: Seam | null = null;

    constructor(info: AggregationInfo) {
        this.id = info.id;
        this.name = info.name;
        this.fn = info.function;
        this.keyTypes = info.keys;
        this.means = info.means;
        this.texts = info.texts;
        this.normal = num(info.normal) || 1;
        this.buckets = isHist(info.function) && info.buckets ? bucketsOf(info.function, info.buckets) : null;
    }

    get hist(): boolean {
        return this.buckets !== null;
    }

    /** The parts of a key, for people. */
    parts(key: number): Part[] {
        if (key === OTHERS) return ["all other keys"];
        if (key === ALL) return ["all keys"];
        return this.keys.get(key) ?? [];
    }

    /** One value as the script sees it, divided as it asked: towards zero, as the command prints it. */
    shown(value: Value): number {
        if (value instanceof Map) {
            let sum = 0;
            for (const n of value.values()) sum += n;
            return Math.trunc(sum / this.normal);
        }
        return Math.trunc(scalar(this.fn, value) / this.normal);
    }

    /** Brings keys and values up to date, if they are made of others. */
    settle(): void {}

    /** The keys that the script has, with their values. */
    *rows(): Iterable<[number, Value]> {
        this.settle();
        const zero: Value = this.hist ? new Map() : new Array<number>(1 + moreSums(this.fn)).fill(0);
        for (const key of this.keys.keys()) if (!this.gone.has(key)) yield [key, this.now.get(key) ?? zero];
        for (const [key, v] of this.now) if (!this.keys.has(key)) yield [key, v];
    }

    private setNow(rows: Row[]): void {
        this.now.clear();
        for (const row of rows) this.now.set(num(row[0]!), this.valueOf(row));
    }

    private valueOf(row: Row): Value {
        if (!this.hist) return row.slice(1).map(num);
        const h: Hist = new Map();
        for (let i = 1; i + 1 < row.length; i += 2) bump(h, num(row[i]!), num(row[i + 1]!));
        return h;
    }

    private add(rows: Row[]): void {
        for (const row of rows) {
            const key = num(row[0]!);
            const old = this.now.get(key);
            const more = this.valueOf(row);
            if (old === undefined || stands(this.fn)) this.now.set(key, more);
            else if (old instanceof Map) addHist(old, more as Hist);
            else (more as number[]).forEach((v, i) => (old[i] = (old[i] ?? 0) + v));
        }
    }

    /** Another trace of the same script follows. What the script never clears goes on from what it was. */
    resume(): void {
        this.seam = new Seam(this.keys);
        this.carried = this.cleared || stands(this.fn) ? [] : [...this.now];
        this.carriedAtLeast = new Set(this.carried.length > 0 ? this.atLeast : []);
    }

    /** A change as the server has said it, in our numbers of keys. */
    own(c: Change): Change {
        return this.seam ? this.seam.change(c) : c;
    }

    /** Takes names of keys of a past column, unless they are known. */
    learn(c: Change): void {
        for (const [key, ...parts] of c.keys ?? [])
            if (!this.keys.has(key)) {
                this.keys.set(key, parts);
                this.gone.add(key);
            }
    }

    /** Applies a change of `results`. */
    change(c: Change): void {
        if (c.now) {
            this.cleared = true;
            this.carried = [];
            this.carriedAtLeast = new Set();
        }
        this.apply(c);
    }

    private apply(c: Change): void {
        for (const [key, ...parts] of c.keys ?? []) {
            this.keys.set(key, parts);
            this.gone.delete(key);
        }
        for (const row of c.add ?? []) this.gone.delete(num(row[0]!));
        if (c.now) {
            this.setNow(c.now);
            this.atLeast.clear();
        } else if (c.add) this.add(c.add);
        for (const key of c.at_least ?? []) this.atLeast.add(key);
        for (const key of c.gone ?? []) {
            this.now.delete(key);
            this.atLeast.delete(key);
            this.gone.add(key);
        }
        for (const key of this.now.keys()) this.gone.delete(key);
        if (c.normal !== undefined) this.normal = num(c.normal) || 1;
    }

    /** Applies a whole `state`. */
    replace(c: Change): void {
        const before = [...this.keys]; // past columns have them still
        this.keys.clear();
        this.now.clear();
        this.gone.clear();
        this.apply({ ...c, now: c.now ?? [] });
        for (const [key, parts] of before)
            if (!this.keys.has(key)) {
                this.keys.set(key, parts);
                this.gone.add(key);
            }
        for (const [key, value] of this.carried) {
            const now = this.now.get(key);
            if (value instanceof Map) {
                const sum: Hist = new Map(value);
                addHist(sum, (now as Hist | undefined) ?? []);
                this.now.set(key, sum);
            } else
                this.now.set(
                    key,
                    value.map((v, i) => v + ((now as number[] | undefined)?.[i] ?? 0)),
                );
            this.gone.delete(key);
        }
        for (const key of this.carriedAtLeast) this.atLeast.add(key);
    }

    cells(rows: Row[]): Cells {
        if (this.hist) {
            let n = 0;
            for (const row of rows) n += (row.length - 1) >> 1;
            const cells = {
                keys: new Int32Array(n),
                bucket: new Uint32Array(n),
                a: new Float64Array(n),
                b: null,
                c: null,
            };
            let at = 0;
            for (const row of rows)
                for (let i = 1; i + 1 < row.length; i += 2) {
                    cells.keys[at] = num(row[0]!);
                    cells.bucket[at] = num(row[i]!);
                    cells.a[at++] = num(row[i + 1]!);
                }
            return cells;
        }
        const more = moreSums(this.fn);
        const cells: Cells = {
            keys: new Int32Array(rows.length),
            bucket: null,
            a: new Float64Array(rows.length),
            b: more > 0 ? new Float64Array(rows.length) : null,
            c: more > 1 ? new Float64Array(rows.length) : null,
        };
        rows.forEach((row, i) => {
            cells.keys[i] = num(row[0]!);
            cells.a[i] = num(row[1]!);
            if (cells.b) cells.b[i] = num(row[2]!);
            if (cells.c) cells.c[i] = num(row[3]!);
        });
        return cells;
    }
}

export interface RecordRow {
    at: number; // ms since the trace began
    probe: string;
    node: string;
    cpu: number;
    text: string;
    values: unknown[];
    seq: number;
}

/** Where a trace comes from that was opened from a file. */
export interface Origin {
    /** The version of the program that has saved it. */
    erltrace: string;
    /** It was running when it was saved. */
    running: boolean;
    notices: Diagnostic[];
}

/** One trace as this page knows it. */
export class Trace {
    readonly info: Started;
    readonly aggregations = new Map<number, Aggregation>();
    columns: Column[] = [];
    /** The latest readings as they came, if they come more often than once a second; `columns` has them too, by the second. */
    fine: Column[] = [];
    records: RecordRow[] = [];
    recordsSkipped = 0;
    recordCount = 0;
    cost = new Map<string, Cost>(); // by node
    drops = new Map<string, Drop>(); // by kind, node and CPU
    /** When drops of a kind were first reported, ms since 1970. */
    readonly since = new Map<string, number>();
    /** Probes that have fired, as far as was reported. */
    fired = 0;
    faults: Fault[] = [];
    /** What else was said of it while it ran. */
    notices: Diagnostic[] = [];
    stopped: Stopped | null = null;
    viewers = 1;
    /** It goes on when no page views it. */
    recorded = false;
    /** Of a saved session; null: the trace is the server's. */
    origin: Origin | null = null;
    /** What the user has marked. */
    marking: Marking = NO_MARKS;
    skipped = 0;
    /** The trace on the server: another one than `info`, if the script was started again. */
    live: Started;
    /** The last reading and the last news of that trace. */
    last = 0;
    news = 0;
    /** Of what times nothing is known, since the trace had to be started again. */
    readonly gaps: { from: number; to: number; what: What; node?: string }[] = [];
    /** Whether it is out of reach: nothing that is shown is live. */
    cut = false;
    /** When the last reading came, by this page's clock: ms. The server's clock may differ. */
    seen = performance.now();
    /** Increases with each change. */
    version = 0;
    private cells = 0;
    private have = new Set<number>(); // readings, by n
    private probes = new Map<number, [string, string]>();
    private base = 0; // to add to the numbers of readings

    /** most: the number of cells that are kept with their keys. */
    constructor(
        info: Started,
        private readonly most = CELLS,
    ) {
        this.info = info;
        this.live = info;
        for (const a of info.aggregations) this.aggregations.set(a.id, new Aggregation(a));
    }

    /** The time of the last reading, or of the beginning. */
    get t(): number {
        return this.columns.length > 0 ? this.columns[this.columns.length - 1]!.t : this.info.t;
    }

    /** The number of its cells. */
    get size(): number {
        return this.cells;
    }

    /** How long it has run, ms. */
    get ran(): number {
        const known = this.t - this.info.t;
        return this.stopped
            ? Math.max(known, (this.stopped.ms ?? 0) + this.live.t - this.info.t)
            : this.silent > 0
              ? known
              : known + (performance.now() - this.seen);
    }

    /** How long nothing has come although readings should have, ms; 0 while they come. */
    get silent(): number {
        const since = performance.now() - this.seen;
        return !this.stopped && (this.cut || since > 2 * this.info.interval + GRACE_MS) ? since : 0;
    }

    /** Takes a message of the running trace. */
    take(m: Message): void {
        if ("news" in m && m.news !== undefined) this.news = m.news;
        switch (m.type) {
            case "results":
                this.results(m);
                break;
            case "state":
                this.state(m);
                break;
            case "history":
                this.history(m);
                break;
            case "records":
                this.record(m);
                break;
            case "drops":
                for (const { kind } of m.drops) this.since.set(kind, this.since.get(kind) ?? Date.now());
                this.drop(m.drops);
                break;
            case "errors":
                this.fault(m.errors);
                break;
            case "cost":
                this.cost.set(m.node, m);
                this.fired += num(m.fired);
                break;
            case "viewers":
                this.viewers = m.viewers;
                this.recorded = m.recorded ?? false;
                break;
        }
    }

    /** Goes on with another trace of the same script; returns false if its results are others. */
    resume(m: Started, what: What): boolean {
        const shape = (s: Started) =>
            JSON.stringify(s.aggregations.map((a) => [a.id, a.name, a.function, a.keys, a.buckets]));
        if (shape(m) !== shape(this.info)) return false;
        this.base = this.columns.reduce((most, c) => Math.max(most, c.n), this.base);
        this.gaps.push({ from: this.t, to: Math.max(this.t, m.t), what }); // its clock may have been set back
        this.live = m;
        this.last = this.news = 0;
        this.stopped = null;
        this.probes.clear();
        for (const a of this.aggregations.values()) a.resume();
        return true;
    }

    /** A reading as the server has said it, in our numbers of readings and keys. */
    private own<T extends Omit<Results, "type">>(r: T): T {
        return {
            ...r,
            n: r.n + this.base,
            aggregations: r.aggregations.map((c) => this.aggregations.get(c.id)?.own(c) ?? c),
        };
    }

    results(said: Results): void {
        const r = this.own(said);
        this.last = said.n;
        for (const c of r.aggregations) this.aggregations.get(c.id)?.change(c);
        this.put(r);
        this.seen = performance.now();
        this.forget();
        this.version++;
    }

    state(s: State): void {
        const said = new Map(s.aggregations.map((c) => [c.id, c]));
        this.last = s.n;
        for (const a of this.aggregations.values()) a.replace(a.own(said.get(a.id) ?? { id: a.id }));
        this.skipped += s.skipped;
        this.version++;
    }

    /** Adds earlier columns; those that are already here stay as they are. */
    history(h: History): void {
        for (const column of h.columns) {
            const c = this.own(column);
            for (const a of c.aggregations) this.aggregations.get(a.id)?.learn(a);
            this.put(c);
        }
        this.forget();
        this.version++;
    }

    // A reading becomes a column; readings that come more often than once a second are combined into columns of a second. A reading that is
    // already here is not taken again.
    private put(r: Omit<Results, "type">): void {
        if (this.have.has(r.n)) return;
        this.have.add(r.n);
        const column = this.column(r);
        let at = this.columns.length;
        while (at > 0 && this.columns[at - 1]!.n > r.n) at--;
        const second = (t: number) => Math.ceil(t / 1000);
        if (this.info.interval < 1000) {
            let end = this.fine.length;
            while (end > 0 && this.fine[end - 1]!.n > r.n) end--;
            this.fine.splice(end, 0, { ...column, cells: new Map(column.cells), merged: copied(column.merged) });
        }
        const near =
            this.info.interval >= 1000
                ? undefined
                : [this.columns[at - 1], this.columns[at]].find((c) => c && second(c.t) === second(r.t));
        if (!near) {
            this.columns.splice(at, 0, column);
            return;
        }
        this.cells -= size(near) + size(column);
        near.dt += column.dt;
        near.keyed &&= column.keyed;
        const later = column.t > near.t;
        near.t = Math.max(near.t, column.t);
        for (const [id, cells] of column.cells) {
            const old = near.cells.get(id);
            near.cells.set(
                id,
                old
                    ? later
                        ? together(this.aggregations.get(id)!, old, cells)
                        : together(this.aggregations.get(id)!, cells, old)
                    : cells,
            );
        }
        for (const [id, merged] of column.merged) {
            const old = near.merged.get(id);
            if (old) addHist(old, merged);
            else near.merged.set(id, merged);
        }
        this.cells += size(near);
    }

    private column(r: Omit<Results, "type">): Column {
        const column: Column = { n: r.n, t: r.t, dt: r.dt, cells: new Map(), merged: new Map(), keyed: true };
        for (const c of r.aggregations) {
            const agg = this.aggregations.get(c.id);
            if (!agg || !c.add) continue;
            const cells = agg.cells(c.add);
            column.cells.set(c.id, cells);
            this.cells += cells.keys.length;
            if (cells.keys.includes(ALL)) column.keyed = false;
            if (agg.hist) {
                column.merged.set(c.id, mergedOf(cells, agg.buckets!.count));
            }
        }
        return column;
    }

    // Drops columns that are too old; then the keys of the oldest columns that have keys.
    private forget(): void {
        const oldest = this.t - KEPT;
        let first = 0;
        while (first < this.columns.length && this.columns[first]!.t < oldest) first++;
        for (const c of this.columns.splice(0, first)) this.cells -= size(c);
        this.forgetFine();
        for (const c of this.columns) {
            if (this.cells <= this.most) break;
            if (!c.keyed) continue;
            this.cells -= size(c);
            for (const [id, cells] of c.cells)
                c.cells.set(id, summed(this.aggregations.get(id)!, cells, c.merged.get(id)));
            c.keyed = false;
            this.cells += size(c);
        }
    }

    // Of the readings by themselves, drops what is older than a minute, or too much; whole seconds, so that the columns of seconds before fit.
    private forgetFine(): void {
        let coarse = this.t - FINE_MS;
        let cells = 0;
        for (let i = this.fine.length - 1; i >= 0 && this.fine[i]!.t > coarse; i--) {
            cells += size(this.fine[i]!);
            if (cells > this.most / 4) coarse = this.fine[i]!.t;
        }
        const first = this.fine.findIndex((c) => c.t > Math.ceil(coarse / 1000) * 1000);
        this.fine.splice(0, first < 0 ? this.fine.length : first);
    }

    record(r: Records): void {
        for (const [epid, probe, node] of r.probes ?? []) this.probes.set(epid, [probe, node]);
        for (const [epid, at, cpu, text, values] of r.rows) {
            const [probe, node] = this.probes.get(epid) ?? [`EPID ${epid}`, ""];
            this.records.push({
                at: at + this.live.t - this.info.t,
                probe,
                node,
                cpu,
                text,
                values,
                seq: ++this.recordCount,
            });
        }
        if (this.records.length > ROWS + 1000) this.records.splice(0, this.records.length - ROWS);
        this.recordsSkipped += r.skipped;
        this.version++;
    }

    drop(drops: Drop[]): void {
        for (const d of drops) this.drops.set(`${d.kind} ${d.node} ${d.cpu}`, d);
        this.version++;
    }

    fault(faults: Fault[]): void {
        for (const f of faults) {
            const same = this.faults.find((g) => g.text === f.text);
            if (same) same.count = num(same.count) + num(f.count);
            else if (this.faults.length < 100) this.faults.push({ ...f });
        }
        this.version++;
    }
}

// The histogram over all keys, in the order of its buckets.
export function mergedOf(cells: Cells, wide: number): Hist {
    const sums = new Float64Array(wide);
    for (let i = 0; i < cells.keys.length; i++) {
        const b = cells.bucket![i]!;
        if (b < wide) sums[b]! += cells.a[i]!;
    }
    const merged: Hist = new Map();
    for (let b = 0; b < wide; b++) if (sums[b] !== 0) merged.set(b, sums[b]!);
    return merged;
}

const copied = (merged: ReadonlyMap<number, Hist>): Map<number, Hist> =>
    new Map([...merged].map(([id, h]) => [id, new Map(h)]));

const size = (c: Column): number => [...c.cells.values()].reduce((sum, x) => sum + x.keys.length, 0);

// The cells of two columns as one: sums, but for min and max the later value.
export function together(agg: Aggregation, x: Cells, y: Cells): Cells {
    const rows = new Map<number, Row>();
    const last = stands(agg.fn);
    const wide = agg.buckets?.count ?? 1;
    for (const cells of [x, y])
        for (let i = 0; i < cells.keys.length; i++) {
            const id = cells.keys[i]! * wide + (cells.bucket?.[i] ?? 0);
            const row = rows.get(id);
            if (!row) {
                const made: Row = [cells.keys[i]!];
                if (cells.bucket) made.push(cells.bucket[i]!);
                made.push(cells.a[i]!);
                if (cells.b) made.push(cells.b[i]!);
                if (cells.c) made.push(cells.c[i]!);
                rows.set(id, made);
                continue;
            }
            const at = cells.bucket ? 2 : 1;
            const add = (k: number, v: number) => (row[k] = last ? v : num(row[k]!) + v);
            add(at, cells.a[i]!);
            if (cells.b) add(at + 1, cells.b[i]!);
            if (cells.c) add(at + 2, cells.c[i]!);
        }
    return agg.cells([...rows.values()]);
}

// The cells over all keys: a column's when its keys are not kept.
function summed(agg: Aggregation, cells: Cells, merged: Hist | undefined): Cells {
    if (merged) {
        const pairs = [...merged].sort((x, y) => x[0] - y[0]);
        return {
            keys: new Int32Array(pairs.length).fill(ALL),
            bucket: Uint32Array.from(pairs, (p) => p[0]),
            a: Float64Array.from(pairs, (p) => p[1]),
            b: null,
            c: null,
        };
    }
    if (stands(agg.fn)) return { keys: new Int32Array(0), bucket: null, a: new Float64Array(0), b: null, c: null };
    const sum = (x: Float64Array | null) => (x ? Float64Array.of(x.reduce((s, v) => s + v, 0)) : null);
    return { keys: Int32Array.of(ALL), bucket: null, a: sum(cells.a)!, b: sum(cells.b), c: sum(cells.c) };
}

/** A key for people, on one line: parts separated by ", ", a stack as its innermost frame. */
export function keyText(parts: readonly Part[]): string {
    if (parts.length === 0) return "(no key)";
    return parts.map(partText).join(", ");
}

export function partText(p: Part): string {
    if (Array.isArray(p)) return p.length > 1 ? `${p[0]} ← ${p.length - 1} more` : (p[0] ?? "");
    return String(p).trim().replace(/\n\s*/g, " ← ");
}
