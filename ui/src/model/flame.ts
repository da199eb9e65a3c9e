// flame.ts - stacks as a tree, for flame graphs, and as text, for other tools.
//
// A stack is a part of a key: a `stack`, or a string whose frames are separated by newlines (innermost first) or by `;` (outermost first).
// Parts without frames become frames of their own, outside the stack's. An aggregation without any stack is drawn as the tree of its keys.
import { additive } from "./functions.ts";
import type { Part } from "./protocol.ts";
import type { Aggregation, Value } from "./trace.ts";

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
    /** The value is a lower bound. */
    atLeast: boolean;
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
    if (Array.isArray(part))
        return part
            .map((f) => f.trim())
            .filter(Boolean)
            .reverse();
    const text = String(part);
    if (text.includes("\n"))
        return text
            .split("\n")
            .map((f) => f.trim())
            .filter(Boolean)
            .reverse();
    if (text.includes(";"))
        return text
            .split(";")
            .map((f) => f.trim())
            .filter(Boolean);
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

/** How stacks become a graph: merged, the heaviest at the left; column by column, as time went; around one function. */
export const FLAME_MODES = ["heavy", "time", "sandwich"] as const;
export type FlameMode = (typeof FLAME_MODES)[number];

/** Stacks with their values; atLeast: which is a lower bound. */
export type Stacks = readonly (readonly [stack: readonly string[], value: number, atLeast?: boolean])[];

/** All stacks of these keys with their values, if above zero: outermost frame first. */
export function stacksOf(
    agg: Aggregation,
    rows: Iterable<[number, Value]> = agg.rows(),
): [string[], number, boolean?][] {
    const out: [string[], number, boolean?][] = [];
    for (const [key, value] of rows) {
        const n = agg.shown(value);
        const frames = agg.parts(key).flatMap(framesOf);
        if (n > 0) out.push(agg.atLeast.has(key) && !agg.hist ? [frames, n, true] : [frames, n]);
    }
    return out;
}

// Adds one stack below a frame; frames in the order of the stack.
function grow(
    root: Frame,
    [stack, value, least = false]: Stacks[number],
    reverse: boolean,
    index: Map<Frame, Map<string, Frame>>,
): void {
    let at = root;
    at.value += value;
    at.atLeast ||= least;
    for (const frame of reverse ? [...stack].reverse() : stack) {
        const [name, line] = splitLine(frame);
        let below = index.get(at);
        if (!below) index.set(at, (below = new Map()));
        let next = below.get(name);
        if (!next) {
            next = make(name, at.depth + 1, at);
            below.set(name, next);
            at.children.push(next);
        }
        next.value += value;
        next.atLeast ||= least;
        if (line && (next.lines.has(line) || next.lines.size < LINES))
            next.lines.set(line, (next.lines.get(line) ?? 0) + value);
        at = next;
    }
    at.self += value;
}

const make = (name: string, depth: number, parent: Frame | null): Frame => ({
    name,
    value: 0,
    self: 0,
    children: [],
    depth,
    x0: 0,
    x1: 1,
    parent,
    atLeast: false,
    lines: new Map(),
});

/** Builds the tree. reverse: merged from the innermost frames, to see what calls the expensive ones. */
export function flame(stacks: Stacks, reverse: boolean, name = "all"): Frame {
    const root = make(name, 0, null);
    const index = new Map();
    for (const stack of stacks) grow(root, stack, reverse, index);
    place(root, true);
    return root;
}

/** The same in the order of time: the frames above the root are the columns, by these names, each with the stacks that came in it. */
export function timeline(columns: readonly { name: string; stacks: Stacks }[], reverse: boolean): Frame {
    const root = make("all", 0, null);
    for (const { name, stacks } of columns) {
        const column = make(name, 1, root);
        const index = new Map();
        for (const stack of stacks) grow(column, stack, reverse, index);
        if (column.value === 0) continue;
        root.value += column.value;
        root.atLeast ||= column.atLeast;
        root.children.push(column);
    }
    place(root, false);
    return root;
}

// The heaviest child is at the left; those of the root stay as they are unless `all` is set.
function place(f: Frame, all: boolean): void {
    if (all) f.children.sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
    let x = f.x0;
    const per = f.value > 0 ? (f.x1 - f.x0) / f.value : 0;
    for (const c of f.children) {
        c.x0 = x;
        x += c.value * per;
        c.x1 = x;
        place(c, true);
    }
}

export interface FunctionRow {
    name: string;
    self: number;
    total: number; // including what it calls; once for each stack, however often the function is in it
}

/** The functions of these stacks, those with the largest own value first. */
export function functionsOf(stacks: Stacks): FunctionRow[] {
    const rows = new Map<string, FunctionRow>();
    const row = (name: string) => {
        let r = rows.get(name);
        if (!r) rows.set(name, (r = { name, self: 0, total: 0 }));
        return r;
    };
    for (const [frames, value] of stacks) {
        const names = frames.map((f) => splitLine(f)[0]);
        for (const name of new Set(names)) row(name).total += value;
        if (names.length > 0) row(names[names.length - 1]!).self += value;
    }
    return [...rows.values()].sort((a, b) => b.self - a.self || b.total - a.total || (a.name < b.name ? -1 : 1));
}

/** Who calls a function, and what it calls: two trees with it as their root. A function that calls itself counts from its outermost call. */
export function around(stacks: Stacks, name: string): { callers: Frame; callees: Frame } {
    const callers: Stacks[number][] = [];
    const callees: Stacks[number][] = [];
    for (const [frames, value, least] of stacks) {
        const i = frames.findIndex((f) => splitLine(f)[0] === name);
        if (i < 0) continue;
        callers.push([frames.slice(0, i), value, least]);
        callees.push([frames.slice(i + 1), value, least]);
    }
    return { callers: flame(callers, true, name), callees: flame(callees, false, name) };
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
    for (let at: Frame | null = f; at?.parent; at = at.parent) names.unshift(at.name);
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
export function folded(stacks: Stacks): string {
    const sum = new Map<string, number>();
    for (const [frames, n] of stacks) {
        const line = frames.map((f) => splitLine(f)[0].replace(/[;\n]/g, ":")).join(";");
        sum.set(line, (sum.get(line) ?? 0) + n);
    }
    return [...sum].map(([line, n]) => `${line} ${n}\n`).join("");
}
