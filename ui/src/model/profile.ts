// profile.ts - stacks as profiles for other tools: pprof's protocol buffers and speedscope's JSON, made as c_src/result/pprof.c and
// c_src/result/speedscope.c make them.
import { framesOf, splitLine } from "./flame.ts";
import type { Unit } from "./format.ts";
import { resultOf } from "./functions.ts";
import { type Aggregation, partText, type Value } from "./trace.ts";

export interface Sample {
    frames: string[]; // the outermost first
    labels: [string, string][]; // the parts of the key that are no frames
    value: number;
}

export interface Profile {
    title: string;
    unit: string; // of pprof
    samples: Sample[];
    began: number; // ms since 1970
    ms: number;
    about: string; // what it shows, and what it leaves out
    version: string;
}

const UNITS: Partial<Record<Unit, string>> = {
    ns: "nanoseconds",
    us: "microseconds",
    ms: "milliseconds",
    s: "seconds",
    bytes: "bytes",
};

export const unitName = (agg: Aggregation, unit: Unit): string =>
    agg.hist || resultOf(agg.fn) === "count" ? "count" : (UNITS[unit] ?? "");

/** The samples of an aggregation. A key without any stack is a stack of its parts. */
export function samplesOf(agg: Aggregation, rows: Iterable<[number, Value]>): Sample[] {
    const out: Sample[] = [];
    for (const [key, value] of rows) {
        const n = agg.shown(value);
        if (n === 0) continue;
        const parts = agg.parts(key);
        const frames = parts.map(framesOf);
        const isStack = parts.map((_, i) => agg.keyTypes[i] === "stack" || frames[i]!.length > 1);
        const all = !isStack.includes(true);
        out.push({
            frames: frames.filter((_, i) => all || isStack[i]).flat(),
            labels: parts.flatMap((p, i): [string, string][] =>
                all || isStack[i] ? [] : [[`key${i + 1}`, partText(p)]],
            ),
            value: n,
        });
    }
    return out;
}

/** "m:f/a (file.erl:12)" in its parts. */
function placeOf(frame: string): { name: string; file: string; line: number } {
    const [name, at] = splitLine(frame);
    const m = /^(.*):(\d+)$/.exec(at);
    return { name, file: m ? m[1]! : "", line: m ? Number(m[2]) : 0 };
}

/** Numbers for values, in the order in which they are asked for. */
class Numbers {
    readonly all: string[] = [];
    private known = new Map<string, number>();
    of(text: string): number {
        let n = this.known.get(text);
        if (n === undefined) {
            this.known.set(text, (n = this.all.length));
            this.all.push(text);
        }
        return n;
    }
}

// -- speedscope

/** A file of speedscope. It has no negative weights: such samples are left out, which the name says. */
export function speedscope(p: Profile): string {
    const frames = new Numbers();
    const kept = p.samples.filter((s) => s.value > 0);
    const left = p.samples.length - kept.length;
    const samples = kept.map((s) => [
        ...s.labels.map(([, text]) => frames.of(text)),
        ...s.frames.map((f) => frames.of(f)),
    ]);
    return JSON.stringify({
        $schema: "https://www.speedscope.app/file-format-schema.json",
        shared: {
            frames: frames.all.map((f) => {
                const { name, file, line } = placeOf(f);
                return { name, ...(file ? { file } : {}), ...(line ? { line } : {}) };
            }),
        },
        profiles: [
            {
                type: "sampled",
                name: `${p.title}${left > 0 ? ` (${left} below 0 left out)` : ""}`,
                unit: p.unit === "" || p.unit === "count" ? "none" : p.unit,
                startValue: 0,
                endValue: kept.reduce((sum, s) => sum + s.value, 0),
                samples,
                weights: kept.map((s) => s.value),
            },
        ],
        name: p.about,
        activeProfileIndex: 0,
        exporter: `erltrace ${p.version}`,
    });
}

// -- pprof

/** A message of protocol buffers: fields with a varint, or with bytes. */
class Message {
    private bytes: number[] = [];
    private varint(v: bigint): void {
        let rest = BigInt.asUintN(64, v);
        for (; rest >= 0x80n; rest >>= 7n) this.bytes.push(Number(rest & 0x7fn) | 0x80);
        this.bytes.push(Number(rest));
    }
    /** A number; 0 is the value of a field that is not there. */
    number(field: number, v: number): this {
        if (v === 0) return this;
        this.varint(BigInt(field << 3));
        this.varint(BigInt(Math.trunc(v)));
        return this;
    }
    data(field: number, bytes: ArrayLike<number>): this {
        this.varint(BigInt((field << 3) | 2));
        this.varint(BigInt(bytes.length));
        for (let i = 0; i < bytes.length; i++) this.bytes.push(bytes[i]!);
        return this;
    }
    message(field: number, m: Message): this {
        return this.data(field, m.bytes);
    }
    packed(field: number, numbers: readonly number[]): this {
        const m = new Message();
        for (const n of numbers) m.varint(BigInt(Math.trunc(n)));
        return this.message(field, m);
    }
    get done(): Uint8Array {
        return Uint8Array.from(this.bytes);
    }
}

/** The message `Profile` of profile.proto, not compressed. */
export function pprof(p: Profile): Uint8Array {
    const texts = new Numbers();
    const locations = new Numbers(); // frames
    const functions = new Numbers(); // name and file
    const out = new Message();
    texts.of("");
    const type = texts.of(p.title);
    out.message(1, new Message().number(1, type).number(2, texts.of(p.unit)));
    for (const s of p.samples) {
        const ids = [...s.frames].reverse().map((f) => locations.of(f) + 1);
        const m = new Message().packed(1, ids).packed(2, [s.value]);
        for (const [key, text] of s.labels)
            m.message(3, new Message().number(1, texts.of(key)).number(2, texts.of(text)));
        out.message(2, m);
    }
    locations.all.forEach((f, i) => {
        const { name, file, line } = placeOf(f);
        const id = functions.of(`${name}\n${file}`) + 1;
        out.message(4, new Message().number(1, i + 1).message(4, new Message().number(1, id).number(2, line)));
    });
    functions.all.forEach((f, i) => {
        const [name, file] = f.split("\n") as [string, string];
        const text = texts.of(name);
        out.message(
            5,
            new Message()
                .number(1, i + 1)
                .number(2, text)
                .number(3, text)
                .number(4, texts.of(file)),
        );
    });
    out.number(9, p.began * 1e6).number(10, p.ms * 1e6);
    out.packed(13, [texts.of(p.about), texts.of(`erltrace ${p.version}`)]);
    out.number(14, type);
    const utf8 = new TextEncoder();
    for (const t of texts.all) out.data(6, utf8.encode(t));
    return out.done;
}
