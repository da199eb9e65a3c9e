// marks.ts - what is marked on the time axis: notes of the user, markers that the script prints, where a threshold was crossed, and where a
// gap begins since the trace had to be started again.
import { type Hist, percentile, total } from "./buckets.ts";
import { bool, integer, list, number, object, one, type Reader, text } from "./checked.ts";
import { type Unit, value } from "./format.ts";
import { gapText } from "./life.ts";
import type { Aggregation, Column, RecordRow, Trace } from "./trace.ts";

export interface Note {
    t: number; // ms since 1970
    text: string;
}

/** What a threshold looks at: a percentile of a column, or whether anything lies there at all. */
export const MEASURES = ["p50", "p90", "p99", "p99.9", "any"] as const;

export interface Threshold {
    agg: string; // by name
    measure: (typeof MEASURES)[number];
    above: number; // in the aggregation's own unit
    lasting: number; // ms
}

/** What the user has marked; the rest follows from the trace. */
export interface Marking {
    notes: Note[];
    thresholds: Threshold[];
    /** Whether each record is a mark; otherwise only those whose text begins with MARKER. */
    records: boolean;
}

export const NO_MARKS: Marking = { notes: [], thresholds: [], records: false };

const MARKER = "mark: ";
const [NOTES, THRESHOLDS, NOTE_LENGTH] = [1000, 20, 1000];
/** Most marks of one kind that are shown; the latest. */
const SHOWN = 200;

export const readMarking: Reader<Marking> = object({
    notes: list(object({ t: number, text: text(NOTE_LENGTH) }), NOTES),
    thresholds: list(
        object({ agg: text(256), measure: one(MEASURES), above: number, lasting: integer(0, 600_000) }),
        THRESHOLDS,
    ),
    records: bool,
});

export interface Mark {
    t: number;
    kind: "note" | "printed" | "crossed" | "gap";
    text: string;
    /** Of a note: its number among the notes. */
    note?: number;
    /** Of a crossing: when it was over; null: not yet. */
    until?: number | null;
}

/** Adds a note, in order of time; beyond a thousand the oldest is left out. */
export function addNote(m: Marking, t: number, said: string): Marking {
    const text = said.trim().slice(0, NOTE_LENGTH);
    if (!text) return m;
    const notes = [...m.notes, { t, text }].sort((x, y) => x.t - y.t);
    return { ...m, notes: notes.slice(-NOTES) };
}

export const addThreshold = (m: Marking, t: Threshold): Marking =>
    m.thresholds.length >= THRESHOLDS ? m : { ...m, thresholds: [...m.thresholds, t] };

/** The condition in words: "p99 > 10 ms for 3 s". */
export function conditionText(t: Threshold, unit: Unit): string {
    const what = t.measure === "any" ? "any value" : t.measure;
    return `${what} > ${value(t.above, unit)}${t.lasting > 0 ? ` for ${t.lasting / 1000} s` : ""}`;
}

/** What a column has for a threshold: the percentile, or what the largest value is at least; NaN if it is empty. */
export function measured(h: Hist, agg: Aggregation, measure: Threshold["measure"]): number {
    if (measure !== "any") return percentile(h, agg.buckets!, Number(measure.slice(1)) / 100);
    let most = -Infinity;
    if (total(h) > 0)
        for (const [b, n] of h)
            if (n > 0) {
                const s = agg.buckets!.bounds(b);
                if (s) most = Math.max(most, s.from === -Infinity ? s.to : s.from);
            }
    return most === -Infinity ? NaN : most;
}

export interface Crossing {
    t: number; // when the condition had lasted as long as it should
    until: number | null;
    value: number; // the largest until then
    latest: number; // the last one, while it goes on
}

