// series.tsx - lines over time, by key. model/series.ts says what they are.
//
// The same drawing is on the screen and in files, also as SVG.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { fileName } from "../keep.ts";
import { about, described, seriesCsv } from "../model/export.ts";
import { atLeast, clock, compact, value } from "../model/format.ts";
import { isAmount, isSum } from "../model/functions.ts";
import { type Line, linesOf, type Measure, middle, steps, timed, timeSteps } from "../model/series.ts";
import { type Aggregation, ALL, type Column, keyText, type Trace } from "../model/trace.ts";
import { WIDTHS } from "../model/url.ts";
import { clip, css, font, lineColours, Path, prepare, save, useSize } from "./canvas.tsx";
import { Export } from "./export.tsx";
import { useLooked, useSearch } from "./looked.ts";
import { drawFlags, Flags, useMarks } from "./marks.tsx";
import { namesLegend, pictures } from "./sheet.ts";
import { Middle, Pause, Search, Segments, Toggle } from "./widgets.tsx";
import "../style/series.css";

const MOST = 10;
const [LEFT, TOP, BOTTOM] = [62, 10, 24]; // px
const LABEL = 84; // px that a label of time needs

export function Series({ trace, agg }: { trace: Trace; agg: Aggregation }) {
    const box = useRef<HTMLDivElement>(null);
    const base = useRef<HTMLCanvasElement>(null);
    const over = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const [search, setSearch] = useSearch("series");
    const [off, setOff] = useState<ReadonlySet<number>>(new Set());
    const [pointer, setPointer] = useState<{ x: number; from: number | null } | null>(null); // from: where a drag began
    const [mark, setMark] = useState<number | null>(null); // the key of the line under the pointer in the legend
    const looked = useLooked(trace, agg);
    const { look } = app;
    const unit = app.unitOf(agg);
    const measure = agg.hist ? app.view.measure : "rate";
    const rate = isSum(agg.fn) || (agg.hist && measure === "rate");
    const stacked = app.view.stacked && rate;
    const interval = Math.max(1000, trace.info.interval); // of a column

    const { columns, lines } = useMemo(() => {
        const from = look.range ? -Infinity : trace.t - look.width;
        const columns = looked.columns.filter((c) => c.t > from);
        const wanted = search.trim().toLowerCase();
        const only = wanted
            ? new Set(
                  [...(looked.keys ?? agg.keys.keys())].filter((k) =>
                      keyText(agg.parts(k)).toLowerCase().includes(wanted),
                  ),
              )
            : looked.keys;
        return { columns, lines: linesOf(agg, columns, measure, MOST, only) };
    }, [looked.stamp, looked.keys, agg, measure, search, look.width]);
    const keyed = lines.filter((l) => l.key !== ALL);
    const colours = lineColours();
    const colourOf = (l: Line) =>
        l.key === ALL ? css("--text") : colours[Math.max(0, keyed.indexOf(l)) % colours.length]!;
    const text = (v: number) =>
        rate && !isAmount(agg.fn) ? `${compact(v)}/s` : rate ? `${value(v, unit)}/s` : value(v, unit);
    const least = (l: Line) =>
        (!agg.hist || measure !== "rate") && (l.key === ALL ? agg.atLeast.size > 0 : agg.atLeast.has(l.key));
    // the line over all keys would make the others flat, so it is drawn when it is asked for, and on an axis of its own
    const drawn = (l: Line) => (l.key === ALL ? app.view.total : !off.has(l.key));
    const visible = useMemo(
        () => [...lines.filter((l) => l.key === ALL), ...keyed].filter(drawn),
        [lines, off, app.view.total],
    );
    const data = useMemo(() => timed(columns, visible, interval, stacked), [columns, visible, stacked]);

    const [times, ...values] = data;
    const whole = visible[0]?.key === ALL; // it has the axis at the right
    const plot = {
        x: LEFT,
        y: TOP,
        w: Math.max(10, size.width - LEFT - (whole ? LEFT : 14)),
        h: Math.max(10, size.height - TOP - BOTTOM),
    };
    const [t0, t1] = look.range
        ? [look.range.from / 1000, look.range.to / 1000]
        : [times[0] ?? 0, Math.max(times.at(-1) ?? 1, (times[0] ?? 0) + 1)];
    const xOf = (t: number) => plot.x + ((t - t0) / (t1 - t0)) * plot.w;
    const timeOf = (x: number) => t0 + ((x - plot.x) / plot.w) * (t1 - t0);
    // an axis from zero, or from the least value if that is below it, with a little room above
    const axis = (rows: readonly (readonly (number | null)[])[]) => {
        let [lo, hi] = [0, 0];
        for (const row of rows) for (const v of row) [lo, hi] = [Math.min(lo, v ?? 0), Math.max(hi, v ?? 0)];
        const ticks = steps(lo, hi === lo ? lo + 1 : hi, Math.max(2, Math.floor(plot.h / 46)));
        const top = Math.max(hi, ticks.at(-1) ?? hi, lo + 1e-9) * 1.04;
        return { ticks, y: (v: number) => plot.y + plot.h - ((v - lo) / (top - lo)) * plot.h };
    };
    const keysAxis = useMemo(() => axis(whole ? values.slice(1) : values), [data, plot.h]);
    const wholeAxis = useMemo(() => (whole ? axis([values[0]!]) : null), [data, plot.h]);
    const yOf = (k: number, v: number) => (whole && k === 0 ? wholeAxis! : keysAxis).y(v);
    const figure = (t: number) => (rate && !isAmount(agg.fn) ? compact(t) : value(t, unit));

    const draw = (cx: CanvasRenderingContext2D) => {
        cx.font = font(10.5);
        cx.textBaseline = "middle";
        cx.textAlign = "right";
        for (const t of keysAxis.ticks) {
            const y = Math.round(keysAxis.y(t)) + 0.5;
            cx.strokeStyle = t === 0 ? css("--line-strong") : css("--grid");
            cx.beginPath();
            cx.moveTo(plot.x, y);
            cx.lineTo(plot.x + plot.w, y);
            cx.stroke();
            cx.fillStyle = css("--muted");
            cx.fillText(figure(t), plot.x - 8, y);
        }
        cx.textAlign = "left";
        for (const t of wholeAxis?.ticks ?? []) cx.fillText(figure(t), plot.x + plot.w + 8, wholeAxis!.y(t));
        cx.textAlign = "center";
        for (const t of timeSteps(t0, t1, plot.w / LABEL)) {
            const x = Math.round(xOf(t)) + 0.5;
            if (x > plot.x + 20 && x < plot.x + plot.w - 20) cx.fillText(clock(t), x, plot.y + plot.h + 14);
            cx.strokeStyle = css("--line-strong");
            cx.beginPath();
            cx.moveTo(x, plot.y + plot.h);
            cx.lineTo(x, plot.y + plot.h + 4);
            cx.stroke();
        }
        cx.save();
        cx.beginPath();
        cx.rect(plot.x, 0, plot.w, plot.y + plot.h + 2);
        cx.clip();
        for (let k = visible.length - 1; k >= 0; k--) {
            const l = visible[k]!;
            const row = values[k]!;
            const path = new Path();
            const area = new Path();
            const fills = stacked && l.key !== ALL;
            cx.fillStyle = cx.strokeStyle = colourOf(l);
            for (let i = 0; i < row.length; i++) {
                const v = row[i]!;
                if (v === null) continue;
                const [x, y] = [xOf(times[i]!), yOf(k, v)];
                const [first, last] = [(row[i - 1] ?? null) === null, (row[i + 1] ?? null) === null];
                if (first) path.moveTo(x, y), area.moveTo(x, yOf(k, 0));
                else path.lineTo(x, y);
                area.lineTo(x, y);
                if (last) area.lineTo(x, yOf(k, 0));
                if (first && last) cx.fillRect(x - 1.5, y - 1.5, 3, 3);
            }
            if (fills) {
                cx.fillStyle = css("--panel");
                cx.fill(area);
                cx.fillStyle = colourOf(l);
                cx.globalAlpha = 0.55;
                cx.fill(area);
            }
            cx.globalAlpha = mark === null || mark === l.key ? 1 : 0.25;
            cx.lineWidth = mark === l.key ? 3.5 : l.key === ALL ? 1.2 : 1.7;
            cx.setLineDash(l.key === ALL ? [5, 3] : []);
            cx.lineJoin = "round";
            cx.stroke(path);
            cx.globalAlpha = 1;
        }
        cx.restore();
    };
    useEffect(() => {
        if (size.width > 0) draw(prepare(base.current!, size));
    }, [data, size, app.dark, unit, mark]);

    // the nearest column to the pointer
    const under = useMemo(() => {
        if (pointer === null) return columns.length - 1;
        const t = timeOf(pointer.x);
        const from = (c: Column) => Math.abs(middle(c) - t);
        return columns.reduce((best, c, i) => (from(c) < from(columns[best]!) ? i : best), 0);
    }, [pointer, data, size]);
    useEffect(() => {
        if (size.width === 0) return;
        const cx = prepare(over.current!, size);
        const c = columns[under];
        if (pointer === null || !c) return;
        if (pointer.from !== null) {
            cx.fillStyle = css("--pick");
            cx.globalAlpha = 0.2;
            cx.fillRect(pointer.from, plot.y, pointer.x - pointer.from, plot.h);
            cx.globalAlpha = 1;
        }
        const x = xOf(middle(c));
        cx.strokeStyle = css("--muted");
        cx.beginPath();
        cx.moveTo(Math.round(x) + 0.5, plot.y);
        cx.lineTo(Math.round(x) + 0.5, plot.y + plot.h);
        cx.stroke();
        const i = times.indexOf(middle(c));
        visible.forEach((l, k) => {
            const v = values[k]![i] ?? null;
            if (v === null) return;
            cx.fillStyle = colourOf(l);
            cx.beginPath();
            cx.arc(x, yOf(k, v), 3, 0, 2 * Math.PI);
            cx.fill();
        });
    }, [pointer, under, data, size]);
    const place = (e: PointerEvent) =>
        Math.min(plot.x + plot.w, Math.max(plot.x, e.clientX - box.current!.getBoundingClientRect().left));
    const drop = (e: PointerEvent) => {
        const [from, to] = [pointer?.from ?? place(e), place(e)].sort((a, b) => a - b) as [number, number];
        setPointer({ x: place(e), from: null });
        if (to - from >= 5)
            look.set({ range: { from: Math.round(1000 * timeOf(from)), to: Math.round(1000 * timeOf(to)) } });
    };
    const marks = useMarks(trace);
    const flags = marks
        .filter((m) => m.t / 1000 >= t0 && m.t / 1000 <= t1)
        .map((mark) => ({ mark, x: xOf(mark.t / 1000) }));
    const sheet = () => ({
        trace,
        agg,
        columns,
        filter: looked.keys,
        ...size,
        draw(cx: CanvasRenderingContext2D) {
            draw(cx);
            drawFlags(cx, flags, plot);
        },
        legend: namesLegend(
            size.width,
            visible.map((l) => ({
                name: l.key === ALL ? "all keys" : clip(keyText(agg.parts(l.key)), 60),
                colour: colourOf(l),
            })),
        ),
    });
    const alone = (key: number) => {
        const others = keyed.filter((l) => l.key !== key).map((l) => l.key);
        setOff(new Set(others.every((k) => off.has(k)) ? [] : others));
    };
    return (
        <div class="series">
            <div class="toolbar">
                {agg.hist && (
                    <Segments<Measure>
                        label="of each key"
                        value={app.view.measure}
                        options={[
                            ["rate", "values /s"],
                            ["p50", "p50"],
                            ["p90", "p90"],
                            ["p99", "p99"],
                        ]}
                        onChange={(measure) => app.setView({ measure })}
                    />
                )}
                {rate && (
                    <Toggle
                        on={app.view.stacked}
                        title="stacked areas"
                        onChange={(stacked) => app.setView({ stacked })}
                    >
                        stacked
                    </Toggle>
                )}
                {lines.length > keyed.length && (
                    <Toggle
                        on={app.view.total}
                        title="a line over all keys, with an axis of its own at the right"
                        onChange={(total) => app.setView({ total })}
                    >
                        all keys
                    </Toggle>
                )}
                <Segments
                    label="min"
                    value={look.range ? "" : String(look.width / 60_000)}
                    options={WIDTHS.filter((w) => w >= 60_000)
                        .map((w) => String(w / 60_000))
                        .map((m) => [m, m, `the last ${m} min`] as const)}
                    onChange={(m) => look.set({ width: Number(m) * 60_000, range: null })}
                />
                <Search value={search} placeholder="search keys" onInput={setSearch} main />
                <span class="grow" />
                <Pause held={looked.held} over={trace.stopped !== null} onChange={looked.pause} />
                <Export
                    trace={trace}
                    items={[
                        ...pictures(sheet),
                        [
                            "CSV",
                            () =>
                                save(
                                    `${fileName(agg.name)}.csv`,
                                    described(about(trace, agg, columns, looked.keys), seriesCsv(agg, columns, lines)),
                                    "text/csv",
                                ),
                        ],
                    ]}
                />
            </div>
            <div class="series-body">
                <div
                    class="series-map"
                    ref={box}
                    role="img"
                    aria-label={`time series of ${agg.name}; values are in the list of lines`}
                    onPointerDown={(e) => {
                        if (e.button !== 0) return;
                        e.currentTarget.setPointerCapture(e.pointerId);
                        setPointer({ x: place(e), from: place(e) });
                    }}
                    onPointerMove={(e) => setPointer({ x: place(e), from: pointer?.from ?? null })}
                    onPointerUp={drop}
                    onPointerCancel={() => setPointer(null)}
                    onPointerLeave={() => pointer?.from ?? setPointer(null)}
                >
                    <canvas class="layer" ref={base} data-testid="series" />
                    <canvas class="layer" ref={over} />
                    <Flags trace={trace} places={flags} top={plot.y} height={plot.h} at={(x) => timeOf(x) * 1000} />
                    {lines.length === 0 && <div class="nothing over">{search ? "no such key" : "nothing yet"}</div>}
                </div>
                <ul class="series-legend" aria-label="lines">
                    <li class="series-time">
                        {pointer === null || !columns[under] ? "last" : clock(columns[under].t / 1000)}
                    </li>
                    {lines.map((l) => (
                        <li key={l.key}>
                            <button
                                type="button"
                                aria-pressed={drawn(l)}
                                class={drawn(l) ? "" : "off"}
                                onPointerEnter={() => setMark(l.key)}
                                onPointerLeave={() => setMark(null)}
                                onFocus={() => setMark(l.key)}
                                onBlur={() => setMark(null)}
                                title={`${l.key === ALL ? "all keys together" : keyText(agg.parts(l.key))}; click to hide or show${l.key === ALL ? "" : ", Shift+click for it alone"}`}
                                onClick={(e) => {
                                    if (l.key === ALL) app.setView({ total: !app.view.total });
                                    else if (e.shiftKey) alone(l.key);
                                    else {
                                        const next = new Set(off);
                                        if (!next.delete(l.key)) next.add(l.key);
                                        setOff(next);
                                    }
                                }}
                            >
                                <i style={{ background: colourOf(l) }} />
                                <span class="name">
                                    <Middle text={l.key === ALL ? "all keys" : keyText(agg.parts(l.key))} />
                                </span>
                                <span class="num">
                                    {Number.isNaN(l.values[under] ?? NaN)
                                        ? "–"
                                        : atLeast(text(l.values[under]!), least(l))}
                                </span>
                            </button>
                        </li>
                    ))}
                    {off.size > 0 && (
                        <li class="muted">
                            <button type="button" onClick={() => setOff(new Set())}>
                                show all lines
                            </button>
                        </li>
                    )}
                    {agg.keys.size > MOST && (
                        <li class="muted">
                            the {MOST} largest of {looked.keys?.size ?? agg.keys.size}; search for others
                        </li>
                    )}
                </ul>
            </div>
        </div>
    );
}
