// saved.ts - a trace as a file: the session that can be opened again. doc/session-file.md describes it.
//
// The file is JSON, usually compressed by gzip. Cells are the numbers of trace.ts, unchanged, so that what was opened and is saved again
// has the same bytes. A file can come from anybody: nothing of it is used before all of it has been checked, and a field that is not
// known here is an error, since a later saving would lose it.
import {
    bool,
    int,
    integer,
    list,
    maybe,
    number,
    numbers,
    object,
    one,
    pick,
    type Reader,
    table,
    text,
    tuple,
    Wrong,
} from "./checked.ts";
import { isHist, moreSums } from "./functions.ts";
import { readMarking } from "./marks.ts";
import type { Cost, Diagnostic, Part, Started, Stopped } from "./protocol.ts";
import { num } from "./protocol.ts";
import {
    type Aggregation,
    ALL,
    CELLS,
    type Cells,
    type Column,
    mergedOf,
    type Origin,
    ROWS,
    Trace,
    type Value,
} from "./trace.ts";
import { D_FUNCTIONS } from "./words.ts";

const FORMAT = "erltrace session";
/** Of a file with gaps 3, of one with lower bounds 2, else 1. */
const VERSIONS = [1, 2, 3] as const;

/** Largest size of the text of a session, bytes; of a file at most the same. */
const MOST_BYTES = 256 << 20;
const RECORD_CHARS = 32 << 20; // of records that are saved; the oldest are left out
const COLUMNS = 20_000; // more than fit into ten minutes
const KEYS = 1_000_000; // of an aggregation
const GAPS = 10_000;
const BUCKETS = 200_000; // of all aggregations
const KEY_MOST = 2 ** 31 - 1;
const WORDS = 1 << 20; // characters of one text

/** What is saved. */
export interface Saved extends Origin {
    trace: Trace;
    /** How it was looked at, as in an address. */
    look: string;
}

// -- what a file has

const word = text(WORDS);
const count = integer(0, Number.MAX_SAFE_INTEGER);
const part: Reader<Part> = (v, at) =>
    Array.isArray(v) ? list(word, 1000)(v, at) : typeof v === "string" ? word(v, at) : int(v, at);

const diagnostic = object({
    severity: one<Diagnostic["severity"]>(["error", "warning", "note"]),
    tag: word,
    text: word,
    hint: maybe(word),
    file: maybe(word),
    line: count,
    column: count,
    length: count,
    source: maybe(word),
    rendered: word,
});

const parts = list(tuple<Cost["kinds"][number]>(word, int, int, number), 1000);
const cost = object({
    type: one<"cost">(["cost"]),
    node: word,
    dt: count,
    fired: int,
    share: number,
    ns: int,
    drops: int,
    threads: parts,
    kinds: parts,
    probes: parts,
});

const stopped = object(
    {
        type: one<"stopped">(["stopped"]),
        reason: one<Stopped["reason"]>(["exit", "user", "overload", "lost", "limit", "error", "server", "left"]),
    },
    {
        id: count,
        trace: count,
        status: number,
        text: word,
        hint: maybe(word),
        ms: number,
        fired: int,
        drops: int,
        errors: int,
        output: word,
    },
);

const buckets: Reader<NonNullable<Started["aggregations"][number]["buckets"]>> = (v, at) => {
    const b = object({
        from: list(maybe(int), BUCKETS),
        to: list(maybe(int), BUCKETS),
        parameters: list(int, 10),
    })(v, at);
    let before = -Infinity;
    if (b.from.length !== b.to.length) throw new Wrong(`${at}: "from" and "to" have different lengths`);
    b.from.forEach((f, i) => {
        const t = b.to[i]!;
        if (f === null && t === null) return;
        const [from, to] = [f === null ? -Infinity : num(f), t === null ? Infinity : num(t)];
        if (from > to || from < before) throw new Wrong(`${at}: bucket ${i} is out of order`);
        before = from;
    });
    return b;
};

const placed = object({ probes: count, text: maybe(word) });

const described = object(
    {
        id: integer(0, 10_000),
        name: text(1000),
        function: one(Object.keys(D_FUNCTIONS)),
        keys: list(text(100), 100),
        normal: int,
        buckets: maybe(buckets),
    },
    { means: list(maybe(text(100)), 100), texts: list(maybe(word), 100) },
);

const drop = object({ kind: word, count: int, total: int, node: word, cpu: maybe(count), text: word });

const fault = object({ text: word, name: word, epid: count, count: int });

