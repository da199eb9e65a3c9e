// state.ts - what the heat map shows: which columns, in which rows, in which colours; worked out again when one of these changes.
//
// The map holds still while somebody points at it or has chosen something, so that what is taken is what was pointed at. What is known of a
// column stays as long as rows and keys are the same: a reading costs the work of one column.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../../app.ts";
import type { Hist } from "../../model/buckets.ts";
import { MOST_HUES, type Scale, type ScaleKind, scaleFor } from "../../model/colour.ts";
import type { Unit } from "../../model/format.ts";
import {
    type Cell,
    histOf,
    type Layout,
    layout,
    linearTop,
    MARGINS,
    outliers,
    percentileLines,
    rowCounts,
    used,
    type YScale,
    type Zoom,
} from "../../model/heat.ts";
import { liveWidth, type MapColumn, mapColumns, readings, widthOf } from "../../model/heattime.ts";
import { KeyTable } from "../../model/keytable.ts";
import type { Range } from "../../model/look.ts";
import type { Aggregation, Column, Trace } from "../../model/trace.ts";
import type { Size } from "../canvas.tsx";

const IDLE_MS = 5000; // after which a pointer that rests holds nothing any more
const WIDE = 1.5; // widths of a column: from there on counts are compared by the second

/** What the map shows while it holds still: the times, and the buckets that had counts then. */
interface Hold {
    range: Range;
    extent: [number, number] | null;
}

/** What is known of a column of the map. */
export interface ColumnData {
    stamp: string; // changes when more comes
    hist: Hist | null; // null: not known
    counts: Float64Array | null; // by row
    lines: number[] | null; // by percentile
    hues: Float64Array | null; // counts by row and key that has a hue
}

/** What all columns are drawn by. */
interface Frame {
    plot: { x: number; y: number; w: number; h: number }; // the map without its axes, px
    range: Range; // in view
    width: number; // of a column, ms
    widest: number; // of those in view, ms
    rate: boolean; // colours stand for counts by the second, since columns are not equally wide
    lay: Layout;
    y: YScale;
    kind: ScaleKind;
    percentiles: readonly number[];
    hues: readonly number[] | null; // the keys that have a hue
    filter: ReadonlySet<number> | null; // the keys that are shown
    unit: Unit;
    agg: Aggregation;
    /** The place of a time, px, on a pixel of the screen. */
    x(t: number): number;
}

/** What is drawn. */
export interface Picture extends Frame {
    columns: readonly MapColumn[]; // in view
    data: readonly ColumnData[]; // by column
    marks: readonly Cell[]; // the cells that lie apart
    scale: Scale;
    /** Whether a column follows on the one before it. */
    follows(i: number): boolean;
    /** What the colour of a cell stands for. */
    weight(i: number, r: number): number;
}

/** Where times are, px, on pixels of the screen. */
export function timeAxis(plot: Frame["plot"], range: Range): (t: number) => number {
    const ratio = window.devicePixelRatio || 1;
    const perMs = (plot.w * ratio) / (range.to - range.from);
    const end = Math.round(range.to * perMs);
    return (t) => plot.x + plot.w + (Math.round(t * perMs) - end) / ratio;
}

/** What is known of columns, by their first readings; of each node, or of all ("") together. */
export type Kept = Map<string, Map<Column, ColumnData>>;

export interface Heat {
    picture: Picture;
    kept: Kept;
    /** The readings in view, each by itself. */
    seen: readonly Column[];
    interval: number;
    live: boolean;
    zoom: Zoom | null;
    /** Holds still until release(), or until the pointer has rested for a while. */
    keep(): void;
    rest(): void;
    release(): void;
}

/** The keys that have a hue: those that are shown alone, otherwise the largest in view. A key that had one keeps it. */
function huesOf(old: readonly number[], table: KeyTable, seen: readonly Column[], filter: ReadonlySet<number> | null) {
    const largest = table.of(seen).keys.filter((k) => !filter || filter.has(k.key));
    const wanted = largest.slice(0, MOST_HUES).map((k) => k.key);
    const fresh = wanted.filter((k) => !old.includes(k));
    const next = old.map((k) => (wanted.includes(k) ? k : fresh.shift())).filter((k) => k !== undefined);
    next.push(...fresh);
    return next.join() === old.join() ? old : next;
}

function dataOf(c: MapColumn, stamp: string, p: Frame): ColumnData {
    const { agg, lay, hues, filter } = p;
    const hist = histOf(c.parts, agg.id, filter);
    const shares = p.percentiles.map((q) => q / 100);
    let byKey: Float64Array | null = null;
    if (hues && hist) {
        const place = new Map(hues.map((key, k) => [key, k]));
        byKey = new Float64Array(lay.rows.length * hues.length);
        for (const part of c.parts) {
            const cells = part.cells.get(agg.id);
            for (let i = 0; cells?.bucket && i < cells.keys.length; i++) {
                const k = place.get(cells.keys[i]!);
                if (k !== undefined) byKey[lay.rowOf[cells.bucket[i]!]! * hues.length + k]! += Math.max(0, cells.a[i]!);
            }
        }
    }
    return {
        stamp,
        hist,
        counts: hist && rowCounts(hist, lay),
        lines: percentileLines([hist], agg.buckets!, shares)[0]!,
        hues: byKey,
    };
}

