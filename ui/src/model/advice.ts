// advice.ts - what the server reports, in the page's terms: what it means, and what to do. One table for each kind of report; a test goes
// over the lists of the product, so that none is without advice.
import { raised } from "./options.ts";

/** What a button does. */
export type Remedy =
    | { do: "raise"; option: string } // runs again with more of it
    | { do: "edit" } // goes to the script
    | { do: "again" } // runs again
    | { do: "nodes" } // looks for nodes again
    | { do: "wait" }; // nothing can be done on the page

export interface Advice {
    what: string;
    advice: string;
    remedy: Remedy;
}

const edit: Remedy = { do: "edit" };
const again: Remedy = { do: "again" };
const wait: Remedy = { do: "wait" };
const nodes: Remedy = { do: "nodes" };
const raise = (option: string): Remedy => ({ do: "raise", option });

/** By kind of drop (guest/words/drops.list). `noun`: what was lost, one of it. */
export const DROPS: Record<string, Advice & { noun: string }> = {
    PRINCIPAL: {
        noun: "record",
        what: "lost: printed faster than read",
        advice: "More room, or printing less: aggregate instead",
        remedy: raise("bufsize"),
    },
    AGGREGATION: {
        noun: "value",
        what: "not counted: the aggregation's memory is full of keys",
        advice: "More memory, or fewer different keys",
        remedy: raise("aggsize"),
    },
    DYNAMIC: {
        noun: "assignment",
        what: "lost: the memory of self-> variables and arrays is full",
        advice: "More memory, or set variables to 0 when they are no longer needed",
        remedy: raise("dynvarsize"),
    },
    DBLERROR: {
        noun: "error",
        what: "in the script's own ERROR clause",
        advice: "Mend that clause",
        remedy: edit,
    },
    THREAD: {
        noun: "event",
        what: "not seen, on threads of the node that have no buffer",
        advice: "Nothing on this page changes that; the other events are exact",
        remedy: wait,
    },
    SPEC: {
        noun: "speculated record",
        what: "lost: the speculation's buffer is full",
        advice: "More room for each speculation",
        remedy: raise("specsize"),
    },
    SPECBUSY: {
        noun: "speculation",
        what: "not begun: the buffers were still being read",
        advice: "More speculations at the same time",
        remedy: raise("nspec"),
    },
    SPECUNAVAIL: {
        noun: "speculation",
        what: "not begun: all were in use",
        advice: "More speculations at the same time",
        remedy: raise("nspec"),
    },
    LOAD: {
        noun: "call",
        what: "not seen, while the node loaded code",
        advice: "Run again when the node loads no code",
        remedy: again,
    },
    KEPT: {
        noun: "call",
        what: "without arguments or time: begun before the trace, or while too many were open",
        advice: "Calls that begin from now on have both; run again, or narrow what is traced",
        remedy: edit,
    },
    SHAPE: {
        noun: "event",
        what: "not understood: reported in a form that this erltrace does not know",
        advice: "Use an erltrace that knows the node's OTP release; the other events are exact",
        remedy: wait,
    },
    UNCOUNTED: {
        noun: "size",
        what: "left out of an aggregation: not known",
        advice: "Sums and averages are those of the other sizes; count() counts all",
        remedy: wait,
    },
    LOWER: {
        noun: "size",
        what: "too large to count: at least that",
        advice: "Sums and the like of these sizes are lower bounds: of each, only the first 2000 parts were counted",
        remedy: wait,
    },
    COUNTER: {
        noun: "counter",
        what: "of calls gone, with what it had counted since it was read",
        advice: "The functions were loaded again, and are reported call by call from there on; lower=no reports all calls from the start",
        remedy: wait,
    },
    ENDED: {
        noun: "trace",
        what: "ended in the node before the last events were fetched",
        advice: "What was fetched until then is shown; the message says how much time is missing",
        remedy: nodes,
    },
};

/** By name of a fault (guest/words/faults.list). */
export const FAULTS: Record<string, Advice> = {
    UNKNOWN: { what: "A clause failed", advice: "The text says at which probe", remedy: edit },
    BADADDR: {
        what: "A clause has read memory that is not there",
        advice: "A pointer is 0, or no longer valid: test it before it is used",
        remedy: edit,
    },
    BADALIGN: {
        what: "A clause has read memory at an odd address",
        advice: "Copy it to a string or struct first",
        remedy: edit,
    },
    ILLOP: { what: "A clause did what is not possible here", advice: "The text says which action", remedy: edit },
    DIVZERO: { what: "A clause has divided by 0", advice: "Test the divisor in the predicate", remedy: edit },
    NOSCRATCH: { what: "A clause needs more scratch memory", advice: "More of it", remedy: raise("scratchsize") },
    KPRIV: { what: "A clause has read memory of the kernel", advice: "Nodes do not have it", remedy: edit },
    UPRIV: {
        what: "A clause has read memory that the node does not give",
        advice: "Leave that pointer out",
        remedy: edit,
    },
    TUPOFLOW: { what: "A clause has too many keys at once", advice: "Fewer keys in one [ ]", remedy: edit },
    BADSTACK: { what: "A stack could not be read", advice: "Other stacks are complete", remedy: wait },
    BADSIZE: {
        what: "A clause has asked for an impossible size",
        advice: "Test the size in the predicate",
        remedy: edit,
    },
    BADINDEX: {
        what: "A clause has looked beyond the end of an array",
        advice: "Test the index in the predicate",
        remedy: edit,
    },
    EVENTBUDGET: {
        what: "An event took more work than one may",
        advice: "Allow more, or look into smaller terms",
        remedy: raise("eventbudget"),
    },
    BADRECORD: {
        what: "A term is not the record that the script takes it for",
        advice: "Test what it is in the predicate, with is_record()",
        remedy: edit,
    },
    OLDRECORD: {
        what: "The module that has told a record was loaded again with other code",
        advice: "Start the trace again, or define the record in the script",
        remedy: again,
    },
    LIBRARY: { what: "A clause failed in a library", advice: "The text says where", remedy: edit },
};