const info = object({
    trace: count,
    shared: bool,
    node: word,
    name: word,
    script: word,
    args: list(word, 100),
    options: table((v, at) => (v === true ? true : word(v, at)), 1000),
    view: (v, at) => {
        if (v !== null && JSON.stringify(v).length > WORDS) throw new Wrong(`${at} is too long`);
        return v;
    },
    t: count,
    interval: integer(1, 3_600_000),
    prints: bool,
    destructive: bool,
    enabled: placed,
    aggregations: list(described, 1000),
});

const gap = object(
    { from: count, to: count, what: one<Trace["gaps"][number]["what"]>(["link", "reload", "server", "node"]) },
    { node: word },
);

const fields = {
    format: one([FORMAT]),
    version: integer(VERSIONS[0], VERSIONS[2]),
    erltrace: text(100),
    running: bool,
    look: text(100_000),
    marking: readMarking,
    trace: info,
    stopped: maybe(stopped),
    costs: list(cost, 1000),
    drops: list(drop, 10_000),
    faults: list(fault, 1000),
    notices: list(diagnostic, 100),
    skipped: count,
    recordsSkipped: count,
    recordCount: count,
    aggregations: list(
        object(
            {
                id: integer(0, 10_000),
                normal: number,
                keys: list((v, at) => (Array.isArray(v) ? v : list(part, 0)(v, at)) as unknown[], KEYS),
                now: list(numbers(2 * BUCKETS + 1), KEYS),
                gone: numbers(KEYS, true),
            },
            { atLeast: numbers(KEYS, true) },
        ),
        1000,
    ),
    columns: list(
        object({
            n: count,
            t: count,
            dt: integer(1, Number.MAX_SAFE_INTEGER),
            keyed: bool,
            cells: list(
                tuple<[number, number[], number[] | null, number[], number[] | null, number[] | null]>(
                    integer(0, 10_000),
                    numbers(CELLS, true),
                    maybe(numbers(CELLS, true)),
                    numbers(CELLS),
                    maybe(numbers(CELLS)),
                    maybe(numbers(CELLS)),
                ),
                1000,
            ),
        }),
        COLUMNS,
    ),
    records: list(
        tuple<[number, string, string, number, string, Part[], number]>(
            number,
            word,
            word,
            number,
            word,
            list(part, 1000),
            count,
        ),
        ROWS,
    ),
};
const head = object(fields, { gaps: list(gap, GAPS) });

// -- writing

function* numbersOf(key: number, v: Value): Iterable<number> {
    yield key;
    if (v instanceof Map) for (const pair of v) yield* pair;
    else yield* v;
}

function aggregation(a: Aggregation): object {
    a.settle();
    return {
        id: a.id,
        normal: a.normal,
        keys: [...a.keys].map(([key, parts]) => [key, ...parts]),
        now: [...a.now].map(([key, v]) => [...numbersOf(key, v)]),
        gone: [...a.gone],
        ...(a.atLeast.size > 0 ? { atLeast: [...a.atLeast] } : {}),
    };
}

function column(c: Column): string {
    const cells = [...c.cells].map(([id, x]) => {
        const lists = [x.keys, x.bucket, x.a, x.b, x.c].map((l) => (l ? `[${l.join(",")}]` : "null"));
        return `[${id},${lists.join(",")}]`;
    });
    return `{"n":${c.n},"t":${c.t},"dt":${c.dt},"keyed":${c.keyed},"cells":[${cells.join(",")}]}`;
}

const isPart = (v: unknown): v is Part =>
    typeof v === "string" ||
    Number.isSafeInteger(v) ||
    (Array.isArray(v) && v.length < 1000 && v.every((x) => typeof x === "string"));

