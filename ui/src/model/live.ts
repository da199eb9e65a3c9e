// live.ts - the small maps of the first page: what each runs, and what it says in words about the last seconds.
import { percentile, total } from "./buckets.ts";
import { divided, guessUnit, value } from "./format.ts";
import { keyCounts } from "./heat.ts";
import { type Thing, thingsOf } from "./next.ts";
import { type Aggregation, ALL, type Column, keyText, OTHERS, type Trace } from "./trace.ts";
import type { ViewName } from "./url.ts";

/** How long what is said looks back, ms. */
const LATELY = 10_000;

export interface LiveMap {
    id: string;
    title: string;
    name: string; // of its script
    script: string;
    /** What it opens large with. */
    view: ViewName;
    agg: string;
    /** Percent of a scheduler at which the node ends it. */
    load: number;
    /** What the largest key is called in a sentence. */
    most: string;
}

const bounded = (load: number, clauses: string) =>
    `#pragma D option quiet\n#pragma D option maxload=${load}\n#pragma D option eventbudget=32k\n\n${clauses}`;

export const LIVE_MAPS: readonly LiveMap[] = [
    {
        id: "wait",
        title: "Do messages wait?",
        name: "message wait by receiver",
        view: "heatmap",
        agg: "@wait_ns",
        load: 5,
        most: "slowest",
        script: bounded(
            5,
            `erlang*:::message-send
{
    sent[copyinstr(arg1)] = timestamp;
}

erlang*:::process-scheduled
/sent[erlpid]/
{
    @wait_ns[erlname] = quantize(timestamp - sent[erlpid]);
    sent[erlpid] = 0;
}
`,
        ),
    },
    {
        id: "queue",
        title: "Do processes wait for a scheduler?",
        name: "run queues",
        view: "heatmap",
        agg: "@waiting",
        load: 2,
        most: "longest",
        script: bounded(
            2,
            `erlang*:::scheduler-run_queue
{
    @waiting[copyinstr(arg1), arg0] = lquantize(arg2, 0, 100, 1);
}
`,
        ),
    },
    {
        id: "busy",
        title: "Which processes are busy?",
        name: "busy processes",
        view: "flame",
        agg: "@samples",
        load: 10,
        most: "most",
        script: bounded(
            10,
            `profile-97
/erlpid != ""/
{
    @samples[erlname, ustack(60)] = count();
}
`,
        ),
    },
    {
        id: "collections",
        title: "Who is collected?",
        name: "collections by process",
        view: "heatmap",
        agg: "@took_ns",
        load: 5,
        most: "slowest",
        script: bounded(
            5,
            `erlang*:::gc_minor-start,
erlang*:::gc_major-start
{
    self->gc = timestamp;
}

erlang*:::gc_minor-end,
erlang*:::gc_major-end
/self->gc/
{
    @took_ns[erlname, probename == "gc_minor-end" ? "minor" : "major"] = quantize(timestamp - self->gc);
    self->gc = 0;
}
`,
        ),
    },
];

/** Percent of a scheduler that all of them may take together, at most. */
export const MOST_LOAD = LIVE_MAPS.reduce((sum, m) => sum + m.load, 0);

/** What is seen, in words, and the key that it is about. */
export interface Said {
    text: string;
    key: string | null;
    things: Thing[];
}

const lately = (t: Trace): Column[] => t.columns.filter((c) => c.t > t.t - LATELY);

/** The sums of a part of the keys over columns, the largest first. */
export function sums(agg: Aggregation, columns: readonly Column[], part: number): [string, number][] {
    const by = new Map<string, number>();
    for (const c of columns) {
        const cells = c.cells.get(agg.id);
        if (!cells) continue;
        for (let i = 0; i < cells.keys.length; i++) {
            const parts = agg.parts(cells.keys[i]!);
            const text = String(parts[cells.keys[i]! >= 0 ? part : 0] ?? "");
            by.set(text, (by.get(text) ?? 0) + cells.a[i]!);
        }
    }
    return [...by].sort((a, b) => b[1] - a[1]);
}

export function say(map: LiveMap, trace: Trace): Said {
    const agg = [...trace.aggregations.values()].find((a) => a.name === map.agg);
    const columns = lately(trace);
    const nothing = {
        text: trace.columns.length > 0 ? "nothing in the last 10 s" : "the first second …",
        key: null,
        things: [],
    };
    if (!agg) return nothing;
    if (!agg.hist) {
        const all = sums(agg, columns, 0);
        const sum = all.reduce((s, [, n]) => s + n, 0);
        const top = all[0];
        if (!top || sum === 0) return nothing;
        return {
            text: `${Math.round((100 * top[1]) / sum)} % of what ran, most:`,
            key: top[0],
            things: thingsOf(agg.means?.slice(0, 1), [top[0]]),
        };
    }
    const merged = new Map<number, number>();
    for (const c of columns) for (const [b, n] of c.merged.get(agg.id) ?? []) merged.set(b, (merged.get(b) ?? 0) + n);
    if (total(merged) === 0) return nothing;
    const unit = divided(guessUnit(agg.name, "", trace.info.script), agg.normal);
    const p99 = percentile(merged, agg.buckets!, 0.99);
    // the key that is most often in the highest percent
    let above = total(merged) / 100;
    let first = 0;
    for (const b of [...merged.keys()].sort((x, y) => y - x)) {
        first = b;
        above -= merged.get(b)!;
        if (above <= 0) break;
    }
    const top = keyCounts(agg, columns, first).keys.find((k) => k.key !== ALL && k.key !== OTHERS);
    const parts = top ? agg.parts(top.key) : [];
    return {
        text: `p99 ${unit ? value(p99, unit) : Math.round(p99)}${top ? `, ${map.most}:` : ""}`,
        key: top ? keyText(parts) : null,
        things: top ? thingsOf(agg.means, parts) : [],
    };
}
