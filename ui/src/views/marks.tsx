// marks.tsx - marks on the axis of time, the lines of thresholds, and the dialogs that add and list them.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { app, store, useApp } from "../app.ts";
import { clock, counted, value } from "../model/format.ts";
import {
    addNote,
    addThreshold,
    alarms,
    conditionText,
    type Mark,
    type Marking,
    MEASURES,
    marksOf,
    type Threshold,
} from "../model/marks.ts";
import type { Trace } from "../model/trace.ts";
import { css, font } from "./canvas.tsx";
import type { Picture } from "./heat/state.ts";
import "../style/marks.css";

const NOTIFY = "erltrace.notify"; // "yes": the user wants to be notified

const NAMES: Record<Mark["kind"], string> = { note: "note", printed: "printed", crossed: "threshold", gap: "gap" };
const SIGNS: Record<Mark["kind"], string> = { note: "⚑", printed: "◆", crossed: "▲", gap: "‖" };

const set = (marking: Marking): void => {
    if (!app.trace) return;
    app.trace.marking = marking;
    app.trace.version++;
    app.changed();
};

// -- thresholds that are crossed, in the title and as notifications

const told = new Set<string>();

let looked: [Trace | null, number, string] = [null, -1, ""];

/** Looks whether a threshold is crossed. */
app.watch = () => {
    const t = app.trace;
    const now: typeof looked = [t, t?.version ?? -1, app.phase];
    if (now.every((x, i) => x === looked[i])) return;
    looked = now;
    const found = t && app.phase === "running" ? alarms(t, t.marking, (a) => app.unitOf(a)) : [];
    app.alarm = found.length > 0 ? `▲ ${found.map((f) => f.text).join(", ")}` : "";
    for (const { key, text } of found) {
        if (told.has(key)) continue;
        told.add(key);
        if (store.get(NOTIFY) === "yes" && typeof Notification !== "undefined" && Notification.permission === "granted")
            new Notification(`▲ ${text}`, { body: `${t!.info.name} on ${t!.info.node}`, tag: "erltrace" });
    }
};

// -- on the map

/** Where a time is on a map; null: not in view. */
function xAt({ range, plot }: Picture, t: number): number | null {
    return t > range.from && t <= range.to ? plot.x + ((t - range.from) / (range.to - range.from)) * plot.w : null;
}

const tAt = ({ range, plot }: Picture, x: number): number | null =>
    x < plot.x || x > plot.x + plot.w ? null : range.from + ((x - plot.x) / plot.w) * (range.to - range.from);

/** The thresholds of an aggregation, with their places on its map. */
const linesOn = ({ agg, lay, plot, unit }: Picture, marking: Marking) =>
    marking.thresholds
        .filter((t) => t.agg === agg.name)
        .map((t) => ({ y: plot.y + Math.min(plot.h, Math.max(0, lay.y(t.above))), text: conditionText(t, unit) }));

/** Marks, and where they are in a view. */
type Places = readonly { mark: Mark; x: number }[];

const placesOn = (marks: readonly Mark[], p: Picture): Places =>
    marks.flatMap((mark) => {
        const x = xAt(p, mark.t);
        return x === null ? [] : [{ mark, x }];
    });

interface FlagsProps {
    trace: Trace;
    places: Places;
    top: number;
    height: number;
    /** The time at a place of the axis. */
    at: (x: number) => number | null;
}
/** Flags below a view, each with a line through it; a click beside them adds a note. */
export function Flags({ trace, places, top, height, at }: FlagsProps) {
    const strip = useRef<HTMLDivElement>(null);
    return (
        <div class="flags" style={{ "--top": `${top}px`, "--high": `${height}px` }} data-testid="flags">
            <div
                class="flag-axis"
                ref={strip}
                title="click: a note at this time (n)"
                onClick={(e) => {
                    const t = at(e.clientX - strip.current!.getBoundingClientRect().left);
                    if (t !== null) askNote(t);
                }}
            />
            {places.map(({ mark, x }, i) => (
                <button
                    type="button"
                    key={`${mark.kind}${mark.t}${i}`}
                    class={`flag ${mark.kind}`}
                    style={{ left: `${x}px` }}
                    title={`${clock(mark.t / 1000)} ${mark.text}`}
                    aria-label={`${NAMES[mark.kind]} at ${clock(mark.t / 1000)}: ${mark.text}`}
                    onClick={() => showMarks(trace)}
                >
                    {SIGNS[mark.kind]}
                </button>
            ))}
        </div>
    );
}

