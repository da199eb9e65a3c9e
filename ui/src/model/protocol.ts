// protocol.ts - the messages of doc/web-protocol.md as types. Integers beyond 2^53 come as text; num() makes them numbers.

export type Int = number | string;
/** One part of a key: a number, text, or the frames of a stack, innermost first. */
export type Part = Int | string[];

/** As exact as a double can be, which is enough for drawing. */
export const num = (v: Int): number => (typeof v === "number" ? v : Number(v));

export interface Diagnostic {
    severity: "error" | "warning" | "note";
    tag: string;
    text: string;
    hint: string | null;
    file: string | null;
    line: number; // from 1; 0: no position
    column: number; // bytes of UTF-8, from 1
    length: number; // bytes
    source: string | null;
    rendered: string;
}

export interface Limits {
    script: number;
    message: number;
    keys: number;
    rows: number;
    keep: number; // ms that a trace waits for a lost page
}

export interface AggregationInfo {
    id: number;
    name: string;
    function: string;
    keys: string[]; // types of the parts
    means?: (string | null)[]; // what each part names
    texts?: (string | null)[]; // each part as the script writes it
    normal: Int;
    buckets: { from: (Int | null)[]; to: (Int | null)[]; parameters: Int[] } | null;
}

export interface Started {
    type: "started";
    id: number;
    trace: number;
    shared: boolean;
    node: string;
    name: string;
    script: string;
    args: string[];
    options: Record<string, unknown>;
    view: unknown;
    t: number;
    interval: number;
    prints: boolean;
    destructive: boolean;
    enabled: { probes: number; text: string | null; nodes?: unknown[] };
    aggregations: AggregationInfo[];
}

export type Row = Int[];
export interface Change {
    id: number;
    keys?: [number, ...Part[]][];
    add?: Row[];
    now?: Row[];
    normal?: Int;
    gone?: number[];
    at_least?: number[]; // keys whose values have become lower bounds; after `now`: all of them
}
export interface Results {
    type: "results";
    n: number;
    t: number;
    dt: number;
    aggregations: Change[];
}
export interface State {
    type: "state";
    n: number;
    t: number;
    skipped: number;
    aggregations: Change[];
}
export interface History {
    type: "history";
    columns: Omit<Results, "type">[];
}
export interface Records {
    type: "records";
    probes?: [number, string, string][];
    rows: [number, number, number, string, unknown[]][];
    skipped: number;
    news?: number;
}
/** What a page that has come back had missed of records, errors and drops; lost: how many such messages are no longer there. */
export interface Missed {
    type: "missed";
    lost: number;
    messages: Message[];
}
export interface Cost {
    type: "cost";
    node: string;
    dt: number;
    fired: Int;
    share: number; // permille of a scheduler
    ns: Int;
    drops: Int;
    threads: [string, Int, Int, number][];
    kinds: [string, Int, Int, number][];
    probes: [string, Int, Int, number][];
}
export interface Drop {
    kind: string;
    count: Int;
    total: Int;
    node: string;
    cpu: number | null;
    text: string;
}
export interface Fault {
    text: string;
    name: string;
    epid: number;
    count: Int;
}
/** The progress of placing probes, before `started`. */
export interface Progress {
    type: "progress";
    id: number;
    node: string;
    waiting: boolean; // another trace has to be removed, or placed, first
    unit: "functions" | "processes";
    done: Int;
    total: Int; // 0: only just begun
}
export interface Stopped {
    type: "stopped";
    id?: number; // of the start that was left, if the trace goes on or has not begun
    trace?: number;
    reason: "exit" | "user" | "overload" | "lost" | "limit" | "error" | "server" | "left";
    status?: number;
    text?: string;
    hint?: string | null;
    ms?: number;
    fired?: Int;
    drops?: Int;
    errors?: Int;
    output?: string;
}

/** What the descriptions of a script that is being written match; without `matches`: why that is not known. */
export interface Matched {
    type: "matched";
    id: number;
    node: string;
    matches?: {
        line: number;
        column: number;
        length: number;
        name: string | null; // of the first probe
        probes: number;
        functions: number;
        modules: number;
    }[];
    functions?: number; // that the node has
    modules?: number;
    error?: string;
    diagnostics: Diagnostic[];
}

export type Message =
    | {
          type: "hello";
          version: string;
          protocol: number;
          destructive: boolean;
          kernel?: boolean;
          server: string;
          limits: Limits;
      }
    | { type: "diagnostics"; id?: number; diagnostics: Diagnostic[] }
    | { type: "checked"; id: number; diagnostics: Diagnostic[] }
    | Matched
    | { type: "failed"; id: number; tag: string; text: string; hint: string | null }
    | Progress
    | Started
    | Results
    | State
    | History
    | Records
    | Cost
    | Missed
    | { type: "drops"; drops: Drop[]; news?: number }
    | { type: "errors"; errors: Fault[]; skipped: number; news?: number }
    | { type: "viewers"; viewers: number; recorded?: boolean }
    | { type: "pong"; t: number }
    | Stopped;

/** A warning that stands nowhere in a script. */
export const warning = (text: string, { tag = "", hint = null as string | null } = {}): Diagnostic => ({
    severity: "warning",
    tag,
    text,
    hint,
    file: null,
    line: 0,
    column: 0,
    length: 0,
    source: null,
    rendered: text,
});

export interface NodeInfo {
    node: string;
    pid: number;
    otp: string | null;
    attachable: boolean;
    why: string | null;
    help: string | null;
}

/** What `erltrace doctor` finds out about a node; subject "terms" says whether scripts may look into terms. */
export interface Finding {
    subject: string;
    level: "ok" | "note" | "limit";
    text: string;
    help: string | null;
}

export interface Script {
    name: string;
    title: string;
    text: string;
    args: { name: string; default: string | null }[];
    view: string | null;
    place: string | null;
    kernel?: boolean; // it is for the kernel, or for a node and the kernel
    script: string;
}

export interface RunningTrace {
    trace: number;
    node: string;
    name: string;
    script: string;
    args: string[];
    options?: Record<string, unknown>;
    viewers: number;
    since: number;
    /** It goes on without a page. */
    recorded?: boolean;
    /** Its last cost, permille of a scheduler. */
    share?: number;
}
