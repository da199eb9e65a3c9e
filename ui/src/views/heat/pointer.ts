// pointer.ts - what pointer and keys do on the heat map: they choose cells and rectangles, zoom, and move in time.
//
// What was pointed at is what is taken: from the first movement on the map holds still, so that a place means the same cell when the button
// goes down and when it comes up.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { app } from "../../app.ts";
import type { Cell } from "../../model/heat.ts";
import type { Trace } from "../../model/trace.ts";
import { markAt, type Pull } from "./draw.ts";
import type { Heat, Picture } from "./state.ts";

export type Drag = "select" | "zoom";

/** The cell at a place: beside a cell that lies apart, within its ring, that one, unless there is something at the place itself. */
function cellAt(p: Picture, x: number, y: number): Cell | null {
    const { plot, columns, lay, data } = p;
    if (x < plot.x || x > plot.x + plot.w) return null;
    const i = columns.findIndex((c) => x >= p.x(c.from) && x < p.x(c.t));
    const r = lay.rows.findIndex((row) => y - plot.y >= row.y0 && y - plot.y < row.y1);
    if (i >= 0 && (data[i]!.counts?.[r] ?? 0) > 0) return { i, r };
    return markAt(p, x, y) ?? (i < 0 || r < 0 ? null : { i, r });
}

function rowNear({ plot, lay }: Picture, y: number): number {
    let best = 0;
    let near = Infinity;
    lay.rows.forEach((row, r) => {
        const at = y - plot.y;
        const d = at < row.y0 ? row.y0 - at : at > row.y1 ? at - row.y1 : 0;
        if (d < near) (near = d), (best = r);
    });
    return best;
}

/** Chooses a cell, or the rectangle between two cells. */
function pick({ picture: { columns, lay }, keep }: Heat, a: Cell, b: Cell, cell: boolean): void {
    keep();
    const rows = [lay.rows[a.r]!, lay.rows[b.r]!] as const;
    app.look.set({
        chosen: {
            from: columns[Math.min(a.i, b.i)]!.from,
            to: columns[Math.max(a.i, b.i)]!.t,
            first: Math.min(rows[0].first, rows[1].first),
            last: Math.max(rows[0].last, rows[1].last),
            cell,
        },
    });
}

export interface Pointer {
    at: { x: number; y: number } | null;
    hover: Cell | null;
    pull: Pull | null;
    handlers: Record<string, (e: PointerEvent) => void>;
}

export function usePointer(heat: Heat, layer: RefObject<HTMLCanvasElement>, drag: Drag): Pointer {
    const { picture } = heat;
    const { plot, columns, lay, range } = picture;
    const { chosen } = app.look;
    const [at, setAt] = useState<{ x: number; y: number } | null>(null);
    const [pull, setPull] = useState<Pull | null>(null);

    useEffect(() => {
        if (chosen) heat.keep();
        else if (!at) heat.release();
    }, [chosen]);

    const local = (e: PointerEvent) => {
        const box = layer.current!.getBoundingClientRect();
        return { x: e.clientX - box.left, y: e.clientY - box.top };
    };
    const down = (e: PointerEvent) => {
        if (e.button !== 0) return;
        const p = local(e);
        if (p.x < plot.x || p.x > plot.x + plot.w || p.y > plot.y + plot.h) return;
        heat.keep();
        layer.current!.setPointerCapture(e.pointerId);
        setPull({ x0: p.x, y0: p.y, x1: p.x, y1: p.y });
    };
    const move = (e: PointerEvent) => {
        const p = local(e);
        setAt(p);
        heat.keep();
        if (!chosen && !pull) heat.rest();
        if (pull)
            setPull({
                ...pull,
                x1: Math.min(plot.x + plot.w, Math.max(plot.x, p.x)),
                y1: Math.min(plot.y + plot.h, Math.max(plot.y, p.y)),
            });
    };
    const up = (e: PointerEvent) => {
        if (!pull) return;
        setPull(null);
        const [x0, x1] = [Math.min(pull.x0, pull.x1), Math.max(pull.x0, pull.x1)];
        const [y0, y1] = [Math.min(pull.y0, pull.y1), Math.max(pull.y0, pull.y1)];
        if (x1 - x0 < 5 && y1 - y0 < 5) {
            const c = cellAt(picture, pull.x0, pull.y0);
            if (c) pick(heat, c, c, true);
            else app.look.set({ chosen: null });
            return;
        }
        if (columns.length === 0) return;
        const begin = columns.findIndex((c) => picture.x(c.t) > x0);
        const i0 = begin < 0 ? columns.length - 1 : begin;
        const i1 = Math.max(
            i0,
            columns.findLastIndex((c) => picture.x(c.from) < x1),
        );
        if ((drag === "zoom") === e.shiftKey) {
            pick(heat, { i: i0, r: rowNear(picture, y0) }, { i: i1, r: rowNear(picture, y1) }, false);
            return;
        }
        const taken = { from: columns[i0]!.from, to: columns[i1]!.t };
        app.look.set({
            ...(y1 - y0 > 8 ? { zoom: { from: lay.value(y1 - plot.y), to: lay.value(y0 - plot.y) } } : {}),
            ...(i1 > i0 && (taken.to - taken.from) / (range.to - range.from) < 0.9 ? { range: taken } : {}),
        });
    };
    return {
        at,
        hover: at && !pull ? cellAt(picture, at.x, at.y) : null,
        pull,
        handlers: {
            onPointerDown: down,
            onPointerMove: move,
            onPointerUp: up,
            onPointerCancel: () => setPull(null),
            onPointerLeave: () => {
                if (pull) return;
                setAt(null);
                if (!chosen) heat.release();
            },
        },
    };
}

