// matched.ts - what a script would do to the node: the functions and events that its descriptions match.
import { counted, exact } from "./format.ts";
import type { Diagnostic, Matched } from "./protocol.ts";

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

/** What a script matches on nodes, a line for those on which it is the same; with their names if it is not the same on all. */
export function estimates(all: readonly Matched[]): string[] {
    const nodes = new Map<string, string[]>();
    for (const m of all.filter((m) => m.matches)) {
        const text = estimate(m);
        nodes.set(text, [...(nodes.get(text) ?? []), m.node]);
    }
    return [...nodes].map(([text, on]) => (nodes.size > 1 ? `${on.join(", ")}: ${text || "nothing"}` : text));
}

/** The problems of a script on several nodes (`chosen`), each once; one that only some of them have begins with their names. */
export function problems(all: readonly Matched[], chosen: number): Diagnostic[] {
    const known = all.filter((m) => m.matches);
    const found = new Map<string, { problem: Diagnostic; nodes: string[] }>();
    for (const m of known)
        for (const problem of m.diagnostics) {
            const { tag, line, column, text } = problem;
            const key = JSON.stringify([tag, line, column, text]);
            const before = found.get(key);
            if (before) before.nodes.push(m.node);
            else found.set(key, { problem, nodes: [m.node] });
        }
    // what a node lacks is said of no other, even if it is not known what that one has
    const some = (tag: string, nodes: number) => nodes < (tag === "D_PDESC_ZERO" ? chosen : known.length);
    return [...found.values()].map(({ problem: p, nodes }) =>
        some(p.tag, nodes.length) ? { ...p, text: `${nodes.join(", ")}: ${p.text}` } : p,
    );
}

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

/** Why a run should be thought over, on the node on which it is dearest; null: it need not. */
export function dear(all: readonly Matched[]): Dear | null {
    const [m] = [...all].sort((x, y) => total(y).functions - total(x).functions);
    if (!m) return null;
    const { functions, modules } = total(m);
    if (functions < DEAR_FUNCTIONS) return null;
    const d = [...(m.matches ?? [])].sort((x, y) => y.functions - x.functions)[0]!;
    const { line, column, length } = d;
    const share = m.functions ? `, ${Math.round((100 * functions) / m.functions)} % of all that the node has` : "";
    return {
        text: `${all.length > 1 ? `On ${m.node} it` : "It"} places probes on ${counted(functions, "function")} of ${counted(modules, "module")}${share}. That takes a busy node some time, and each of their calls is an event; the trace ends by itself if they take more of a scheduler than allowed.`,
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