/** By reason of `stopped`. */
export const ENDED: Record<string, Advice & { level: "calm" | "bad" }> = {
    exit: { level: "calm", what: "The script has ended the trace", advice: "", remedy: again },
    user: { level: "calm", what: "A viewer has ended the trace for all viewers", advice: "", remedy: again },
    left: { level: "calm", what: "Stopped", advice: "", remedy: again },
    overload: {
        level: "bad",
        what: "Stopped: the probes took too much of a scheduler",
        advice: "Narrow what is traced: a module or function, or a predicate; or allow more load",
        remedy: raise("maxload"),
    },
    lost: { level: "bad", what: "The trace was lost", advice: "What was counted until then is shown", remedy: again },
    limit: {
        level: "bad",
        what: "Stopped at a limit of the server",
        advice: "Stop other traces, or print and keep less",
        remedy: edit,
    },
    error: { level: "bad", what: "The trace has ended with an error", advice: "", remedy: again },
    server: {
        level: "bad",
        what: "The server has ended, and the trace with it",
        advice: "Run again when it is there",
        remedy: again,
    },
};

/** By tag of what does not start, or ends a trace; the longest beginning that fits counts. */
export const TAGS: Record<string, Advice> = {
    NODE_: { what: "The node cannot be reached", advice: "Is it running? Look for nodes again", remedy: nodes },
    NODE_COOKIE: {
        what: "The node does not accept the server's cookie",
        advice: "Start the server with the node's cookie",
        remedy: wait,
    },
    NODE_LOST: {
        what: "The node is gone",
        advice: "What was counted until then is shown; look for it again",
        remedy: nodes,
    },
    NODE_LEASE: {
        what: "The node has ended the trace: it did not hear from the server in time",
        advice: "Run again; if it recurs, the host is too busy",
        remedy: again,
    },
    NODE_TLS: {
        what: "The node speaks TLS otherwise than the server",
        advice: "Give the server the node's certificates",
        remedy: wait,
    },
    NODE_PERM: { what: "The server may not reach that node", advice: "Start it as the node's user", remedy: wait },
    OTP_: { what: "The node's OTP release cannot be traced", advice: "Nodes of OTP 25 and later can", remedy: nodes },
    AGENT_: { what: "The node does not let the tracer work", advice: "Run again; the text says why", remedy: again },
    AGENT_BUSY: {
        what: "Another tracer is in the way",
        advice: "Stop the other trace, or run again in a moment",
        remedy: again,
    },
    AGENT_MEMORY: {
        what: "The node has too little memory for the trace",
        advice: "Ask for smaller buffers",
        remedy: edit,
    },
    AGENT_TERMS: { what: "The script may not look into terms", advice: "Leave those names out", remedy: edit },
    TRACE_: { what: "The trace has ended", advice: "Run again", remedy: again },
    TRACE_OVERLOAD: {
        what: "The probes took too much of a scheduler",
        advice: "Narrow what is traced, or allow more load",
        remedy: raise("maxload"),
    },
    DATA_: { what: "The node has sent what is not understood", advice: "Run again", remedy: again },
    DIF_: { what: "The node has refused the script", advice: "Make it smaller", remedy: edit },
    D_: { what: "The script has an error", advice: "It is marked in the script", remedy: edit },
    D_PDESC_ZERO: {
        what: "A description matches nothing on this node",
        advice: "Mend it, or choose another node",
        remedy: edit,
    },
    D_TERMS_OFF: { what: "The script may not look into terms", advice: "Leave those names out", remedy: edit },
    D_SAMPLE_LATE: {
        what: "A sample cannot read that variable",
        advice: "Take ustack(), or vtimestamp at entry and return",
        remedy: edit,
    },
    FOLLOW_: { what: "follow() does not work at that probe", advice: "Use it at the entry of functions", remedy: edit },
    MATCH_: { what: "The script matches too much", advice: "Name modules or functions", remedy: edit },
    OPTION: { what: "An option is not valid", advice: "Mend the field, or the script's pragma", remedy: edit },
    ACTION_: { what: "The server does not allow that action", advice: "Leave it out", remedy: edit },
    WEB_: { what: "The server cannot do that", advice: "The text says why", remedy: edit },
    WEB_NODE: { what: "The server does not trace that node", advice: "Choose another", remedy: nodes },
    WEB_LIMIT: { what: "The server is at a limit", advice: "Stop other traces, then run again", remedy: again },
    WEB_BUSY: { what: "The server is busy", advice: "Run again in a moment", remedy: again },
};

export function ofTag(tag: string): Advice | null {
    const fits = Object.keys(TAGS)
        .filter((t) => tag.startsWith(t))
        .sort((x, y) => y.length - x.length);
    return fits.length > 0 ? TAGS[fits[0]!]! : null;
}

/** The text of a remedy's button; null: it has none, for nothing can be done, or not more. */
export function button(r: Remedy, script: string, options: Record<string, string>): string | null {
    switch (r.do) {
        case "raise": {
            const more = raised(r.option, 4, script, options);
            return more ? `run again with ${r.option} ${more.value}` : null;
        }
        case "edit":
            return "edit the script";
        case "again":
            return "run again";
        case "nodes":
            return "look for nodes";
        case "wait":
            return null;
    }
}