export interface Moves {
    /** Shows the times up to `to`, ms. */
    goTo(to: number): void;
    pause(): void;
    reset(): void; // the whole map
    wheel(e: WheelEvent): void;
}

/** Moves in time, by keys and by the wheel. */
export function useMoves(heat: Heat, trace: Trace): Moves {
    const { picture, interval, live } = heat;
    const { columns, lay, range, plot } = picture;
    const { look } = app;
    const goTo = (to: number) => {
        const wide = range.to - range.from;
        const first = trace.columns[0];
        if (!first) return;
        const end = Math.min(trace.t, Math.max(Math.min(first.t - first.dt + wide, trace.t), to));
        look.set({ range: end > trace.t - interval / 2 && to > range.to ? null : { from: end - wide, to: end } });
    };
    const scroll = (ms: number) =>
        goTo(
            (live ? trace.t : range.to) +
                Math.sign(ms) * Math.max(interval, Math.round(Math.abs(ms) / interval) * interval),
        );
    const resume = () => {
        look.resume();
        heat.release();
    };
    const pause = () => {
        if (look.paused) resume();
        else if (columns.length > 0) look.set({ range });
    };
    const reset = () => {
        look.set({ range: null, zoom: null });
        heat.release();
    };
    const key = (e: KeyboardEvent) => {
        const { chosen } = look;
        const step = (di: number, dr: number) => {
            const i = chosen ? columns.findLastIndex((c) => c.from < chosen.to) : columns.length - 1;
            const r = chosen ? lay.rowOf[chosen.first]! : Math.floor(lay.rows.length / 2);
            const c = {
                i: Math.min(columns.length - 1, Math.max(0, i + di)),
                r: Math.min(lay.rows.length - 1, Math.max(0, r + dr)),
            };
            if (columns.length > 0) pick(heat, c, c, true);
        };
        const far = (range.to - range.from) / 20;
        const done: Record<string, () => void> = {
            ArrowLeft: () => (e.shiftKey ? step(-1, 0) : scroll(-far)),
            ArrowRight: () => (e.shiftKey ? step(1, 0) : scroll(far)),
            ArrowUp: () => step(0, 1),
            ArrowDown: () => step(0, -1),
            Home: () => goTo(-Infinity),
            End: resume,
            Escape: () => (chosen ? look.set({ chosen: null }) : reset()),
            "0": reset,
        };
        const action = done[e.key];
        if (!action || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
        // focused elements that use these keys themselves keep them
        const at = e.composedPath()[0] as Element;
        if (
            at.closest?.("input, select, textarea, [contenteditable], [role=radiogroup], [role=tablist], .menu, dialog")
        )
            return;
        if (at.closest?.(".rows") && !/^(Arrow(Left|Right)|Escape|0)$/.test(e.key)) return;
        e.preventDefault();
        action();
    };
    useLayoutEffect(() => {
        addEventListener("erltrace:pause", pause);
        addEventListener("keydown", key);
        return () => {
            removeEventListener("erltrace:pause", pause);
            removeEventListener("keydown", key);
        };
    });
    const wheel = (e: WheelEvent) => {
        const d = Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.shiftKey ? e.deltaY : 0;
        if (d === 0) return;
        e.preventDefault();
        scroll(((range.to - range.from) / plot.w) * d);
    };
    return { goTo, pause, reset, wheel };
}