/** The picture of these columns; `kept` has what is known of them already, under a name. */
export function pictureOf(frame: Frame, columns: readonly MapColumn[], kept: Kept, name: string): Picture {
    const made = new Map<Column, ColumnData>();
    for (const c of columns) {
        const [first, last] = [c.parts[0]!, c.parts[c.parts.length - 1]!];
        const stamp = `${c.parts.length} ${last.t} ${last.dt} ${c.parts.every((p) => p.keyed)}`;
        const old = kept.get(name)?.get(first);
        made.set(first, old?.stamp === stamp ? old : dataOf(c, stamp, frame));
    }
    kept.set(name, made);
    const data = [...made.values()];
    const picture = {
        ...frame,
        columns,
        data,
        marks: outliers(data.map((d) => d.counts)),
        follows: (i: number) => i > 0 && i < columns.length && columns[i]!.from === columns[i - 1]!.t,
        weight: (i: number, r: number) =>
            data[i]!.counts![r]! *
            frame.lay.rows[r]!.even *
            (frame.rate ? 1000 / (columns[i]!.t - columns[i]!.from) : 1),
    };
    return { ...picture, scale: scaleOver([picture]) };
}

/** One scale for all of these pictures. */
export function scaleOver(pictures: readonly Omit<Picture, "scale">[]): Scale {
    const { kind, rate, widest } = pictures[0]!;
    function* weights() {
        for (const p of pictures)
            for (let i = 0; i < p.data.length; i++) {
                const { counts } = p.data[i]!;
                for (let r = 0; counts && r < counts.length; r++) if (counts[r]! > 0) yield p.weight(i, r);
            }
    }
    return scaleFor(kind, weights(), rate ? 1000 / widest : 1);
}

export function useHeat(trace: Trace, agg: Aggregation, size: Size): Heat {
    const interval = trace.fine.length > 0 ? trace.info.interval : Math.max(1000, trace.info.interval); // of readings
    const [hold, setHold] = useState<Hold | null>(null);
    const idle = useRef(0);
    const v = app.view;
    const look = app.look.of(agg);
    const unit = app.unitOf(agg);
    const buckets = agg.buckets!;
    const all = trace.columns;
    const news = hold ? null : trace.version; // what comes while the map holds still does not matter

    const { zoom } = look;
    const live = look.range === null && hold === null;
    const silent = live ? trace.silent : 0;
    const range = useMemo((): Range => {
        if (look.range ?? hold) return look.range ?? hold!.range;
        const began = all[0] ? all[0].t - all[0].dt : trace.t;
        const wide = liveWidth(trace.t - began, look.width, interval);
        const to = trace.t + Math.min(silent, wide / 2); // however long nothing comes, what came last stays in view
        return { from: to - wide, to };
    }, [look.range, hold, news, silent, look.width]);

    const plot = useMemo(
        () => ({
            x: MARGINS.left,
            y: MARGINS.top,
            w: Math.max(10, size.width - MARGINS.left - MARGINS.right),
            h: Math.max(10, size.height - MARGINS.top - MARGINS.bottom),
        }),
        [size],
    );
    const width = widthOf(v.column, interval, range.to - range.from, plot.w);
    const columns = useMemo(
        () => mapColumns(readings(all, trace.fine, width), range, width, interval),
        [news, hold, range, width],
    );
    const seen = useMemo(() => {
        const within = (c: Column) => c.t - c.dt / 2 > range.from && c.t - c.dt / 2 <= range.to;
        return readings(all, trace.fine, interval).filter(within);
    }, [news, hold, range]);
    const filter = look.filter.size > 0 ? look.filter : null;

    const extent = useMemo(() => (hold ? hold.extent : used(all, agg.id)), [news, hold, agg]);
    const [low, high] = extent ?? [-1, -1];
    const top = useMemo(
        () => (extent && !zoom && v.y === "linear" ? Math.max(low, linearTop(all, agg.id, buckets)) : high),
        [news, extent, zoom, v.y],
    );
    const lay = useMemo(
        () => layout(buckets, low < 0 ? null : [low, top], zoom, v.y, plot.h),
        [agg, low, top, zoom, v.y, plot.h],
    );

    const table = useMemo(() => new KeyTable(agg), [agg]);
    const lastHues = useRef<readonly number[]>([]);
    const hues = useMemo(
        () => (v.hue ? (lastHues.current = huesOf(lastHues.current, table, seen, filter)) : null),
        [v.hue, seen, filter, table],
    );
    const kept = useMemo((): Kept => new Map(), [agg, filter, lay, v.percentiles, hues]);

    const picture = useMemo(() => {
        const widest = columns.reduce((most, c) => Math.max(most, c.t - c.from), 0);
        const frame: Frame = {
            plot,
            range,
            width,
            widest,
            rate: widest > WIDE * width,
            lay,
            y: v.y,
            kind: v.scale,
            percentiles: v.percentiles,
            hues,
            filter,
            unit,
            agg,
            x: timeAxis(plot, range),
        };
        return pictureOf(frame, columns, kept, "");
    }, [news, hold, columns, kept, v.scale, plot, unit]);

    const release = () => {
        clearTimeout(idle.current);
        setHold(null);
    };
    useEffect(() => () => clearTimeout(idle.current), []);
    return {
        picture,
        kept,
        seen,
        interval,
        live,
        zoom,
        keep() {
            clearTimeout(idle.current);
            if (look.range === null && columns.length > 0) setHold((old) => old ?? { range: picture.range, extent });
        },
        rest() {
            clearTimeout(idle.current);
            idle.current = setTimeout(() => setHold(null), IDLE_MS) as unknown as number;
        },
        release,
    };
}
