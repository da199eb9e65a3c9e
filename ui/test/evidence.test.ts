import assert from "node:assert/strict";
import { test } from "node:test";
import { about, heatCsv, shortScript } from "../src/model/export.ts";
import { addNote, addThreshold, alarms, crossings, marksOf, NO_MARKS } from "../src/model/marks.ts";
import { type Profile, pprof, samplesOf, speedscope, unitName } from "../src/model/profile.ts";
import { gzip, pack, read, type Saved, unpack, write } from "../src/model/saved.ts";
import { Trace } from "../src/model/trace.ts";
import { shop, started, T0 } from "./fake/world.ts";

/** A trace of the shop with something of everything. */
function trace(seconds = 20): Trace {
    const t = new Trace(started(T0, { args: ["shop", "ü\u0000☃"], options: { aggrate: "1s", quiet: true } }));
    const next = shop(T0);
    for (let n = 1; n <= seconds; n++) t.results(next(n));
    t.results({
        type: "results",
        n: seconds + 1,
        t: T0 + (seconds + 1) * 1000,
        dt: 1000,
        aggregations: [
            { id: 1, keys: [[900, "9007199254740993", "shop:big/0"]], add: [[900, "18446744073709551615"]] },
            { id: 2, gone: [3], now: [[1, 5]], normal: 1000 },
        ],
    });
    t.history({ type: "history", columns: [{ n: 0, t: T0, dt: 1000, aggregations: [{ id: 0, add: [[-2, 70, 4]] }] }] });
    t.record({
        type: "records",
        probes: [[3, "erlang1:::spawn", "shop@host"]],
        rows: [
            [3, 12.25, 0, "one\n", ["<0.1.0>", 7, "18446744073709551615"]],
            [3, 13, 1, "mark: two\n", [["a", "b"]]],
        ],
        skipped: 2,
    });
    t.drop([{ kind: "AGGREGATION", count: 1, total: 3, node: "shop@host", cpu: null, text: "3 drops" }]);
    t.fault([{ text: "divide-by-zero", name: "DIVZERO", epid: 1, count: 17 }]);
    t.marking = { ...NO_MARKS, notes: [{ t: T0 + 5000, text: "deployed" }] };
    t.stopped = { type: "stopped", reason: "exit", status: 3, ms: 21000, output: "bye\n" };
    return t;
}
const saved = (t: Trace, more: Partial<Saved> = {}): Saved => ({
    erltrace: "0.1.0",
    trace: t,
    running: false,
    notices: [],
    look: "view=heatmap&y=linear",
    ...more,
});
const textOf = (s: Saved) => write(s).join("");