/** The text of the file, in pieces. */
export function write(s: Saved): string[] {
    const t = s.trace;
    const { enabled, aggregations } = t.info;
    const head = {
        format: FORMAT,
        version: VERSIONS[t.gaps.length > 0 ? 2 : [...t.aggregations.values()].some((a) => a.atLeast.size > 0) ? 1 : 0],
        erltrace: s.erltrace,
        running: s.running,
        look: s.look,
        marking: t.marking,
        trace: {
            ...pick(info, t.info),
            view: t.info.view ?? null,
            enabled: pick(placed, enabled),
            aggregations: aggregations.map((a) => pick(described, a)),
        },
        stopped: s.running || !t.stopped ? null : pick(stopped, t.stopped),
        costs: [...t.cost.values()].map((c) => pick(cost, c)),
        drops: [...t.drops.values()].map((d) => pick(drop, d)),
        faults: t.faults.map((f) => pick(fault, f)),
        notices: s.notices.map((d) => pick(diagnostic, d)),
        skipped: t.skipped,
        recordsSkipped: t.recordsSkipped,
        recordCount: t.recordCount,
        ...(t.gaps.length > 0 ? { gaps: t.gaps.slice(-GAPS).map((g) => pick(gap, g)) } : {}),
        aggregations: [...t.aggregations.values()].map(aggregation),
    };
    const records: string[] = [];
    let room = RECORD_CHARS;
    for (let i = t.records.length - 1; i >= Math.max(0, t.records.length - ROWS); i--) {
        const r = t.records[i]!;
        const values = r.values.map((v) => (isPart(v) ? v : JSON.stringify(v)));
        const text = JSON.stringify([r.at, r.probe, r.node, r.cpu, r.text, values, r.seq]);
        if ((room -= text.length) < 0) break;
        records.push(text);
    }
    const commas = (all: string[]): string[] => all.map((x, i) => (i > 0 ? `,\n${x}` : x));
    return [
        JSON.stringify(head).slice(0, -1),
        ',"columns":[\n',
        ...commas(t.columns.map(column)),
        '],"records":[\n',
        ...commas(records.reverse()),
        "]}\n",
    ];
}

// -- making a trace of it

const key = (v: number, at: string): number => {
    if (!Number.isSafeInteger(v) || v < ALL || v > KEY_MOST) throw new Wrong(`${at}: ${v} is no number of a key`);
    return v;
};

function restoreKeys(
    a: Aggregation,
    from: { normal: number; keys: unknown[][]; now: number[][]; gone: number[]; atLeast?: number[] },
): void {
    const at = `the aggregation ${a.name}`;
    if (from.normal === 0) throw new Wrong(`${at} is divided by 0`);
    a.normal = from.normal;
    for (const row of from.keys) {
        const id = key(row[0] as number, at);
        if (row.length !== a.keyTypes.length + 1) throw new Wrong(`${at}: a key has ${row.length - 1} parts`);
        a.keys.set(
            id,
            row.slice(1).map((p) => part(p, `${at}: a part of a key`)),
        );
    }
    for (const [id, ...row] of from.now) {
        let v: Value = row;
        if (a.hist) {
            if (row.length % 2 !== 0) throw new Wrong(`${at}: a value has half a bucket`);
            v = new Map();
            for (let i = 0; i < row.length; i += 2) v.set(bucket(row[i]!, a, at), row[i + 1]!);
        } else if (row.length !== 1 + moreSums(a.fn)) throw new Wrong(`${at}: a value has ${row.length} numbers`);
        a.now.set(key(id!, at), v);
    }
    for (const id of from.gone) a.gone.add(key(id, at));
    for (const id of from.atLeast ?? []) a.atLeast.add(key(id, at));
}

function bucket(b: number, a: Aggregation, at: string): number {
    if (!Number.isSafeInteger(b) || b < 0 || b >= a.buckets!.count) throw new Wrong(`${at} has no bucket ${b}`);
    return b;
}

type Lists = [number[], number[] | null, number[], number[] | null, number[] | null];

function restoreCells(a: Aggregation, [keys, buckets, x, y, z]: Lists): Cells {
    const at = `a column of ${a.name}`;
    const more = a.hist ? 0 : moreSums(a.fn);
    const wanted = [true, a.hist, true, more > 0, more > 1];
    [keys, buckets, x, y, z].forEach((l, i) => {
        if ((l !== null) !== wanted[i]) throw new Wrong(`${at}: the lists do not suit ${a.fn}`);
        if (l && l.length !== keys.length) throw new Wrong(`${at}: the lists have different lengths`);
    });
    for (const k of keys) key(k, at);
    for (const b of buckets ?? []) bucket(b, a, at);
    return {
        keys: Int32Array.from(keys),
        bucket: buckets && Uint32Array.from(buckets),
        a: Float64Array.from(x),
        b: y && Float64Array.from(y),
        c: z && Float64Array.from(z),
    };
}