// What columns have, so that each is worked out once; not of the last two, to which a late reading may still be added.
const known = new WeakMap<Column, Map<string, number>>();
function measuredOnce(c: Column, late: boolean, agg: Aggregation, measure: Threshold["measure"]): number {
    const key = `${agg.id} ${measure}`;
    const old = late ? undefined : known.get(c)?.get(key);
    if (old !== undefined) return old;
    const h = c.merged.get(agg.id);
    const v = h ? measured(h, agg, measure) : NaN;
    if (!late) known.set(c, (known.get(c) ?? new Map<string, number>()).set(key, v));
    return v;
}

/** When a threshold was crossed. A column without values, or a gap, ends nothing and begins nothing. */
export function crossings(t: Threshold, agg: Aggregation, columns: readonly Column[]): Crossing[] {
    const out: Crossing[] = [];
    let since: number | null = null; // the beginning of the first column above
    let most = -Infinity;
    let now: Crossing | null = null;
    for (const [i, c] of columns.entries()) {
        const v = measuredOnce(c, i >= columns.length - 2, agg, t.measure);
        if (Number.isNaN(v)) continue;
        if (v <= t.above) {
            if (now) now.until = c.t - c.dt;
            since = now = null;
            most = -Infinity;
            continue;
        }
        since ??= c.t - c.dt;
        most = Math.max(most, v);
        if (!now && c.t - since >= t.lasting) out.push((now = { t: c.t, until: null, value: most, latest: v }));
        else if (now) {
            now.value = Math.max(now.value, v);
            now.latest = v;
        }
    }
    return out;
}

const printed = (r: RecordRow): boolean => r.text.startsWith(MARKER);

/** All marks of a trace, in order of time. unit: of an aggregation. */
export function marksOf(trace: Trace, m: Marking, unit: (a: Aggregation) => Unit): Mark[] {
    const out: Mark[] = m.notes.map((n, note) => ({ t: n.t, kind: "note", text: n.text, note }));
    let left = SHOWN;
    for (let i = trace.records.length - 1; i >= 0 && left > 0; i--) {
        const r = trace.records[i]!;
        if (!m.records && !printed(r)) continue;
        const text = (printed(r) ? r.text.slice(MARKER.length) : r.text).trim();
        if (!text) continue;
        left--;
        out.push({ t: trace.info.t + r.at, kind: "printed", text });
    }
    for (const { from, to, what, node } of trace.gaps.slice(-SHOWN))
        out.push({ t: from, kind: "gap", text: `${node ? `${node}: ` : ""}${gapText(what, to - from)}` });
    const crossed: Mark[] = [];
    for (const { threshold, agg } of watched(trace, m))
        for (const c of crossings(threshold, agg, trace.columns))
            crossed.push({
                t: c.t,
                kind: "crossed",
                text: `${conditionText(threshold, unit(agg))}: ${value(c.value, unit(agg))}`,
                until: c.until,
            });
    out.push(...crossed.sort((x, y) => x.t - y.t).slice(-SHOWN));
    return out.sort((x, y) => x.t - y.t);
}

/** The thresholds whose aggregations the trace has. */
export function watched(trace: Trace, m: Marking): { threshold: Threshold; agg: Aggregation }[] {
    return m.thresholds.flatMap((threshold) => {
        const agg = [...trace.aggregations.values()].find((a) => a.name === threshold.agg && a.hist);
        return agg ? [{ threshold, agg }] : [];
    });
}

/** What is crossed at the end of the trace: "p99 12 ms". */
export function alarms(trace: Trace, m: Marking, unit: (a: Aggregation) => Unit): { key: string; text: string }[] {
    return watched(trace, m).flatMap(({ threshold, agg }) => {
        const last = crossings(threshold, agg, trace.columns).at(-1);
        if (!last || last.until !== null) return [];
        const what = threshold.measure === "any" ? agg.name : threshold.measure;
        return [
            {
                key: `${conditionText(threshold, unit(agg))} ${agg.name} ${last.t}`,
                text: `${what} ${value(last.latest, unit(agg))}`,
            },
        ];
    });
}
