// matched.ts - what a script would do to the node: the functions and events that its descriptions match.
import { counted, exact } from "./format.ts";
import type { Matched } from "./protocol.ts";

/** So many functions are asked about before they are placed: it takes a busy node seconds, and each of their calls is an event. */
export const DEAR_FUNCTIONS = 1000;

const EVENTS: [RegExp, string][] = [
    [/^message-|^send|^receive/, "each message"],
    [/^gc/, "each collection"],
    [/^process-(in|out)|^schedule/, "each time a process is scheduled"],
    [/^process-/, "each start, end or link of a process"],
    [/^port-/, "each event of a port"],
    [/^(tick|profile|wall)-/, "a timer"],
    [/^(BEGIN|END|ERROR)$/, ""],
];

/** One line: "3 100 of 8 037 functions of 40 modules, each call; each message". */
export function estimate(m: Matched): string {
    const seen = new Map<string, number>();
    let functions = 0;
    let modules = 0;
    const parts: string[] = [];
    for (const d of m.matches ?? []) {
        functions = Math.max(functions, d.functions);
        modules = Math.max(modules, d.modules);
        if (d.functions > 0 || d.name === null) continue;
        const what = EVENTS.find(([re]) => re.test(d.name!))?.[1] ?? `each ${d.name}`;
        if (what) seen.set(what, 1);
    }
    const dist = total(m);
    if (dist.functions > 0)
        parts.push(
            `${exact(dist.functions)} of ${counted(m.functions ?? 0, "function")}, in ${counted(dist.modules, "module")}: each call is an event`,
        );
    return [...parts, ...seen.keys()].join("; ");
}

/** Functions and modules of all descriptions; an entry and a return of the same functions count once. */
export function total(m: Matched): { functions: number; modules: number } {
    const by = new Map<string, number>();
    let functions = 0;
    let modules = 0;
    for (const d of m.matches ?? []) {
        const same = `${d.functions}/${d.modules}`;
        if (d.functions === 0 || by.has(same)) continue;
        by.set(same, 1);
        functions += d.functions;
        modules += d.modules;
    }
    return {
        functions: Math.min(functions, m.functions ?? functions),
        modules: Math.min(modules, m.modules ?? modules),
    };
}

export interface Dear {
    text: string;
    /** The description with most functions, as bytes of the script. */
    line: number;
    column: number;
    length: number;
}

/** Why a run should be thought over; null: it need not. */
export function dear(m: Matched): Dear | null {
    const { functions, modules } = total(m);
    if (functions < DEAR_FUNCTIONS) return null;
    const d = [...(m.matches ?? [])].sort((x, y) => y.functions - x.functions)[0]!;
    const { line, column, length } = d;
    const share = m.functions ? `, ${Math.round((100 * functions) / m.functions)} % of all that the node has` : "";
    return {
        text: `It places probes on ${counted(functions, "function")} of ${counted(modules, "module")}${share}. That takes a busy node some time, and each of their calls is an event; the trace ends by itself if they take more of a scheduler than allowed.`,
        line,
        column,
        length,
    };
}

/** A script whose description at that place means one module; null: there is none of four parts. */
export function narrowed(script: string, at: Pick<Dear, "line" | "column" | "length">, module: string): string | null {
    const lines = script.split("\n");
    const text = lines[at.line - 1];
    if (text === undefined) return null;
    const bytes = new TextEncoder().encode(text);
    const cut = (a: number, b: number) => new TextDecoder().decode(bytes.slice(a, b));
    const from = at.column - 1;
    const parts = cut(from, from + at.length).split(":");
    if (parts.length < 2 || parts.length > 4) return null;
    while (parts.length < 4) parts.unshift("");
    if (parts[0] === "") parts[0] = "erlang*";
    parts[1] = /^[a-z]\w*$/.test(module) ? module : `'${module}'`;
    lines[at.line - 1] = cut(0, from) + parts.join(":") + cut(from + at.length, bytes.length);
    return lines.join("\n");
}