test("an opened session has the same cells, keys and values, and saves the same bytes", async () => {
    const t = trace();
    const sizes = trace(3);
    sizes.results({ type: "results", n: 99, t: T0 + 99_000, dt: 1000, aggregations: [{ id: 1, at_least: [2, 3] }] });
    assert.match(textOf(saved(sizes)), /"version":2,.*"atLeast":\[2,3\]/);
    assert.equal(textOf(read(textOf(saved(sizes)))), textOf(saved(sizes)), "with lower bounds");
    sizes.gaps.push({ from: T0 + 1500, to: T0 + 4700, what: "server" });
    sizes.gaps.push({ from: T0 + 5500, to: T0 + 6700, what: "node", node: "shop@two" });
    const gaps = textOf(saved(sizes));
    assert.match(gaps, /"version":3,.*"gaps":\[\{"from":\d+,"to":\d+,"what":"server"\},/);
    assert.equal(textOf(read(gaps)), gaps, "with gaps");
    assert.deepEqual(read(gaps).trace.gaps, sizes.gaps);
    const back = trace(3); // the server's clock was set back
    assert.ok(back.resume({ ...back.info, trace: 13, t: T0 - 60_000 }, "server"));
    back.stopped = { type: "stopped", reason: "left" };
    assert.deepEqual(read(textOf(saved(back))).trace.gaps, [{ from: back.t, to: back.t, what: "server" }]);
    for (const [place, value, why] of [
        ["gaps.0.what", "x", /is none of/],
        ["gaps.0.more", 1, /unknown field "more"/],
        ["gaps.0.to", 1, /ends before it begins/],
        ["gaps", Array(20_000).fill(0), /at most 10000/],
    ] as const)
        assert.throws(() => read(changed(gaps, place, value)), why);
    for (const s of [saved(t), saved(t, { running: true })]) {
        const first = textOf(s);
        assert.match(first, /"version":1,/);
        const again = read(first);
        assert.equal(textOf(again), first);
        assert.deepEqual(again.trace.columns, t.columns);
        for (const [id, a] of t.aggregations) {
            const b = again.trace.aggregations.get(id)!;
            assert.deepEqual(
                [b.keys, b.now, b.gone, b.normal, b.atLeast],
                [a.keys, a.now, a.gone, a.normal, a.atLeast],
                a.name,
            );
        }
        assert.deepEqual(again.trace.records, t.records);
        assert.deepEqual([again.trace.marking, again.look, again.running], [t.marking, s.look, s.running]);
        const { data, ending } = await pack(again);
        assert.equal(ending, ".erltrace.json.gz");
        assert.equal(textOf(await unpack(new Blob(data))), first);
        assert.equal(textOf(await unpack(new Blob([first]))), first);
    }
    assert.equal(read(textOf(saved(t))).trace.info.args[1], "ü\u0000☃");
});

/** What is no session at all. */
const OTHER: [string, RegExp][] = [
    ["{", /no JSON/],
    ["", /no JSON/],
    ["null", /no session/],
    ["[1]", /no session/],
    ['{"format":"other"}', /no session/],
    ['{"format":"erltrace session","version":4}', /later erltrace/],
    ['{"format":"erltrace session"}', /lacks the field "version"/],
];
type Change = (old: unknown) => unknown;
const GONE = Symbol("gone");
/** A place in a good session, what is put there, and what its reader says. */
const HOSTILE: [string, unknown, RegExp][] = [
    ["version", "1", /version is no integer/],
    ["more", 1, /unknown field "more"/],
    ["trace.more", 1, /trace has the unknown field "more"/],
    ["columns", GONE, /lacks the field "columns"/],
    ["columns.1.cells.0.1", [1], /different lengths/],
    ["columns.0.cells.0.1", { length: 1e9 }, /is no list/],
    ["columns.0.cells.0.2.0", 1e9, /no bucket 1000000000/],
    ["columns.0.cells.0.2.0", -1, /no bucket -1/],
    ["columns.0.cells.0.2.0", 1.5, /no integer/],
    ["columns.0.cells.0.3.0", "1", /no number/],
    ["columns.0.cells.0.2", null, /do not suit quantize/],
    ["columns.0.cells.0.4", [], /do not suit quantize/],
    ["columns.0.cells.0.0", 99, /no aggregation 99/],
    ["columns.1.n", 0, /out of order/],
    ["columns", Array(30000).fill(0), /at most 20000/],
    ["columns.0.dt", 0, /no integer from 1/],
    ["aggregations.0.keys.0.2", "x", /a key has 2 parts/],
    ["aggregations.0.keys.0.0", 1e10, /no number of a key/],
    ["aggregations.0.keys.0.1", { x: 1 }, /part of a key/],
    ["aggregations.0.now.0", [0, 1], /half a bucket/],
    ["aggregations.1.now.0", [0, 1, 2], /has 2 numbers/],
    ["aggregations.0.normal", 0, /divided by 0/],
    ["trace.aggregations.0.function", "constructor", /is none of/],
    ["trace.aggregations.0.buckets", null, /buckets of @time do not suit/],
    ["trace.aggregations.0.buckets.from", [1], /different lengths/],
    ["trace.aggregations.0.buckets.from.3", "x", /is no integer/],
    ["trace.aggregations.0.buckets.from", ((old: number[]) => old.reverse()) as Change, /out of order/],
    ["records.0.5.0", { a: 1 }, /is no integer/],
    ["records.0.4", "x".repeat(2 << 20), /too long/],
    ["marking.notes", Array(2000).fill(0), /at most 1000/],
    ["stopped.reason", "because", /is none of/],
    ["stopped", null, /how the trace has ended/],
    ["costs.0", JSON.parse('{"__proto__":1}'), /unknown field "__proto__"/],
];

function changed(text: string, path: string, value: unknown): string {
    const doc = JSON.parse(text) as Record<string, unknown>;
    const way = path.split(".");
    const last = way.pop()!;
    const at = way.reduce((x, name) => x[name] as Record<string, unknown>, doc);
    if (value === GONE) delete at[last];
    else at[last] = typeof value === "function" ? (value as Change)(at[last]) : value;
    return JSON.stringify(doc);
}

test("a session that is not as it must be is refused with what is wrong", async () => {
    const good = textOf(saved(trace(3)));
    for (const [text, says] of OTHER) assert.throws(() => read(text), { message: says }, text);
    for (const [path, value, says] of HOSTILE)
        assert.throws(() => read(changed(good, path, value)), { message: says }, path);
    await assert.rejects(unpack(new Blob([Uint8Array.of(0x1f, 0x8b, 8, 0, 1, 2, 3)])), /damaged/);
    await assert.rejects(unpack(new Blob([Uint8Array.of(0xff, 0xfe, 0x00)])), /no text/);
});

test("a file that claims to be large is not unpacked", async () => {
    const data = await gzip([new Uint8Array(1 << 20)]);
    const file = new Blob(data as BlobPart[]);
    assert.ok(file.size < 1 << 12);
    await assert.rejects(unpack(file, 1 << 19), /larger than 0.5 MiB/);
    await assert.rejects(unpack(file, 1 << 9), /larger than/);
});

// -- exports

type Field = number | Uint8Array;
/** Decodes a message of protocol buffers: its fields in order. */
function decode(bytes: Uint8Array): [number, Field][] {
    const out: [number, Field][] = [];
    let at = 0;
    const varint = () => {
        let [v, shift] = [0n, 0n];
        for (;;) {
            const b = bytes[at++]!;
            v |= BigInt(b & 0x7f) << shift;
            shift += 7n;
            if (b < 0x80) return Number(BigInt.asIntN(64, v));
        }
    };
    while (at < bytes.length) {
        const tag = varint();
        if ((tag & 7) === 0) out.push([tag >> 3, varint()]);
        else {
            assert.equal(tag & 7, 2);
            const n = varint();
            out.push([tag >> 3, bytes.subarray(at, (at += n))]);
        }
    }
    assert.equal(at, bytes.length);
    return out;
}
const all = (m: [number, Field][], field: number) => m.filter(([f]) => f === field).map(([, v]) => v);
const numbersIn = (packed: Field) =>
    decode(Uint8Array.from([...(packed as Uint8Array)].flatMap((b) => (b < 0x80 ? [8, b] : assert.fail())))).map(
        ([, v]) => v,
    );

function stacks() {
    const t = new Trace(
        started(T0, {
            aggregations: [
                { id: 0, name: "@us", function: "sum", keys: ["string", "stack"], normal: 1, buckets: null },
            ],
        }),
    );
    t.results({
        type: "results",
        n: 1,
        t: T0 + 2000,
        dt: 2000,
        aggregations: [
            {
                id: 0,
                keys: [
                    [0, "till", ["shop:pay/2 (shop.erl:12)", "shop:run/1 (shop.erl:3)"]],
                    [1, "store", ["shop:pay/2 (shop.erl:14)", "shop:run/1 (shop.erl:3)"]],
                    [2, "store", ["shop:idle/0"]],
                ],
                add: [
                    [0, 100],
                    [1, 7],
                    [2, -3],
                ],
            },
        ],
    });
    const agg = t.aggregations.get(0)!;
    const made: Profile = {
        title: "@us",
        unit: unitName(agg, "us"),
        samples: samplesOf(agg, agg.rows()),
        began: T0,
        ms: 2000,
        about: about(t, agg, t.columns, new Set([0, 1])),
        version: "0.1.0",
    };
    return made;
}

test("a profile for pprof has samples, labels, locations with lines, and times", () => {
    const p = decode(pprof(stacks()));
    const utf8 = new TextDecoder();
    const texts = all(p, 6).map((b) => utf8.decode(b as Uint8Array));
    assert.equal(texts[0], "");
    const part = (v: Field) => new Map(decode(v as Uint8Array));
    const type = part(all(p, 1)[0]!);
    assert.deepEqual([texts[type.get(1) as number], texts[type.get(2) as number]], ["@us", "microseconds"]);
    const functions = new Map(all(p, 5).map((f) => [part(f).get(1), part(f)]));
    const locations = new Map(
        all(p, 4).map((l) => {
            const line = part(part(l).get(4)!);
            const f = functions.get(line.get(1))!;
            return [
                part(l).get(1),
                `${texts[f.get(2) as number]} ${texts[(f.get(4) as number) ?? 0]}:${line.get(2) ?? 0}`,
            ];
        }),
    );
    const samples = all(p, 2).map((s) => {
        const m = part(s);
        const label = part(m.get(3)!);
        return [
            numbersIn(m.get(1)!).map((id) => locations.get(id)),
            decode(Uint8Array.of(8, ...(m.get(2) as Uint8Array)))[0]![1],
            texts[label.get(1) as number],
            texts[label.get(2) as number],
        ];
    });
    assert.deepEqual(samples, [
        [["shop:pay/2 shop.erl:12", "shop:run/1 shop.erl:3"], 100, "key1", "till"],
        [["shop:pay/2 shop.erl:14", "shop:run/1 shop.erl:3"], 7, "key1", "store"],
        [["shop:idle/0 :0"], -3, "key1", "store"],
    ]);
    assert.equal(functions.size, 3);
    assert.deepEqual([all(p, 9), all(p, 10)], [[T0 * 1e6], [2e9]]);
    const comments = numbersIn(all(p, 13)[0]!).map((i) => texts[i as number]);
    assert.match(
        comments.join("\n"),
        /latency\.d @us, shop@host, .*Z to .*Z, only till, .*; store, .*\nerltrace 0\.1\.0/,
    );
});

test("a profile for speedscope has frames once, weights that add up, and no negative ones", () => {
    const f = JSON.parse(speedscope(stacks())) as {
        $schema: string;
        shared: { frames: { name: string; file?: string; line?: number }[] };
        profiles: {
            type: string;
            name: string;
            unit: string;
            startValue: number;
            endValue: number;
            samples: number[][];
            weights: number[];
        }[];
    };
    assert.equal(f.$schema, "https://www.speedscope.app/file-format-schema.json");
    const p = f.profiles[0]!;
    assert.deepEqual(
        [p.type, p.name, p.unit, p.startValue, p.endValue, p.weights],
        ["sampled", "@us (1 below 0 left out)", "microseconds", 0, 107, [100, 7]],
    );
    const name = (i: number) => [f.shared.frames[i]!.name, f.shared.frames[i]!.line].filter(Boolean).join(":");
    assert.deepEqual(
        p.samples.map((s) => s.map(name)),
        [
            ["till", "shop:run/1:3", "shop:pay/2:12"],
            ["store", "shop:run/1:3", "shop:pay/2:14"],
        ],
    );
    assert.equal(new Set(f.shared.frames.map((x) => JSON.stringify(x))).size, f.shared.frames.length);
});

test("a heat map as CSV has a line for each time, key and bucket, of the keys that are shown", () => {
    const t = trace(2);
    const agg = t.aggregations.get(0)!;
    const rows = heatCsv(agg, t.columns, new Set([1]))
        .trim()
        .split("\r\n");
    assert.equal(rows[0], "time,key,from,to,count");
    assert.ok(rows.length > 3 && rows.slice(1).every((r) => r.split(",")[1] === "shop:price/1"), rows[1]);
    const sum = rows.slice(1).reduce((n, r) => n + Number(r.split(",")[4]), 0);
    const hist = agg.now.get(1) as Map<number, number>;
    assert.equal(
        sum,
        [...hist.values()].reduce((x, y) => x + y, 0),
    );
});

test("a script is shortened for a picture", () => {
    assert.deepEqual(
        shortScript("#!/x\n/* what\n * it is */\n#pragma D option quiet\nBEGIN\n{\n  x = 1;\n}\n", 40, 3),
        ["BEGIN { x = 1; }"],
    );
    assert.deepEqual(shortScript("aaa bbb ccc ddd eee", 8, 2), ["aaa bbb", "ccc dd …"]);
    assert.deepEqual(shortScript("", 8, 2), []);
});

test("a threshold is crossed when it has lasted, and until it is over", () => {
    const t = new Trace(started(T0));
    const agg = t.aggregations.get(0)!;
    const values = [4, 9, 9, 9, 4, 9, 4, 9, 9];
    values.forEach((v, i) =>
        t.results({
            type: "results",
            n: i + 1,
            t: T0 + (i + 1) * 1000,
            dt: 1000,
            aggregations: [{ id: 0, ...(i === 0 ? { keys: [[0, "x"]] } : {}), add: [[0, 64 + v, 10]] }],
        }),
    );
    const limit = { agg: "@time", measure: "p99" as const, above: 100, lasting: 2000 };
    const seconds = (x: number | null) => (x === null ? null : (x - T0) / 1000);
    assert.deepEqual(
        crossings(limit, agg, t.columns).map((c) => [seconds(c.t), seconds(c.until)]),
        [
            [3, 4],
            [9, null],
        ],
    );
    // the largest value there is, at once
    assert.deepEqual(
        crossings({ ...limit, measure: "any", lasting: 0 }, agg, t.columns).map((c) => [
            seconds(c.t),
            seconds(c.until),
            c.value,
        ]),
        [
            [2, 4, 512],
            [6, 6, 512],
            [8, null, 512],
        ],
    );
    t.marking = addThreshold(NO_MARKS, limit);
    assert.deepEqual(
        alarms(t, t.marking, () => "us").map((a) => a.text),
        ["p99 1.02 ms"],
    );
    assert.deepEqual(
        alarms(t, addThreshold(NO_MARKS, { ...limit, agg: "@none" }), () => ""),
        [],
    );
});

test("marks are notes, what the script prints as marks, and crossings, by time", () => {
    const t = trace(3);
    t.marking = addNote(addNote(NO_MARKS, T0 + 2000, " later "), T0 + 1000, "first");
    t.marking = addNote(t.marking, T0, "  ");
    t.marking = addThreshold(t.marking, { agg: "@time", measure: "any", above: 1, lasting: 0 });
    const short = () =>
        marksOf(t, t.marking, () => "ns").map((m) => [m.t - T0, m.kind, m.kind === "crossed" ? "" : m.text]);
    assert.deepEqual(short(), [
        [0, "crossed", ""],
        [13, "printed", "two"],
        [1000, "note", "first"],
        [2000, "note", "later"],
    ]);
    t.gaps.push({ from: T0 + 1500, to: T0 + 4700, what: "server", node: "shop@two" });
    assert.deepEqual(short()[3], [1500, "gap", "shop@two: server restarted: 3.2 s missing"]);
    t.marking = { ...t.marking, records: true };
    assert.deepEqual(
        short()
            .filter(([, kind]) => kind === "printed")
            .map(([, , text]) => text),
        ["one", "two"],
    );
});