/** Reads a session; throws Wrong with what is wrong with it. */
export function read(said: string): Saved {
    let v: unknown;
    try {
        v = JSON.parse(said);
    } catch {
        throw new Wrong("it is no JSON");
    }
    const claim = v as { format?: unknown; version?: unknown } | null;
    if (typeof v !== "object" || claim?.format !== FORMAT) throw new Wrong("it is no session of erltrace");
    if (Number(claim.version) > VERSIONS[2]) throw new Wrong("it was saved by a later erltrace than this one");
    const f = head(v, "");
    if (f.trace.aggregations.reduce((sum, a) => sum + (a.buckets?.from.length ?? 0), 0) > BUCKETS)
        throw new Wrong("its aggregations have too many buckets");
    const trace = new Trace({ ...f.trace, type: "started", id: 0 } as Started);
    for (const a of f.trace.aggregations)
        if (isHist(a.function) !== (a.buckets !== null))
            throw new Wrong(`the buckets of ${a.name} do not suit ${a.function}`);
    const agg = (id: number): Aggregation => {
        const a = trace.aggregations.get(id);
        if (!a) throw new Wrong(`there is no aggregation ${id}`);
        return a;
    };
    for (const a of f.aggregations) restoreKeys(agg(a.id), a);
    let [cells, before] = [0, -1];
    trace.columns = f.columns.map((c) => {
        if (c.n <= before) throw new Wrong("its columns are out of order");
        before = c.n;
        const column: Column = { n: c.n, t: c.t, dt: c.dt, keyed: c.keyed, cells: new Map(), merged: new Map() };
        for (const [id, ...lists] of c.cells) {
            const a = agg(id);
            if ((cells += lists[0].length) > 2 * CELLS) throw new Wrong("it has too many cells");
            const made = restoreCells(a, lists);
            column.cells.set(id, made);
            if (a.hist) column.merged.set(id, mergedOf(made, a.buckets!.count));
        }
        return column;
    });
    trace.records = f.records.map(([at, probe, node, cpu, text, values, seq]) => ({
        at,
        probe,
        node,
        cpu,
        text,
        values,
        seq,
    }));
    for (const g of f.gaps ?? []) {
        if (g.to < g.from) throw new Wrong("a gap ends before it begins");
        trace.gaps.push(g);
    }
    trace.recordsSkipped = f.recordsSkipped;
    trace.recordCount = f.recordCount;
    trace.skipped = f.skipped;
    trace.faults = f.faults;
    for (const c of f.costs) trace.cost.set(c.node, c);
    trace.drop(f.drops);
    if (!f.running && !f.stopped) throw new Wrong("it does not say how the trace has ended");
    trace.stopped = (f.stopped as Stopped | null) ?? { type: "stopped", reason: "left" };
    trace.marking = f.marking;
    trace.origin = { erltrace: f.erltrace, running: f.running, notices: f.notices };
    return { ...trace.origin, trace, look: f.look };
}

// -- files

const GZIP = [0x1f, 0x8b];

const tooLarge = (most: number) => new Wrong(`it is larger than ${most / 2 ** 20} MiB`);

async function through(
    data: BlobPart[],
    by: CompressionStream | DecompressionStream,
    most: number,
): Promise<Uint8Array[]> {
    const out: Uint8Array[] = [];
    let left = most;
    const reader = new Blob(data).stream().pipeThrough<Uint8Array>(by).getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return out;
        if ((left -= value.length) < 0) {
            void reader.cancel();
            throw tooLarge(most);
        }
        out.push(value);
    }
}

/** Compressed data; null if this browser cannot. */
export async function gzip(data: BlobPart[]): Promise<Uint8Array[] | null> {
    return typeof CompressionStream === "undefined" ? null : through(data, new CompressionStream("gzip"), Infinity);
}

/** The bytes of a session's file, and the end of its name. */
export async function pack(s: Saved): Promise<{ data: BlobPart[]; ending: string }> {
    const pieces = write(s);
    const packed = await gzip(pieces);
    return packed
        ? { data: packed as BlobPart[], ending: ".erltrace.json.gz" }
        : { data: pieces, ending: ".erltrace.json" };
}

/** Reads a session from the bytes of a file, or throws Wrong with what is wrong with them. most: bytes of its text. */
export async function unpack(file: Blob, most = MOST_BYTES): Promise<Saved> {
    if (file.size > most) throw tooLarge(most);
    let data: Blob = file;
    const first = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    if (first[0] === GZIP[0] && first[1] === GZIP[1]) {
        if (typeof DecompressionStream === "undefined")
            throw new Wrong("it is compressed, which this browser cannot undo: gunzip it first");
        try {
            data = new Blob((await through([file], new DecompressionStream("gzip"), most)) as BlobPart[]);
        } catch (e) {
            throw e instanceof Wrong ? e : new Wrong("its compressed data are damaged");
        }
    }
    let said: string;
    try {
        said = new TextDecoder("utf-8", { fatal: true }).decode(await data.arrayBuffer());
    } catch {
        throw new Wrong("it is no text");
    }
    return read(said);
}
