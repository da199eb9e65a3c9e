// trace.ts - what is known of one trace: its aggregations, their keys, and the columns of the last ten minutes.
//
// A column is one `results` of the server: what was added in that interval. The cells of a column lie in flat arrays, key by key; a
// histogram's cell is a triple of key, bucket and count. What the script itself sees is kept as well, in `now`, as doc/web-protocol.md
// describes: the sum of what was added, unless the script has cleared or truncated it. Cells take the most memory: when there are more than
// CELLS of them, the oldest columns keep only their sums over all keys.
import { addHist, bucketsOf, bump, type Buckets, type Hist } from "./buckets.ts";
import { isHist, moreSums, scalar, stands } from "./functions.ts";
import {
    num,
    type AggregationInfo,
    type Change,
    type Cost,
    type Drop,
    type Fault,
    type History,
    type Part,
    type Records,
    type Results,
    type Row,
    type Started,
    type State,
    type Stopped,
} from "./protocol.ts";

/** How long columns are kept, ms. */
export const GRACE_MS = 500; // by which a reading may be late
const KEPT = 600_000;
/** Most cells of all columns of a trace together: 16 bytes each. */
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

/** A value of a key: for avg count and sum, for stddev also the sum of squares, for others one number. */
export type Value = number[] | Hist;

export class Aggregation {
    readonly id: number;
    readonly name: string;
    readonly fn: string;
    readonly keyTypes: string[];
    readonly buckets: Buckets | null;
    normal: number;
    keys = new Map<number, Part[]>();
    /** A key that is neither here nor in `gone` has its initial value. */
    now = new Map<number, Value>();
    /** Keys that the script has removed. */
    gone = new Set<number>();

    constructor(info: AggregationInfo) {
        this.id = info.id;
        this.name = info.name;
        this.fn = info.function;
        this.keyTypes = info.keys;
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

    /** The keys that the script has, with their values. */
    *rows(): Iterable<[number, Value]> {
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

    /** Applies a change of `results`. */
    change(c: Change): void {
        for (const [key, ...parts] of c.keys ?? []) {
            this.keys.set(key, parts);
            this.gone.delete(key);
        }
        for (const row of c.add ?? []) this.gone.delete(num(row[0]!));
        if (c.now) this.setNow(c.now);
        else if (c.add) this.add(c.add);
        for (const key of c.gone ?? []) {
            this.now.delete(key);
            this.gone.add(key);
        }
        for (const key of this.now.keys()) this.gone.delete(key);
        if (c.normal !== undefined) this.normal = num(c.normal) || 1;
    }

    /** Applies a whole `state`. */
    replace(c: Change): void {
        this.keys.clear();
        this.now.clear();
        this.gone.clear();
        this.change({ ...c, now: c.now ?? [] });
    }

    cells(rows: Row[]): Cells {
        if (this.hist) {
            let n = 0;
            for (const row of rows) n += (row.length - 1) >> 1;
            const cells = { keys: new Int32Array(n), bucket: new Uint32Array(n), a: new Float64Array(n), b: null, c: null };
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

/** One trace as this page knows it. */
export class Trace {
    readonly info: Started;
    readonly aggregations = new Map<number, Aggregation>();
    columns: Column[] = [];
    records: RecordRow[] = [];
    recordsSkipped = 0;
    recordCount = 0;
    cost = new Map<string, Cost>(); // by node
    drops = new Map<string, Drop>(); // by kind, node and CPU
    faults: Fault[] = [];
    stopped: Stopped | null = null;
    viewers = 1;
    skipped = 0;
    /** When the last reading came, by this page's clock: ms. The server's clock may differ. */
    seen = performance.now();
    /** Increases with each change. */
    version = 0;
    private cells = 0;
    private have = new Set<number>(); // readings, by n
    private probes = new Map<number, [string, string]>();

    /** most: the number of cells that are kept with their keys. */
    constructor(
        info: Started,
        private readonly most = CELLS,
    ) {
        this.info = info;
        for (const a of info.aggregations) this.aggregations.set(a.id, new Aggregation(a));
    }

    /** The time of the last reading, or of the beginning. */
    get t(): number {
        return this.columns.length > 0 ? this.columns[this.columns.length - 1]!.t : this.info.t;
    }

    /** How long it has run, ms. */
    get ran(): number {
        const known = this.t - this.info.t;
        return this.stopped ? (this.stopped.ms ?? known) : this.silent > 0 ? known : known + (performance.now() - this.seen);
    }

    /** How long nothing has come although readings should have, ms; 0 while they come. */
    get silent(): number {
        const since = performance.now() - this.seen;
        return !this.stopped && since > 2 * this.info.interval + GRACE_MS ? since : 0;
    }

    results(r: Results): void {
        for (const c of r.aggregations) this.aggregations.get(c.id)?.change(c);
        this.put(r);
        this.seen = performance.now();
        this.forget();
        this.version++;
    }

    state(s: State): void {
        const said = new Map(s.aggregations.map((c) => [c.id, c]));
        for (const a of this.aggregations.values()) a.replace(said.get(a.id) ?? { id: a.id });
        this.skipped += s.skipped;
        this.version++;
    }

    /** Adds earlier columns; those that are already here stay as they are. */
    history(h: History): void {
        for (const c of h.columns) this.put(c);
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
        const near = this.info.interval >= 1000 ? undefined : [this.columns[at - 1], this.columns[at]].find((c) => c && second(c.t) === second(r.t));
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
            near.cells.set(id, old ? (later ? together(this.aggregations.get(id)!, old, cells) : together(this.aggregations.get(id)!, cells, old)) : cells);
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
        for (const c of this.columns) {
            if (this.cells <= this.most) break;
            if (!c.keyed) continue;
            this.cells -= size(c);
            for (const [id, cells] of c.cells) c.cells.set(id, summed(this.aggregations.get(id)!, cells, c.merged.get(id)));
            c.keyed = false;
            this.cells += size(c);
        }
    }

    record(r: Records): void {
        for (const [epid, probe, node] of r.probes ?? []) this.probes.set(epid, [probe, node]);
        for (const [epid, at, cpu, text, values] of r.rows) {
            const [probe, node] = this.probes.get(epid) ?? [`EPID ${epid}`, ""];
            this.records.push({ at, probe, node, cpu, text, values, seq: ++this.recordCount });
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
function mergedOf(cells: Cells, wide: number): Hist {
    const sums = new Float64Array(wide);
    for (let i = 0; i < cells.keys.length; i++) {
        const b = cells.bucket![i]!;
        if (b < wide) sums[b]! += cells.a[i]!;
    }
    const merged: Hist = new Map();
    for (let b = 0; b < wide; b++) if (sums[b] !== 0) merged.set(b, sums[b]!);
    return merged;
}

const size = (c: Column): number => [...c.cells.values()].reduce((sum, x) => sum + x.keys.length, 0);

// The cells of two columns as one: sums, but for min and max the later value.
function together(agg: Aggregation, x: Cells, y: Cells): Cells {
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