export const useMarks = (trace: Trace): Mark[] =>
    useMemo(() => marksOf(trace, trace.marking, (a) => app.unitOf(a)), [trace, trace.version, trace.recordCount]);

export function HeatFlags({ trace, picture }: { trace: Trace; picture: Picture }) {
    const marks = useMarks(trace);
    const { plot } = picture;
    const places = placesOn(marks, picture);
    return (
        <>
            {linesOn(picture, trace.marking).map((l, i) => (
                <div
                    key={i}
                    class="threshold"
                    role="img"
                    aria-label={`threshold ${l.text}`}
                    style={{ left: `${plot.x}px`, width: `${plot.w}px`, top: `${l.y}px` }}
                >
                    <span>{l.text}</span>
                </div>
            ))}
            <Flags trace={trace} places={places} top={plot.y} height={plot.h} at={(x) => tAt(picture, x)} />
        </>
    );
}

/** The same in a picture. */
export function drawMarking(cx: CanvasRenderingContext2D, trace: Trace, p: Picture): void {
    const { plot } = p;
    cx.font = font(10.5);
    cx.textBaseline = "middle";
    cx.strokeStyle = cx.fillStyle = css("--bad");
    cx.lineWidth = 1;
    cx.setLineDash([5, 4]);
    cx.textAlign = "right";
    for (const { y, text } of linesOn(p, trace.marking)) {
        cx.beginPath();
        cx.moveTo(plot.x, y);
        cx.lineTo(plot.x + plot.w, y);
        cx.stroke();
        cx.fillText(text, plot.x + plot.w - 4, y - 7);
    }
    cx.setLineDash([]);
    drawFlags(
        cx,
        placesOn(
            marksOf(trace, trace.marking, (a) => app.unitOf(a)),
            p,
        ),
        plot,
    );
}

/** The flags of a view in a picture. */
export function drawFlags(cx: CanvasRenderingContext2D, places: Places, plot: Picture["plot"]): void {
    cx.font = font(10.5);
    cx.textBaseline = "middle";
    cx.textAlign = "left";
    cx.lineWidth = 1;
    cx.setLineDash([5, 4]);
    for (const { mark, x } of places) {
        cx.strokeStyle = cx.fillStyle = css(mark.kind === "crossed" || mark.kind === "gap" ? "--bad" : "--pick");
        cx.beginPath();
        cx.moveTo(x, plot.y);
        cx.lineTo(x, plot.y + plot.h);
        cx.stroke();
        cx.fillText(`${SIGNS[mark.kind]} ${mark.text.slice(0, 40)}`, x + 4, plot.y + plot.h - 8);
    }
    cx.setLineDash([]);
}

// -- dialogs

type Open = { what: "note"; t: number } | { what: "marks" } | null;
let open: Open = null;
const show = (o: Open): void => {
    open = o;
    app.changed();
};
export const askNote = (t: number): void => show({ what: "note", t });
export const showMarks = (trace: Trace): void => (trace === app.trace ? show({ what: "marks" }) : undefined);

/** The time that a note is about, if none is pointed at: what is chosen, or the end of what is in view. */
function now(trace: Trace): number {
    const { chosen, range } = app.look;
    return chosen ? chosen.to : range ? range.to : trace.t;
}

