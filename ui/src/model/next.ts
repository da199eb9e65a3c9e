// next.ts - the next question: from what a row, a cell, a frame or a record names, the scripts that look closer. A script is written out
// in full, so that it can be read, changed and sent like any other.
import type { AggregationInfo, Part } from "./protocol.ts";
import type { ViewName } from "./url.ts";

export type Means = "process" | "pid" | "mfa" | "function" | "module" | "table";

/** One thing that can be asked about. */
export interface Thing {
    means: Means;
    text: string;
    /** Of a frame: file and line. */
    line?: string;
}

export interface Next {
    title: string; // in the menu, after what it is about
    name: string; // of the script
    script: string;
    view: ViewName;
    /** The aggregation to show; "": the first. */
    agg: string;
    /** Whether it looks into terms. */
    terms: boolean;
}

// -- names

const MFA = /^('(?:[^'\\]|\\.)*'|[^:'\s]+):(.+)\/(\d+)$/;
const FRAME = /^(.+\/\d+) \((.+:\d+)\)$/;
const PID = /^<\d+\.\d+\.\d+>$/;
/** What a word of a description may have without quotes: see "Names of Erlang and Elixir" in doc/language.md. */
const PLAIN = /^[a-z][A-Za-z0-9_]*$/;
const ALIAS = /^Elixir(\.[A-Z][A-Za-z0-9_]*)+$/;

const bare = (atom: string) => (/^'.*'$/s.test(atom) ? atom.slice(1, -1).replace(/\\(.)/gs, "$1") : atom);
/** An atom as descriptions have it. */
const word = (atom: string) => {
    const name = bare(atom);
    return PLAIN.test(name) || ALIAS.test(name) ? name : `'${name.replace(/[\\']/g, "\\$&")}'`;
};
/** A text of D. */
export const quoted = (s: string) =>
    `"${s.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/\r/g, "\\r")}"`;

/** The probes of a function: m:f/a, or f/a of any module. */
function probes(t: Thing, what: string): string {
    const m = MFA.exec(t.text);
    if (t.means === "mfa" && m) return `erlang*:${word(m[1]!)}:${word(m[2]!)}/${m[3]}:${what}`;
    const slash = t.text.lastIndexOf("/");
    return `erlang*::${word(t.text.slice(0, slash))}${t.text.slice(slash)}:${what}`;
}

/** Whether a process is this one; `of` is empty for the process of the probe, and else the argument that has its pid. */
function is(t: Thing, of = ""): string {
    if (t.means === "pid") return `${of ? `copyinstr(${of})` : "erlpid"} == ${quoted(t.text)}`;
    return `${of ? `erlname(${of})` : "erlname"} == ${quoted(t.text)}`;
}

// -- scripts

const TABLES = ["ets-read", "ets-write", "ets-delete", "ets-scan"].map((p) => `erlang*:::${p}`).join(",\n");
const SENT = "erlang*:::message-send";

interface Recipe {
    title: string;
    name: string;
    view: ViewName;
    agg?: string;
    terms?: boolean;
    /** The clauses; over: ns above which a value is slow, 0 if that is not known. */
    clauses: (t: Thing, over: number) => string[];
    /** Only with a limit, or only without one. */
    limit?: boolean;
}

const clause = (probe: string, predicate: string, ...actions: string[]) =>
    `${probe}\n${predicate ? `/${predicate}/\n` : ""}{\n${actions.map((a) => `    ${a}\n`).join("")}}\n`;

const onCpu = (t: Thing) => [
    clause(
        "profile-97",
        is(t),
        "@stacks[ustack(60)] = count();",
        "@functions[erlfunc] = count();",
        "@lines[ustack(1)] = count();",
    ),
];

