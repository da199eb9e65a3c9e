// heatmap.tsx - the heat map: a column for each interval, a row for each bucket, the count as colour. Drawing and pointers; all arithmetic
// is in model/heat.ts.
//
// Two canvases lie on top of each other: the map with its axes, drawn when a column comes, and what follows the pointer. A selection is
// kept as numbers of columns and buckets. The map holds still while somebody points at it or has selected something, so that what is taken
// is what was pointed at.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { total } from "../model/buckets.ts";
import { scaleFor, STEPS, type ScaleKind } from "../model/colour.ts";
import { ago, clock, compact, exact, percent, range, value } from "../model/format.ts";
import { axisTicks, columnHist, keyCounts, layout, linearTop, inView, MARGINS, outliers, percentileLines, places, rowCounts, spanOf, used, type HeatRow, type YScale, type Zoom } from "../model/heat.ts";
import { heatCsv, traceJson } from "../model/export.ts";
import { keyText, type Aggregation, type Column, type Trace } from "../model/trace.ts";
import { css, font, hatch, prepare, ramp, save, savePng, useSize } from "./canvas.tsx";
import { KeysPanel, type Selection } from "./keys.tsx";
import { Menu, Middle, Pause, Segments, Splitter } from "./widgets.tsx";

const { left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM } = MARGINS;
const IDLE_MS = 5000; // after which a pointer that rests holds nothing any more
const TIP = 320; // px: maximum width of the tip at the pointer
const TIP_KEYS = 3; // the largest keys of a cell that the tip shows
const ROOMY = 8; // px: cells of this size have gaps between them
const MARK = 6; // px: the least size of a cell that lies apart
const SPANS: [string, number][] = [
    ["1", 60],
    ["2", 120],
    ["5", 300],
    ["10", 600],
];

interface Props {
    trace: Trace;
    agg: Aggregation;
}

/** The columns in view: the latest, or those up to a certain one; a zoom in time is a window with its own width. */
interface Window {
    last: number | null; // n of the newest one in view; null: live
    span: number; // columns
}

/** What the map shows while it holds still: up to which column, and the buckets that had counts then. */
interface Hold {
    n: number;
    extent: [number, number] | null;
}

type Drag = "select" | "zoom";