/** Key `n`, and the dialogs. */
export function MarkDialogs() {
    const a = useApp();
    useEffect(() => {
        const key = (e: KeyboardEvent) => {
            const at = e.composedPath()[0] as HTMLElement;
            if (e.key !== "n" || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || !app.trace) return;
            if (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || at.closest("dialog")) return;
            e.preventDefault();
            askNote(now(app.trace));
        };
        addEventListener("keydown", key);
        return () => removeEventListener("keydown", key);
    }, []);
    const t = a.trace;
    if (!t || !open) return null;
    return open.what === "note" ? <NoteDialog key={open.t} trace={t} t={open.t} /> : <MarksDialog trace={t} />;
}

function useDialog() {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => dialog.current!.showModal(), []);
    return dialog;
}

function NoteDialog({ trace, t }: { trace: Trace; t: number }) {
    const dialog = useDialog();
    const [text, setText] = useState("");
    return (
        <dialog class="note" ref={dialog} onClose={() => show(null)} aria-label="note">
            <form method="dialog" onSubmit={() => set(addNote(trace.marking, t, text))}>
                <label>
                    note at {clock(t / 1000)}
                    <input value={text} maxLength={1000} onInput={(e) => setText(e.currentTarget.value)} />
                </label>
                <button type="submit">add</button>
                <button type="button" onClick={() => dialog.current!.close()}>
                    cancel
                </button>
            </form>
        </dialog>
    );
}

function MarksDialog({ trace }: { trace: Trace }) {
    const dialog = useDialog();
    const marks = useMarks(trace);
    const m = trace.marking;
    const unit = (name: string) => {
        const agg = [...trace.aggregations.values()].find((x) => x.name === name);
        return agg ? app.unitOf(agg) : "";
    };
    const go = (t: number) => {
        const half = app.look.width / 2;
        dialog.current!.close();
        app.look.set({ range: { from: t - half, to: t + half } });
    };
    return (
        <dialog class="marks" ref={dialog} onClose={() => show(null)} aria-label="marks">
            <section>
                <h2>Thresholds</h2>
                <ul>
                    {m.thresholds.map((t, i) => (
                        <li key={i}>
                            <span>
                                {t.agg} {conditionText(t, unit(t.agg))}
                            </span>
                            <button
                                type="button"
                                aria-label={`remove threshold ${conditionText(t, unit(t.agg))}`}
                                onClick={() => set({ ...m, thresholds: m.thresholds.filter((_, k) => k !== i) })}
                            >
                                remove
                            </button>
                        </li>
                    ))}
                </ul>
                <ThresholdForm trace={trace} />
                <Notify />
            </section>
            <section>
                <h2>Marks</h2>
                <label class="check">
                    <input
                        type="checkbox"
                        checked={m.records}
                        onChange={(e) => set({ ...m, records: e.currentTarget.checked })}
                    />
                    every record is a mark, not only those that begin with <code>mark: </code>
                </label>
                {marks.length === 0 && <p class="muted">none yet: press n, or click below the map</p>}
                <ul data-testid="marks">
                    {marks.map((x, i) => (
                        <li key={i}>
                            <button type="button" class="mark-go" onClick={() => go(x.t)} title="show this time">
                                {SIGNS[x.kind]} {clock(x.t / 1000)} {x.text}
                            </button>
                            {x.note !== undefined && (
                                <button
                                    type="button"
                                    aria-label={`remove note ${x.text}`}
                                    onClick={() => set({ ...m, notes: m.notes.filter((_, k) => k !== x.note) })}
                                >
                                    remove
                                </button>
                            )}
                        </li>
                    ))}
                </ul>
            </section>
            <footer>
                <button type="button" onClick={() => askNote(now(trace))}>
                    add a note (n)
                </button>
                <button type="button" onClick={() => dialog.current!.close()}>
                    close
                </button>
            </footer>
        </dialog>
    );
}