const PROCESS: Recipe[] = [
    { title: "where its time goes: stacks", name: "stacks of", view: "flame", agg: "@stacks", clauses: onCpu },
    { title: "what it runs: functions by time", name: "functions of", view: "list", agg: "@functions", clauses: onCpu },
    {
        title: "how long its messages wait, by sender",
        name: "messages to",
        view: "heatmap",
        agg: "@wait_ns",
        clauses: (t) => [
            "string from[string];\n",
            clause(
                SENT,
                is(t, "arg1"),
                "sent[copyinstr(arg1)] = timestamp;",
                "from[copyinstr(arg1)] = erlname;",
                "@messages[erlname] = count();",
            ),
            clause(
                "erlang*:::process-scheduled",
                "sent[erlpid]",
                "@wait_ns[from[erlpid]] = quantize(timestamp - sent[erlpid]);",
                "sent[erlpid] = 0;",
                "from[erlpid] = 0;",
            ),
        ],
    },
    {
        title: "who sends to it",
        name: "senders to",
        view: "list",
        clauses: (t) => [clause(SENT, is(t, "arg1"), "@messages[erlname] = count();", "@words[erlname] = sum(arg2);")],
    },
    {
        title: "to whom it sends",
        name: "receivers of",
        view: "list",
        clauses: (t) => [
            clause(SENT, is(t), "@messages[erlname(arg1)] = count();", "@words[erlname(arg1)] = sum(arg2);"),
        ],
    },
    {
        title: "its messages",
        name: "contents of messages to",
        view: "console",
        terms: true,
        clauses: (t) => [clause(SENT, is(t, "arg1"), 'printf("%-24s  %s\\n", erlname, term_text(message));')],
    },
    {
        title: "how long its turns are, by where they end",
        name: "turns of",
        view: "heatmap",
        clauses: (t) => [
            clause("erlang*:::process-scheduled", is(t), "self->since = timestamp;"),
            clause(
                "erlang*:::process-unscheduled",
                `self->since && ${is(t)}`,
                "@turn_ns[erlfunc] = quantize(timestamp - self->since);",
                "self->since = 0;",
            ),
        ],
    },
    {
        title: "its collections",
        name: "collections of",
        view: "heatmap",
        clauses: (t) => [
            clause("erlang*:::gc_minor-start,\nerlang*:::gc_major-start", is(t), "self->gc = timestamp;"),
            clause(
                "erlang*:::gc_minor-end,\nerlang*:::gc_major-end",
                `self->gc && ${is(t)}`,
                '@took_ns[probename == "gc_minor-end" ? "minor" : "major"] = quantize(timestamp - self->gc);',
                "@stacks[ustack(40)] = count();",
                "self->gc = 0;",
            ),
        ],
    },
    {
        title: "which tables it uses",
        name: "tables of",
        view: "list",
        clauses: (t) => [clause(TABLES, is(t), "@uses[copyinstr(arg1), copyinstr(arg2)] = count();")],
    },
];

const known = (over: number) => (over > 0 ? `elapsed > ${Math.floor(over)}` : "elapsed >= 0");
const FUNCTION: Recipe[] = [
    {
        title: "how long its calls take, by arguments",
        name: "arguments of",
        view: "heatmap",
        terms: true,
        clauses: (t) => [clause(probes(t, "return"), known(0), "@took_ns[term_text(argv)] = quantize(elapsed);")],
    },
    {
        title: "how long its calls take, by process and caller",
        name: "latency of",
        view: "heatmap",
        clauses: (t) => [clause(probes(t, "return"), known(0), "@took_ns[erlname, erlcaller] = quantize(elapsed);")],
    },
    {
        title: "its slow calls",
        name: "slow calls of",
        view: "console",
        terms: true,
        limit: true,
        clauses: (t, over) => [
            clause(
                probes(t, "return"),
                known(over),
                'printf("%-24s %8d us  %s -> %s\\n", erlname, elapsed / 1000, term_text(argv), term_text(retval));',
                "@slow[term_text(argv), erlname] = count();",
            ),
        ],
    },
    {
        title: "who calls it: stacks at its entry",
        name: "callers of",
        view: "flame",
        clauses: (t) => [
            clause(probes(t, "entry"), "", "@stacks[ustack(40)] = count();", "@callers[erlcaller, erlname] = count();"),
        ],
    },
    {
        title: "which processes call it",
        name: "processes that call",
        view: "list",
        clauses: (t) => [clause(probes(t, "entry"), "", "@calls[erlname, erlcaller] = count();")],
    },
    {
        title: "its exceptions",
        name: "exceptions of",
        view: "list",
        terms: true,
        clauses: (t) => [
            clause(probes(t, "exception"), "", "@exceptions[class, term_text(reason), erlname] = count();"),
        ],
    },
];

const MODULE: Recipe[] = [
    {
        title: "how long its functions take",
        name: "functions of",
        view: "heatmap",
        clauses: (t) => [
            clause(`erlang*:${word(t.text)}::entry`, "", "self->start[probefunc] = timestamp;"),
            clause(
                `erlang*:${word(t.text)}::return`,
                "self->start[probefunc]",
                "@took_ns[probemod, probefunc] = quantize(timestamp - self->start[probefunc]);",
                "self->start[probefunc] = 0;",
            ),
        ],
    },
    {
        title: "who calls it",
        name: "callers of",
        view: "list",
        clauses: (t) => [
            clause(`erlang*:${word(t.text)}::entry`, "", "@calls[probemod, probefunc, erlname] = count();"),
        ],
    },
];

