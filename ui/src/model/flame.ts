// flame.ts - stacks as a tree, for flame graphs, and as text, for other tools.
//
// A stack is a part of a key: a `stack`, or a string whose frames are separated by newlines (innermost first) or by `;` (outermost first).
// Parts without frames become frames of their own, outside the stack's. An aggregation without any stack is drawn as the tree of its keys.
import { additive } from "./functions.ts";
import type { Part } from "./protocol.ts";
import type { Aggregation } from "./trace.ts";

export interface Frame {
    name: string;
    value: number; // including all below
    self: number;
    children: Frame[];
    depth: number;
    /** Where it begins and ends, as shares of the whole. */
    x0: number;
    x1: number;
    parent: Frame | null;
    /** How much of the value is at which lines, "file:line". */
    lines: Map<string, number>;
}

const LINES = 50; // of one frame that are kept apart

/** A frame of a node is "m:f/a (file:line)": the graph is by function, and the tip shows lines. */
export function splitLine(frame: string): [string, string] {
    const m = /^(.+\/\d+) \((.+:\d+)\)$/.exec(frame);
    return m ? [m[1]!, m[2]!] : [frame, ""];
}

/** The frames of one part, outermost first. */
export function framesOf(part: Part): string[] {
    if (Array.isArray(part)) return part.map((f) => f.trim()).filter(Boolean).reverse();
    const text = String(part);
    if (text.includes("\n")) return text.split("\n").map((f) => f.trim()).filter(Boolean).reverse();
    if (text.includes(";")) return text.split(";").map((f) => f.trim()).filter(Boolean);
    return [text.trim() || "(empty)"];
}

/** Whether an aggregation has anything that a flame graph can show: a value that adds up, and stacks or several parts. */
export function canFlame(agg: Aggregation): boolean {
    if (!additive(agg.fn)) return false;
    if (agg.keyTypes.includes("stack") || agg.keyTypes.length > 1) return true;
    if (agg.keyTypes[0] !== "string") return false;
    let looked = 0; // a stack may begin with one frame, but some key has more
    for (const parts of agg.keys.values()) {
        if (framesOf(parts[0]!).length > 1) return true;
        if (++looked >= 500) return false;
    }
    return false;
}

/** All stacks of an aggregation with their values, if above zero: outermost frame first. */
export function stacksOf(agg: Aggregation): [string[], number][] {
    const out: [string[], number][] = [];
    for (const [key, value] of agg.rows()) {
        const n = agg.shown(value);
        if (n > 0) out.push([agg.parts(key).flatMap(framesOf), n]);
    }
    return out;
}

/** Builds the tree. reverse: merged from the innermost frames, to see what calls the expensive ones. */
export function flame(stacks: readonly [string[], number][], reverse: boolean): Frame {
    const make = (name: string, depth: number, parent: Frame | null): Frame => ({ name, value: 0, self: 0, children: [], depth, x0: 0, x1: 1, parent, lines: new Map() });
    const root = make("all", 0, null);
    const index = new Map<Frame, Map<string, Frame>>();
    for (const [frames, value] of stacks) {
        let at = root;
        at.value += value;
        for (let i = 0; i < frames.length; i++) {
            const [name, line] = splitLine(frames[reverse ? frames.length - 1 - i : i]!);
            let below = index.get(at);
            if (!below) index.set(at, (below = new Map()));
            let next = below.get(name);
            if (!next) {
                next = make(name, at.depth + 1, at);
                below.set(name, next);
                at.children.push(next);
            }
            next.value += value;
            if (line && (next.lines.has(line) || next.lines.size < LINES)) next.lines.set(line, (next.lines.get(line) ?? 0) + value);
            at = next;
        }
        at.self += value;
    }
    place(root);
    return root;
}

// Children are sorted by name, so that a live graph stays in place.
function place(f: Frame): void {
    f.children.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    let x = f.x0;
    const per = f.value > 0 ? (f.x1 - f.x0) / f.value : 0;
    for (const c of f.children) {
        c.x0 = x;
        x += c.value * per;
        c.x1 = x;
        place(c);
    }
}

export function* frames(f: Frame): Iterable<Frame> {
    yield f;
    for (const c of f.children) yield* frames(c);
}

export function depthOf(f: Frame): number {
    let d = f.depth;
    for (const c of f.children) d = Math.max(d, depthOf(c));
    return d;
}

/** The frame that these names lead to, from the root's children on; null if it no longer exists. */
export function find(root: Frame, path: readonly string[]): Frame | null {
    let at: Frame = root;
    for (const name of path) {
        const next = at.children.find((c) => c.name === name);
        if (!next) return null;
        at = next;
    }
    return at;
}

/** The lines of a frame, the most frequent first. */
export function linesOf(f: Frame, most: number): [string, number][] {
    return [...f.lines].sort((a, b) => b[1] - a[1]).slice(0, most);
}

export function pathOf(f: Frame): string[] {
    const names: string[] = [];
    for (let at: Frame | null = f; at && at.parent; at = at.parent) names.unshift(at.name);
    return names;
}

/** The share of the whole that is in matching frames; frames inside others are not counted again. */
export function matched(f: Frame, test: (name: string) => boolean): number {
    if (f.parent && test(f.name)) return f.value;
    let sum = 0;
    for (const c of f.children) sum += matched(c, test);
    return sum;
}

/** One line for each stack, "a;b;c 42", as flamegraph.pl, speedscope and others read it; the outermost frame first. */
export function folded(stacks: readonly [string[], number][]): string {
    const sum = new Map<string, number>();
    for (const [frames, n] of stacks) {
        const line = frames.map((f) => splitLine(f)[0].replace(/[;\n]/g, ":")).join(";");
        sum.set(line, (sum.get(line) ?? 0) + n);
    }
    return [...sum].map(([line, n]) => `${line} ${n}\n`).join("");
}