export function HeatMap({ trace, agg }: Props) {
    const box = useRef<HTMLDivElement>(null);
    const map = useRef<HTMLCanvasElement>(null);
    const over = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const interval = Math.max(1000, trace.info.interval); // of a column
    const [seconds, setSeconds] = useState(120);
    const [window_, setWindow] = useState<Window>({ last: null, span: 0 });
    const [zoom, setZoom] = useState<Zoom | null>(null);
    const [share, setShare] = useState(30);
    const [drag, setDrag] = useState<Drag>("select");
    const [selection, setSelection] = useState<Selection | null>(null);
    const [keys, setKeys] = useState<ReadonlySet<number>>(new Set());
    const [pointer, setPointer] = useState<{ x: number; y: number } | null>(null);
    const [hold, setHold] = useState<Hold | null>(null);
    const idle = useRef(0);
    const [pull, setPull] = useState<{ x0: number; y0: number; x1: number; y1: number } | null>(null);
    const v = app.view;
    const unit = app.unitOf(agg);
    const buckets = agg.buckets!;
    const all = trace.columns;

    const span = window_.span || spanOf(all.length, seconds, interval);
    const lastN = window_.last ?? hold?.n ?? null;
    const lastIndex = lastN === null ? all.length - 1 : all.findLastIndex((c) => c.n <= lastN);
    const live = lastN === null;
    const gap = live ? Math.round(trace.silent / interval) : 0; // places at the end, for readings that did not come
    const columns = useMemo(() => inView(all, lastIndex, span, interval, gap), [hold ? null : trace.version, hold, lastIndex, span, gap]);
    const at = useMemo(() => places(columns, interval), [columns]);

    const plot = { x: LEFT, y: TOP, w: Math.max(10, size.width - LEFT - RIGHT), h: Math.max(10, size.height - TOP - BOTTOM) };
    const colW = plot.w / span;
    const ends = (at[at.length - 1] ?? -1) + 1 + gap;
    const xOf = (i: number) => plot.x + plot.w - (ends - (at[i] ?? ends)) * colW; // of a column in `columns`
    const xEnd = (i: number) => xOf(i) + colW;
    const filter = keys.size > 0 ? keys : null;
    const filterId = [...keys].sort().join();

    const drawn = useMemo(() => {
        const extent = hold ? hold.extent : used(all, agg.id);
        let shown = extent;
        if (extent && !zoom && v.y === "linear") shown = [extent[0], Math.max(extent[0], linearTop(all, agg.id, buckets))];
        const lay = layout(buckets, shown, zoom, v.y, plot.h);
        const hists = columns.map((c) => columnHist(c, agg.id, filter));
        const counts = hists.map((h) => (h ? rowCounts(h, lay) : null));
        const scale = scaleFor(
            v.scale,
            (function* () {
                for (const c of counts) if (c) yield* c;
            })(),
        );
        const lines = percentileLines(
            hists,
            buckets,
            v.percentiles.map((p) => p / 100),
        );
        return { extent, lay, hists, counts, scale, lines, marks: outliers(counts) };
    }, [hold ? null : trace.version, hold, columns, agg, filterId, zoom, v.y, v.scale, v.percentiles, plot.h]);
    const { extent, lay, hists, counts, scale, lines, marks } = drawn;

    // -- the map
    useEffect(() => {
        if (size.width === 0) return;
        const cx = prepare(map.current!, size);
        const colours = ramp();
        const gapX = colW >= ROOMY ? 1 : 0;
        cx.fillStyle = css("--map");
        for (const r of lay.rows) if (r.kind !== "in") cx.fillRect(plot.x, plot.y + r.y0, plot.w, r.y1 - r.y0);
        const ins = lay.rows.filter((r) => r.kind === "in");
        if (ins.length > 0) cx.fillRect(plot.x, plot.y + ins[ins.length - 1]!.y0, plot.w, ins[0]!.y1 - ins[ins.length - 1]!.y0);

        // times of which nothing is known
        const unknown = (x0: number, x1: number) => {
            cx.fillStyle = hatch(cx);
            cx.fillRect(Math.max(plot.x, x0), plot.y, x1 - Math.max(plot.x, x0), plot.h);
        };
        for (let i = 1; i < columns.length; i++) if (at[i]! > at[i - 1]! + 1) unknown(xEnd(i - 1), xOf(i));
        if (gap > 0 && columns.length > 0) unknown(xEnd(columns.length - 1), plot.x + plot.w);

        // axis of values
        cx.font = font(10.5);
        cx.textBaseline = "middle";
        cx.textAlign = "right";
        for (const t of axisTicks(lay, v.y, 26, unit === "ns" || unit === "us" || unit === "ms" || unit === "s" || agg.fn === "llquantize" ? 10 : 2)) {
            const y = Math.round(plot.y + lay.y(t)) + 0.5;
            cx.strokeStyle = css("--grid");
            cx.beginPath();
            cx.moveTo(plot.x - 4, y);
            cx.lineTo(plot.x + plot.w, y);
            cx.stroke();
            // the labels of the rows above and below need space
            const near = lay.rows.some((r) => r.kind !== "in" && Math.abs(plot.y + (r.y0 + r.y1) / 2 - y) < 12);
            cx.fillStyle = css("--muted");
            if (!near) cx.fillText(value(t, unit), plot.x - 8, y);
        }
        for (const r of lay.rows)
            if (r.kind !== "in") {
                cx.fillStyle = css("--muted");
                cx.fillText(r.kind === "over" ? "above" : "below", plot.x - 8, plot.y + (r.y0 + r.y1) / 2);
            }

        // cells
        counts.forEach((col, i) => {
            const x0 = Math.round(xOf(i));
            const x1 = Math.round(xEnd(i));
            const w = Math.max(1, x1 - x0 - gapX);
            if (col === null) {
                // its keys are not known, so what a filter leaves of it is not known either
                cx.fillStyle = css("--unknown");
                cx.fillRect(x0, plot.y, w, plot.h);
                return;
            }
            for (let r = 0; r < col.length; r++) {
                const n = col[r]!;
                if (n <= 0) continue;
                const row = lay.rows[r]!;
                const h = row.y1 - row.y0;
                cx.fillStyle = colours[Math.round(scale.of(n) * (STEPS - 1))]!;
                cx.fillRect(x0, plot.y + row.y0, w, h - (h >= ROOMY ? 1 : 0));
            }
        });

        // what lies apart, in a size that is seen
        for (const { i, r } of marks) {
            const row = lay.rows[r]!;
            const w = Math.max(MARK, colW - gapX);
            const h = Math.max(MARK, row.y1 - row.y0);
            const x = Math.round(Math.min(plot.x + plot.w - w, Math.max(plot.x, xOf(i) + (colW - w) / 2)));
            const y = Math.round(Math.min(plot.y + plot.h - h, Math.max(plot.y, plot.y + (row.y0 + row.y1 - h) / 2)));
            cx.fillStyle = colours[Math.round(scale.of(counts[i]![r]!) * (STEPS - 1))]!;
            cx.fillRect(x, y, w, h);
            cx.strokeStyle = css("--mark");
            cx.lineWidth = 1;
            cx.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
        }

        // axis of time
        cx.textAlign = "center";
        cx.fillStyle = css("--muted");
        let lastLabel = -Infinity;
        const step = [1, 2, 5, 10, 15, 30, 60, 120, 300].find((s) => ((s * 1000) / interval) * colW >= 84) ?? 600;
        columns.forEach((c, i) => {
            const sec = Math.floor(c.t / 1000);
            const before = i > 0 ? Math.floor(columns[i - 1]!.t / 1000) : sec - 1;
            const mark = Math.floor(sec / step) * step;
            if (mark <= before) return;
            const x = xOf(i) + colW / 2;
            if (x - lastLabel < 66 || x > plot.x + plot.w - 20 || x < plot.x + 24) return;
            lastLabel = x;
            cx.strokeStyle = css("--line-strong");
            cx.beginPath();
            cx.moveTo(Math.round(x) + 0.5, plot.y + plot.h);
            cx.lineTo(Math.round(x) + 0.5, plot.y + plot.h + 4);
            cx.stroke();
            cx.fillText(clock(mark), x, plot.y + plot.h + 13);
        });

        // percentile lines, the highest first
        cx.save();
        cx.beginPath();
        cx.rect(plot.x, plot.y, plot.w + RIGHT, plot.h);
        cx.clip();
        const dashes = [[], [6, 3], [2, 2.5], [10, 3, 2, 3], [1, 4]];
        const labels: { y: number; text: string }[] = [];
        v.percentiles.forEach((p, k) => {
            const path = new Path2D();
            let pen = false;
            let end: number | null = null;
            lines.forEach((l, i) => {
                if (!l || Number.isNaN(l[k]!)) {
                    pen = false;
                    return;
                }
                const x = xOf(i) + colW / 2;
                const y = plot.y + lay.y(l[k]!);
                if (pen) path.lineTo(x, y);
                else path.moveTo(x, y);
                // a value without neighbours is a line as wide as its column
                const next = at[i + 1] === at[i]! + 1 ? lines[i + 1] : null;
                if (i > 0 && at[i - 1] !== at[i]! - 1) pen = false;
                if (!pen && (!next || Number.isNaN(next[k]!))) {
                    path.moveTo(x - colW / 2, y);
                    path.lineTo(x + colW / 2, y);
                }
                pen = true;
                end = y;
            });
            cx.setLineDash(dashes[k % dashes.length]!);
            cx.lineJoin = "round";
            cx.strokeStyle = css("--halo");
            cx.lineWidth = 2.5;
            cx.stroke(path);
            cx.strokeStyle = css("--mark");
            cx.lineWidth = 1;
            cx.stroke(path);
            if (end !== null) labels.push({ y: end, text: `p${p}` });
        });
        cx.setLineDash([]);
        cx.textAlign = "left";
        cx.fillStyle = css("--text");
        labels.sort((a, b) => a.y - b.y);
        let free = -Infinity;
        for (const l of labels) {
            const y = Math.max(l.y, free);
            cx.fillText(l.text, plot.x + plot.w + 6, Math.min(y, plot.y + plot.h - 6));
            free = y + 12;
        }
        cx.restore();
    }, [drawn, size, app.dark, unit, colW, gap]);

    // -- pointer
    const cellAt = (x: number, y: number): { i: number; r: number } | null => {
        const i = columns.findIndex((_, k) => x >= xOf(k) && x < xEnd(k));
        if (i < 0 || x < plot.x || x > plot.x + plot.w) return null;
        const yy = y - plot.y;
        const r = lay.rows.findIndex((row) => yy >= row.y0 && yy < row.y1);
        return r < 0 ? null : { i, r };
    };
    const rowNear = (y: number): number => {
        let best = 0;
        let near = Infinity;
        lay.rows.forEach((row, r) => {
            const d = y < row.y0 ? row.y0 - y : y > row.y1 ? y - row.y1 : 0;
            if (d < near) ((near = d), (best = r));
        });
        return best;
    };
    const hover = pointer && !pull ? cellAt(pointer.x, pointer.y) : null;

    // -- holding still
    const keep = () => {
        const newest = all[lastIndex];
        if (window_.last === null && newest) setHold((old) => old ?? { n: newest.n, extent });
    };
    const release = () => {
        clearTimeout(idle.current);
        setHold(null);
    };
    useEffect(() => () => clearTimeout(idle.current), []);
    useEffect(() => {
        if (selection) clearTimeout(idle.current);
        else if (!pointer) release();
    }, [selection]);

    useEffect(() => {
        if (size.width === 0) return;
        const cx = prepare(over.current!, size);
        const rect = (i0: number, i1: number, r0: HeatRow, r1: HeatRow) => {
            const [x0, x1] = [Math.round(xOf(i0)), Math.round(xEnd(i1))];
            const y0 = plot.y + Math.min(r0.y0, r1.y0);
            const y1 = plot.y + Math.max(r0.y1, r1.y1);
            return [Math.max(plot.x, x0) - 0.5, y0 - 0.5, Math.max(2, x1 - Math.max(plot.x, x0)), y1 - y0] as const;
        };
        if (selection) {
            const i0 = columns.findIndex((c) => c.n >= selection.n0);
            const i1 = columns.findLastIndex((c) => c.n <= selection.n1);
            const r0 = lay.rows[lay.rowOf[selection.first]!];
            const r1 = lay.rows[lay.rowOf[Math.min(selection.last, lay.rowOf.length - 1)]!];
            if (i0 >= 0 && i1 >= i0 && r0 && r1) {
                const [x, y, w, h] = rect(i0, i1, r0, r1);
                cx.strokeStyle = css("--halo");
                cx.lineWidth = 4;
                cx.strokeRect(x, y, w, h);
                cx.strokeStyle = css("--pick");
                cx.lineWidth = 2;
                cx.strokeRect(x, y, w, h);
            }
        }
        if (hover) {
            const [x, y, w, h] = rect(hover.i, hover.i, lay.rows[hover.r]!, lay.rows[hover.r]!);
            cx.strokeStyle = css("--mark");
            cx.lineWidth = 1;
            cx.globalAlpha = 0.35;
            cx.beginPath();
            cx.moveTo(plot.x, y + h / 2);
            cx.lineTo(plot.x + plot.w, y + h / 2);
            cx.moveTo(x + w / 2, plot.y);
            cx.lineTo(x + w / 2, plot.y + plot.h);
            cx.stroke();
            cx.globalAlpha = 1;
            cx.lineWidth = 1.5;
            cx.strokeRect(x, y, w, h);
        }
        if (pull) {
            const x = Math.min(pull.x0, pull.x1);
            const y = Math.min(pull.y0, pull.y1);
            cx.fillStyle = css("--pick");
            cx.globalAlpha = 0.14;
            cx.fillRect(x, y, Math.abs(pull.x1 - pull.x0), Math.abs(pull.y1 - pull.y0));
            cx.globalAlpha = 1;
            cx.strokeStyle = css("--pick");
            cx.lineWidth = 1.5;
            cx.setLineDash(drag === "zoom" ? [5, 3] : []);
            cx.strokeRect(x, y, Math.abs(pull.x1 - pull.x0), Math.abs(pull.y1 - pull.y0));
        }
    }, [selection, hover?.i, hover?.r, pull, drawn, size, app.dark, gap]);

    const local = (e: PointerEvent) => {
        const at = over.current!.getBoundingClientRect();
        return { x: e.clientX - at.left, y: e.clientY - at.top };
    };
    const inPlot = (p: { x: number; y: number }) => ({ x: Math.min(plot.x + plot.w, Math.max(plot.x, p.x)), y: Math.min(plot.y + plot.h, Math.max(plot.y, p.y)) });
    const pick = (a: { i: number; r: number }, b: { i: number; r: number }, cell: boolean) => {
        keep();
        const rows = [lay.rows[a.r]!, lay.rows[b.r]!];
        setSelection({
            n0: columns[Math.min(a.i, b.i)]!.n,
            n1: columns[Math.max(a.i, b.i)]!.n,
            first: Math.min(rows[0]!.first, rows[1]!.first),
            last: Math.max(rows[0]!.last, rows[1]!.last),
            cell,
        });
    };
    const down = (e: PointerEvent) => {
        if (e.button !== 0) return;
        const p = local(e);
        if (p.x < plot.x || p.x > plot.x + plot.w || p.y > plot.y + plot.h) return;
        keep();
        clearTimeout(idle.current);
        over.current!.setPointerCapture(e.pointerId);
        setPull({ x0: p.x, y0: p.y, x1: p.x, y1: p.y });
    };
    const move = (e: PointerEvent) => {
        const p = local(e);
        setPointer(p);
        keep();
        clearTimeout(idle.current);
        if (!selection && !pull) idle.current = setTimeout(() => setHold(null), IDLE_MS) as unknown as number;
        if (pull) {
            const q = inPlot(p);
            setPull({ ...pull, x1: q.x, y1: q.y });
        }
    };
    const up = (e: PointerEvent) => {
        if (!pull) return;
        setPull(null);
        const small = Math.abs(pull.x1 - pull.x0) < 5 && Math.abs(pull.y1 - pull.y0) < 5;
        if (small) {
            const c = cellAt(pull.x0, pull.y0);
            if (c) pick(c, c, true);
            else setSelection(null);
            return;
        }
        const from = columns.findIndex((_, k) => xEnd(k) > Math.min(pull.x0, pull.x1));
        const i0 = from < 0 ? columns.length - 1 : from;
        const i1 = Math.max(i0, columns.findLastIndex((_, k) => xOf(k) < Math.max(pull.x0, pull.x1)));
        const zooms = (drag === "zoom") !== e.shiftKey;
        if (!zooms) {
            if (columns.length > 0) pick({ i: i0, r: rowNear(Math.min(pull.y0, pull.y1) - plot.y) }, { i: i1, r: rowNear(Math.max(pull.y0, pull.y1) - plot.y) }, false);
            return;
        }
        const wide = Math.abs(pull.x1 - pull.x0) > plot.w * 0.03 || Math.abs(pull.x1 - pull.x0) > 3 * colW;
        const tall = Math.abs(pull.y1 - pull.y0) > 8;
        if (tall) setZoom({ from: lay.value(Math.max(pull.y0, pull.y1) - plot.y), to: lay.value(Math.min(pull.y0, pull.y1) - plot.y) });
        if (wide && columns.length > 0 && i1 > i0 && (at[i1]! - at[i0]! + 1) / span < 0.9) setWindow({ last: columns[i1]!.n, span: at[i1]! - at[i0]! + 1 });
    };

    // -- time
    const scroll = (by: number) => {
        if (all.length === 0) return;
        // columns may have come and gone since this was drawn
        const from = lastN === null ? all.length - 1 : all.findLastIndex((c) => c.n <= lastN);
        const at = Math.min(all.length - 1, Math.max(Math.min(span, all.length) - 1, from + by));
        setWindow({ span: window_.span, last: at >= all.length - 1 && by > 0 ? null : all[at]!.n });
    };
    const resume = () => {
        setWindow({ span: window_.span, last: null });
        setSelection(null);
        release();
    };
    const pause = () => {
        if (window_.last !== null || selection) resume();
        else setWindow({ span: window_.span, last: all[lastIndex]?.n ?? null });
    };
    const reset = () => {
        setZoom(null);
        setWindow({ last: null, span: 0 });
        release();
    };
    const wheel = (e: WheelEvent) => {
        const d = Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.shiftKey ? e.deltaY : 0;
        if (d === 0) return;
        e.preventDefault();
        scroll(Math.sign(d) * Math.max(1, Math.round(Math.abs(d) / Math.max(colW, 4))));
    };
    const key = (e: KeyboardEvent) => {
        const step = (di: number, dr: number) => {
            const i = selection ? columns.findLastIndex((c) => c.n <= selection.n1) : columns.length - 1;
            const r = selection ? lay.rowOf[selection.first]! : Math.floor(lay.rows.length / 2);
            const c = { i: Math.min(columns.length - 1, Math.max(0, i + di)), r: Math.min(lay.rows.length - 1, Math.max(0, r + dr)) };
            if (columns.length > 0) pick(c, c, true);
        };
        const done: Record<string, () => void> = {
            ArrowLeft: () => (e.shiftKey ? step(-1, 0) : scroll(-Math.max(1, Math.round(span / 20)))),
            ArrowRight: () => (e.shiftKey ? step(1, 0) : scroll(Math.max(1, Math.round(span / 20)))),
            ArrowUp: () => step(0, 1),
            ArrowDown: () => step(0, -1),
            Home: () => scroll(-all.length),
            End: resume,
            Escape: () => (selection ? setSelection(null) : reset()),
            "0": reset,
        };
        const action = done[e.key];
        if (!action || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
        // focused elements that use these keys themselves keep them
        const at = e.composedPath()[0] as Element;
        if (at.closest?.("input, select, textarea, [contenteditable], [role=radiogroup], [role=tablist], .menu, dialog")) return;
        if (at.closest?.(".rows") && !/^(Arrow(Left|Right)|Escape|0)$/.test(e.key)) return;
        e.preventDefault();
        action();
    };
    useLayoutEffect(() => {
        const space = () => pause();
        addEventListener("erltrace:pause", space);
        addEventListener("keydown", key);
        return () => {
            removeEventListener("erltrace:pause", space);
            removeEventListener("keydown", key);
        };
    });

    const exportName = `erltrace-${agg.name.replace(/\W/g, "") || "heat"}`;
    const title = `${trace.info.name} · ${agg.name} · ${trace.info.node}`;
    const focus = hover ? cellInfo(columns[hover.i]!, hists[hover.i] ?? null, lay.rows[hover.r]!, agg) : null;
    const shape = selection ? shapeOf(agg, selection) : null;

    return (
        <div class="heat">
            <div class="toolbar">
                <Segments<YScale> label="y" value={v.y} options={[["log", "log"], ["linear", "linear"]]} onChange={(y) => (setZoom(null), app.setView({ y }))} />
                <Segments<ScaleKind>
                    label="colour"
                    value={v.scale}
                    options={[
                        ["log", "log", "by the logarithm of the count"],
                        ["rank", "rank", "by the share of cells with less: shows structure, whatever the counts are"],
                        ["linear", "linear", "by count"],
                    ]}
                    onChange={(s) => app.setView({ scale: s })}
                />
                <div class="segments" role="group" aria-label="percentile lines">
                    <span class="segments-label">lines</span>
                    {[50, 90, 99].map((p) => (
                        <button
                            key={p}
                            type="button"
                            aria-pressed={v.percentiles.includes(p)}
                            class={v.percentiles.includes(p) ? "on" : ""}
                            title={`the ${p}th percentile of each column`}
                            onClick={() => app.setView({ percentiles: v.percentiles.includes(p) ? v.percentiles.filter((q) => q !== p) : [...v.percentiles, p].sort((a, b) => a - b) })}
                        >
                            p{p}
                        </button>
                    ))}
                </div>
                <Segments
                    label="min"
                    value={window_.span ? "" : String(seconds / 60)}
                    options={SPANS.map(([text]) => [text, text, `the last ${text} min`] as const)}
                    onChange={(s) => {
                        setSeconds(SPANS.find(([text]) => text === s)![1]);
                        setWindow({ ...window_, span: 0 });
                    }}
                />
                <Segments<Drag> label="drag" value={drag} options={[["select", "compare", "drag a rectangle: its keys against all others (Shift: zoom)"], ["zoom", "zoom", "drag a rectangle to see more of it (Shift: compare)"]]} onChange={setDrag} />
                {(zoom || window_.span > 0) && (
                    <button type="button" onClick={reset} title="the whole map again (0)">
                        reset zoom
                    </button>
                )}
                <span class="grow" />
                <Pause held={window_.last !== null || selection !== null} over={trace.stopped !== null} onChange={pause} />
                <Menu
                    label="export"
                    items={[
                        ["PNG image", () => savePng(`${exportName}.png`, title, [map.current!])],
                        ["CSV of cells", () => save(`${exportName}.csv`, heatCsv(agg, columns), "text/csv")],
                        ["JSON of everything", () => save(`${exportName}.json`, traceJson(trace), "application/json")],
                    ]}
                />
            </div>
            <div class="heat-body" style={{ "--side": `${share}%` }}>
                <div class="heat-main">
                    <div
                        class={`heat-map drag-${drag}`}
                        ref={box}
                        tabIndex={0}
                        role="img"
                        aria-label={`heat map of ${agg.name}: ${columns.length} columns; left and right move in time, up and down choose cells, whose keys are listed at the side`}
                    >
                        <canvas ref={map} class="layer" data-testid="heatmap" />
                        <canvas
                            ref={over}
                            class="layer"
                            onPointerDown={down}
                            onPointerMove={move}
                            onPointerUp={up}
                            onPointerCancel={() => setPull(null)}
                            onPointerLeave={() => {
                                if (pull) return;
                                setPointer(null);
                                if (!selection) release();
                            }}
                            onDblClick={reset}
                            onWheel={wheel}
                        />
                        {columns.length === 0 && <div class="nothing over">waiting for the first interval …</div>}
                        {gap > 0 && <div class="held silent">no data for {ago(trace.silent)}</div>}
                        {!live && !(trace.stopped && lastIndex === all.length - 1) && (
                            <div class="held">
                                held at {clock((columns[columns.length - 1]?.t ?? 0) / 1000)}
                                {window_.last === null && (selection ? ": something is chosen (Esc)" : " while you point")}
                            </div>
                        )}
                        {focus && pointer && (
                            <div class="tip" style={{ left: `${pointer.x + 14 + TIP > size.width ? Math.max(0, pointer.x - 14 - TIP) : pointer.x + 14}px`, top: `${pointer.y > size.height - 200 ? pointer.y - 186 : pointer.y + 14}px` }} data-testid="tip">
                                <dl>
                                    <dt>time</dt>
                                    <dd>{clock(focus.t / 1000)}</dd>
                                    <dt>range</dt>
                                    <dd>{range(focus.from, focus.to, unit)}</dd>
                                    <dt>count</dt>
                                    <dd>{focus.count === null ? "not known" : exact(focus.count)}</dd>
                                    <dt>of column</dt>
                                    <dd>{focus.count === null ? "–" : percent(focus.count / focus.all)}</dd>
                                    <dt>up to here</dt>
                                    <dd>{focus.count === null ? "–" : percent(focus.upTo / focus.all)}</dd>
                                </dl>
                                {focus.keys.length > 0 && (
                                    <dl class="tip-keys">
                                        {focus.keys.map((k) => (
                                            <>
                                                <dt><Middle text={keyText(agg.parts(k.key))} /></dt>
                                                <dd>{exact(k.count)}</dd>
                                            </>
                                        ))}
                                    </dl>
                                )}
                            </div>
                        )}
                    </div>
                    <div class="heat-foot">
                        <Legend scale={scale} />
                        <Overview all={all} agg={agg} window={{ first: lastIndex - columns.length + 1, last: lastIndex }} onGo={(n, end) => setWindow({ span: window_.span, last: end ? null : n })} version={trace.version} />
                    </div>
                </div>
                <Splitter label="width of the keys" share={share} onShare={setShare} />
                <KeysPanel trace={trace} agg={agg} columns={columns} unit={unit} selection={selection} shape={shape} filter={keys} onFilter={setKeys} onClear={() => setSelection(null)} />
            </div>
        </div>
    );
}

function cellInfo(c: Column, h: Map<number, number> | null, row: HeatRow, agg: Aggregation) {
    const s0 = agg.buckets!.bounds(row.first);
    const s1 = agg.buckets!.bounds(row.last);
    let count = 0;
    let upTo = 0;
    for (const [b, n] of h ?? [])
        if (n > 0) {
            if (b >= row.first && b <= row.last) count += n;
            if (b <= row.last) upTo += n;
        }
    const from = row.kind === "under" ? -Infinity : (s0?.from ?? row.from);
    const to = row.kind === "over" ? Infinity : (s1?.to ?? row.to);
    const { keys } = count > 0 ? keyCounts(agg, [c], row.first, row.last) : { keys: [] };
    return { t: c.t, from, to, count: h ? count : null, all: h ? total(h) || 1 : 1, upTo, keys: keys.slice(0, TIP_KEYS) };
}

function shapeOf(agg: Aggregation, s: Selection) {
    let from = -Infinity;
    let to = Infinity;
    for (let b = s.first; b <= s.last; b++) {
        const x = agg.buckets!.bounds(b);
        if (x) {
            from = x.from;
            break;
        }
    }
    for (let b = Math.min(s.last, agg.buckets!.count - 1); b >= s.first; b--) {
        const x = agg.buckets!.bounds(b);
        if (x) {
            to = x.to;
            break;
        }
    }
    return { from, to };
}

/** The meaning of the colours. */
function Legend({ scale }: { scale: ReturnType<typeof scaleFor> }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [width, height] = [150, 8];
    useEffect(() => {
        const cx = prepare(canvas.current!, { width, height });
        const colours = ramp();
        for (let x = 0; x < width; x++) {
            cx.fillStyle = colours[Math.round((x / (width - 1)) * (STEPS - 1))]!;
            cx.fillRect(x, 0, 1, height);
        }
    }, [app.dark]);
    const ticks = scale.ticks.length > 3 ? [scale.ticks[0]!, scale.ticks[Math.floor(scale.ticks.length / 2)]!, scale.ticks[scale.ticks.length - 1]!] : scale.ticks;
    return (
        <div class="legend" title={`count of a cell, ${scale.kind} scale`} data-testid="legend">
            <canvas ref={canvas} />
            <div class="legend-ticks">
                {ticks.map((t) => (
                    <span key={t.at}>{compact(t.count)}</span>
                ))}
                {ticks.length === 0 && <span>count</span>}
            </div>
        </div>
    );
}

interface OverviewProps {
    all: readonly Column[];
    agg: Aggregation;
    window: { first: number; last: number };
    onGo: (n: number, end: boolean) => void;
    version: number;
}
/** All stored columns as one line of totals, with those in view marked; dragging moves the view. */
function Overview({ all, agg, window: w, onGo, version }: OverviewProps) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const count = Math.max(60, all.length);
    const per = size.width / count;
    const pad = count - all.length;
    useEffect(() => {
        if (size.width === 0) return;
        const cx = prepare(canvas.current!, size);
        const sums = all.map((c) => total(c.merged.get(agg.id) ?? []));
        const max = Math.max(1, ...sums);
        cx.fillStyle = css("--faint");
        sums.forEach((s, i) => {
            const h = (s / max) * (size.height - 4);
            cx.fillRect((pad + i) * per, size.height - h, Math.max(0.6, per - (per > 3 ? 1 : 0)), h);
        });
        cx.fillStyle = css("--pick");
        cx.globalAlpha = 0.16;
        const [x, x1] = [(pad + w.first) * per, (pad + w.last + 1) * per];
        cx.fillRect(x, 0, x1 - x, size.height);
        cx.globalAlpha = 1;
        cx.strokeStyle = css("--pick");
        cx.strokeRect(Math.max(0.5, x + 0.5), 0.5, Math.min(size.width - 1, x1 - x - 1), size.height - 1);
    }, [version, size, w.first, w.last, agg, app.dark]);
    const go = (e: PointerEvent) => {
        if (e.buttons !== 1 || all.length === 0) return;
        const at = Math.floor((e.clientX - box.current!.getBoundingClientRect().left) / per) - pad;
        const seen = w.last - w.first + 1;
        const last = Math.min(all.length - 1, Math.max(seen - 1, at + Math.floor(seen / 2)));
        onGo(all[last]!.n, last >= all.length - 1);
    };
    return (
        <div class="overview" ref={box} title="the last ten minutes: drag to look back" onPointerDown={(e) => (box.current!.setPointerCapture(e.pointerId), go(e))} onPointerMove={go} data-testid="overview">
            <canvas ref={canvas} />
        </div>
    );
}