const uses = (t: Thing) => `copyinstr(arg1) == ${quoted(t.text)}`;
const TABLE: Recipe[] = [
    {
        title: "who uses it",
        name: "users of",
        view: "list",
        clauses: (t) => [clause(TABLES, uses(t), "@uses[erlname, copyinstr(arg2)] = count();")],
    },
    {
        title: "where it is used: stacks",
        name: "stacks at uses of",
        view: "flame",
        clauses: (t) => [clause(TABLES, uses(t), "@stacks[ustack(20)] = count();")],
    },
    {
        title: "which of its keys are read",
        name: "keys of",
        view: "list",
        terms: true,
        clauses: (t) => [clause("erlang*:::ets-read", uses(t), "@keys[term_text(argv[1]), erlname] = count();")],
    },
];

const RECIPES: Record<Means, Recipe[]> = {
    process: PROCESS,
    pid: PROCESS,
    mfa: FUNCTION,
    function: FUNCTION,
    module: MODULE,
    table: TABLE,
};

/** A time in ns as a title has it. */
const time = (ns: number) =>
    ns >= 1e9
        ? `${+(ns / 1e9).toPrecision(3)} s`
        : ns >= 1e6
          ? `${+(ns / 1e6).toPrecision(3)} ms`
          : `${+(ns / 1e3).toPrecision(3)} µs`;

/** The scripts that look closer at a thing; over: what of it is slow, ns, if that is known. */
export function nextOf(thing: Thing, over = 0): Next[] {
    const limit = over > 0 ? over : 1e6;
    return RECIPES[thing.means].map((r) => {
        const title = r.limit ? `arguments and results of calls above ${time(limit)}` : r.title;
        const name = `${r.name} ${thing.text}`;
        const about = `${name}: ${title}`.replace(/\*\//g, "* /").replace(/[\r\n]+/g, " ");
        return {
            title,
            name,
            script: `/* ${about} */\n#pragma D option quiet\n${r.terms ? "#pragma D option strsize=512\n" : ""}\n${r.clauses(thing, limit).join("\n")}`,
            view: r.view,
            agg: r.agg ?? "",
            terms: r.terms ?? false,
        };
    });
}

// -- what is named

const thing = (means: Means, text: string): Thing => ({ means, text });

/** What a text is if it says so itself: a frame, a function, a pid. */
function said(text: string): Thing | null {
    const frame = FRAME.exec(text);
    const mfa = frame ? frame[1]! : text;
    if (MFA.test(mfa)) return { ...thing("mfa", mfa), ...(frame ? { line: frame[2]! } : {}) };
    return PID.test(text) ? thing("pid", text) : null;
}

/** The things that a key names; a module and a function of it are one. */
export function thingsOf(means: AggregationInfo["means"] | null, parts: readonly Part[]): Thing[] {
    const found: Thing[] = [];
    parts.forEach((part, i) => {
        if (Array.isArray(part)) {
            const frame = part.length > 0 ? said(part[0]!.trim()) : null;
            if (frame) found.push(frame);
            return;
        }
        const text = String(part);
        const m = means?.[i] as Means | null | undefined;
        const known = m && m in RECIPES && wellFormed(m, text) ? thing(m, text) : said(text);
        if (known) found.push(known);
    });
    const module = found.find((t) => t.means === "module");
    return found
        .map((t) => (t.means === "function" && module ? thing("mfa", `${word(module.text)}:${t.text}`) : t))
        .filter((t, i, all) => all.findIndex((u) => u.means === t.means && u.text === t.text) === i);
}

/** "" is the key where there is no process or function, "<exiting>" no function. */
function wellFormed(means: Means, text: string): boolean {
    switch (means) {
        case "mfa":
            return MFA.test(text);
        case "function":
            return /.\/\d+$/.test(text);
        case "pid":
            return PID.test(text);
        default:
            return text !== "" && !/^[-<] ?[a-z]/.test(text);
    }
}

/** The things that a line of text names. */
export function thingsIn(line: string): Thing[] {
    const found = new Map<string, Thing>();
    for (const m of line.matchAll(/<\d+\.\d+\.\d+>|(?:'[^']+'|[A-Za-z_][\w.@]*):(?:'[^']+'|[a-z_][\w@]*[?!]?)\/\d+/g)) {
        const t = said(m[0]);
        if (t && found.size < 6) found.set(m[0], t);
    }
    return [...found.values()];
}