function ThresholdForm({ trace }: { trace: Trace }) {
    const all = [...trace.aggregations.values()].filter((a) => a.hist);
    const [agg, setAgg] = useState(app.shownAgg("heatmap")?.name ?? all[0]?.name ?? "");
    const [measure, setMeasure] = useState<Threshold["measure"]>("p99");
    const [above, setAbove] = useState("");
    const [seconds, setSeconds] = useState("3");
    const of = all.find((a) => a.name === agg);
    if (!of) return <p class="muted">this trace has no distribution that could have one</p>;
    const unit = app.unitOf(of);
    const given = Number(above);
    return (
        <form
            onSubmit={(e) => {
                e.preventDefault();
                if (above.trim() === "" || !Number.isFinite(given)) return;
                const lasting = Math.round(Math.min(600, Math.max(0, Number(seconds) || 0)) * 1000);
                set(addThreshold(trace.marking, { agg, measure, above: given, lasting }));
                setAbove("");
            }}
        >
            {all.length > 1 && (
                <select aria-label="aggregation" value={agg} onChange={(e) => setAgg(e.currentTarget.value)}>
                    {all.map((a) => (
                        <option key={a.name}>{a.name}</option>
                    ))}
                </select>
            )}
            <select
                aria-label="what is measured"
                value={measure}
                onChange={(e) => setMeasure(e.currentTarget.value as Threshold["measure"])}
            >
                {MEASURES.map((m) => (
                    <option key={m} value={m}>
                        {m === "any" ? "any value" : m}
                    </option>
                ))}
            </select>
            <span>&gt;</span>
            <input
                type="number"
                step="any"
                aria-label={`limit${unit ? `, ${unit}` : ""}`}
                value={above}
                onInput={(e) => setAbove(e.currentTarget.value)}
            />
            <span class="muted">
                {unit} {above.trim() !== "" && unit ? `= ${value(given, unit)}` : ""}
            </span>
            <label>
                for{" "}
                <input
                    type="number"
                    min="0"
                    max="600"
                    value={seconds}
                    aria-label="seconds that it lasts"
                    onInput={(e) => setSeconds(e.currentTarget.value)}
                />{" "}
                s
            </label>
            <button type="submit">add</button>
        </form>
    );
}

function Notify() {
    const [on, setOn] = useState(store.get(NOTIFY) === "yes");
    const [refused, setRefused] = useState(false);
    if (typeof Notification === "undefined") return null;
    return (
        <label class="check">
            <input
                type="checkbox"
                checked={on}
                onChange={async (e) => {
                    const wanted = e.currentTarget.checked;
                    const ok = !wanted || (await Notification.requestPermission()) === "granted";
                    setRefused(!ok);
                    setOn(wanted && ok);
                    store.set(NOTIFY, wanted && ok ? "yes" : "no");
                }}
            />
            notify me when a threshold is crossed
            {refused && <span class="bad"> (the browser does not allow it)</span>}
        </label>
    );
}

/** Lets the trace go on when no page views it. */
export function RecordToggle({ trace }: { trace: Trace }) {
    if (app.phase !== "running" || trace.origin) return null;
    const { recorded } = trace;
    const nodes = app.group?.recorded;
    const part = recorded && nodes && nodes.on < nodes.of ? ` ${nodes.on} of ${counted(nodes.of, "node")}` : "";
    return (
        <button
            type="button"
            class={`toggle record ${recorded ? "on" : ""}`}
            aria-pressed={recorded}
            title={
                recorded
                    ? "it goes on without a page, at its cost for the node; click: it ends with its last page again"
                    : "go on when this page is closed, and keep the last ten minutes with their keys for who comes later"
            }
            onClick={() => app.record(!recorded)}
        >
            ● {recorded ? `recording${part}` : "record"}
        </button>
    );
}

/** Opens the list of marks, and says how many there are. */
export function MarksButton({ trace }: { trace: Trace }) {
    const n = useMarks(trace).length;
    return (
        <button
            type="button"
            class="marks-button"
            onClick={() => showMarks(trace)}
            title="thresholds, notes, printed marks"
        >
            marks{n > 0 ? ` ${n}` : ""}
        </button>
    );
}
