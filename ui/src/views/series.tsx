// series.tsx - lines over time, by key. model/series.ts says what they are.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { seriesCsv, traceJson } from "../model/export.ts";
import { clock, compact, value } from "../model/format.ts";
import { isAmount, isSum } from "../model/functions.ts";
import { spanOf } from "../model/heat.ts";
import { linesOf, steps, type Line, type Measure } from "../model/series.ts";
import { ALL, keyText, type Aggregation, type Trace } from "../model/trace.ts";
import { css, font, lineColours, prepare, save, savePng, useSize } from "./canvas.tsx";
import { Menu, Pause, Search, Segments, Toggle } from "./widgets.tsx";

const MOST = 10;
const LEFT = 62;
const TOP = 10;
const RIGHT = 14;
const BOTTOM = 24;

export function Series({ trace, agg }: { trace: Trace; agg: Aggregation }) {
    const box = useRef<HTMLDivElement>(null);
    const base = useRef<HTMLCanvasElement>(null);
    const over = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const [seconds, setSeconds] = useState(120);
    const [held, setHeld] = useState<number | null>(null); // n of the last column
    const [search, setSearch] = useState("");
    const [off, setOff] = useState<ReadonlySet<number>>(new Set());
    const [x, setX] = useState<number | null>(null);
    const [mark, setMark] = useState<number | null>(null); // the key of the line under the pointer in the legend
    const unit = app.unitOf(agg);
    const measure = agg.hist ? app.view.measure : "rate";
    const rate = isSum(agg.fn) || (agg.hist && measure === "rate");
    const interval = Math.max(1000, trace.info.interval); // of a column
    const span = spanOf(trace.columns.length, seconds, interval);
    const stacked = app.view.stacked && rate;

    const { columns, lines } = useMemo(() => {
        const lastIndex = held === null ? trace.columns.length - 1 : trace.columns.findLastIndex((c) => c.n <= held);
        const columns = trace.columns.slice(Math.max(0, lastIndex - span + 1), lastIndex + 1);
        const wanted = search.trim().toLowerCase();
        const only = wanted ? new Set([...agg.keys.keys()].filter((k) => keyText(agg.parts(k)).toLowerCase().includes(wanted))) : null;
        return { columns, lines: linesOf(agg, columns, measure, MOST, only) };
    }, [trace.version, agg, measure, search, span, held]);
    const colours = lineColours();
    const colourOf = (l: Line, i: number) => (l.key === ALL ? css("--text") : colours[(lines[0]?.key === ALL ? i - 1 : i) % colours.length]!);
    const text = (v: number) => (rate && !isAmount(agg.fn) ? `${compact(v)}/s` : rate ? `${value(v, unit)}/s` : value(v, unit));
    const visible = lines.filter((l) => !off.has(l.key) && !(stacked && l.key === ALL));

    const plot = { x: LEFT, y: TOP, w: Math.max(10, size.width - LEFT - RIGHT), h: Math.max(10, size.height - TOP - BOTTOM) };
    const per = plot.w / Math.max(1, span - 1);
    const xOf = (i: number) => plot.x + plot.w - (columns.length - 1 - i) * per;

    const { hi, lo, sums } = useMemo(() => {
        let hi = 0;
        let lo = 0;
        const sums = visible.map((l) => Float64Array.from(l.values));
        if (stacked) for (let k = 1; k < sums.length; k++) for (let i = 0; i < columns.length; i++) sums[k]![i]! += Number.isNaN(sums[k - 1]![i]!) ? 0 : sums[k - 1]![i]!;
        for (const s of sums)
            for (const v of s)
                if (!Number.isNaN(v)) {
                    hi = Math.max(hi, v);
                    lo = Math.min(lo, v);
                }
        return { hi: hi === lo ? lo + 1 : hi, lo, sums };
    }, [lines, off, stacked]);
    const ticks = steps(lo, hi, Math.max(2, Math.floor(plot.h / 46)));
    const top = Math.max(hi, ticks[ticks.length - 1] ?? hi) * 1.04;
    const yOf = (v: number) => plot.y + plot.h - ((v - lo) / (top - lo)) * plot.h;

    useEffect(() => {
        if (size.width === 0) return;
        const cx = prepare(base.current!, size);
        cx.font = font(10.5);
        cx.textBaseline = "middle";
        cx.textAlign = "right";
        for (const t of ticks) {
            const y = Math.round(yOf(t)) + 0.5;
            cx.strokeStyle = t === 0 ? css("--line-strong") : css("--grid");
            cx.beginPath();
            cx.moveTo(plot.x, y);
            cx.lineTo(plot.x + plot.w, y);
            cx.stroke();
            cx.fillStyle = css("--muted");
            cx.fillText(rate && !isAmount(agg.fn) ? compact(t) : value(t, unit), plot.x - 8, y);
        }
        cx.textAlign = "center";
        const step = [1, 2, 5, 10, 15, 30, 60, 120, 300].find((s) => ((s * 1000) / interval) * per >= 84) ?? 600;
        let lastLabel = -Infinity;
        columns.forEach((c, i) => {
            const sec = Math.floor(c.t / 1000);
            const before = i > 0 ? Math.floor(columns[i - 1]!.t / 1000) : sec - 1;
            const mark = Math.floor(sec / step) * step;
            const px = xOf(i);
            if (mark <= before || px - lastLabel < 66 || px < plot.x + 20 || px > plot.x + plot.w - 20) return;
            lastLabel = px;
            cx.fillStyle = css("--muted");
            cx.fillText(clock(mark), px, plot.y + plot.h + 14);
            cx.strokeStyle = css("--line-strong");
            cx.beginPath();
            cx.moveTo(Math.round(px) + 0.5, plot.y + plot.h);
            cx.lineTo(Math.round(px) + 0.5, plot.y + plot.h + 4);
            cx.stroke();
        });
        cx.save();
        cx.beginPath();
        cx.rect(plot.x, 0, plot.w + RIGHT, plot.y + plot.h + 2);
        cx.clip();
        for (let k = visible.length - 1; k >= 0; k--) {
            const l = visible[k]!;
            const colour = colourOf(l, lines.indexOf(l));
            const s = sums[k]!;
            const path = new Path2D();
            let pen = false;
            for (let i = 0; i < columns.length; i++) {
                const v = s[i]!;
                if (Number.isNaN(v)) {
                    pen = false;
                    continue;
                }
                if (pen) path.lineTo(xOf(i), yOf(v));
                else path.moveTo(xOf(i), yOf(v));
                pen = true;
                const alone = (i === 0 || Number.isNaN(s[i - 1]!)) && (i === columns.length - 1 || Number.isNaN(s[i + 1]!));
                if (alone) {
                    cx.fillStyle = colour;
                    cx.fillRect(xOf(i) - 1.5, yOf(v) - 1.5, 3, 3);
                }
            }
            if (stacked) {
                const area = new Path2D(path);
                area.lineTo(xOf(columns.length - 1), yOf(0));
                area.lineTo(xOf(0), yOf(0));
                cx.fillStyle = css("--panel");
                cx.fill(area);
                cx.fillStyle = colour;
                cx.globalAlpha = 0.55;
                cx.fill(area);
                cx.globalAlpha = 1;
            }
            cx.strokeStyle = colour;
            cx.globalAlpha = mark === null || mark === l.key ? 1 : 0.25;
            cx.lineWidth = mark === l.key ? 3.5 : l.key === ALL ? 1.2 : 1.7;
            cx.setLineDash(l.key === ALL ? [5, 3] : []);
            cx.lineJoin = "round";
            cx.stroke(path);
            cx.globalAlpha = 1;
        }
        cx.restore();
    }, [lines, sums, size, app.dark, unit, mark]);

    const at = x === null || columns.length === 0 ? null : Math.min(columns.length - 1, Math.max(0, Math.round((x - xOf(0)) / per)));
    useEffect(() => {
        if (size.width === 0) return;
        const cx = prepare(over.current!, size);
        if (at === null) return;
        cx.strokeStyle = css("--mark");
        cx.globalAlpha = 0.4;
        cx.beginPath();
        cx.moveTo(Math.round(xOf(at)) + 0.5, plot.y);
        cx.lineTo(Math.round(xOf(at)) + 0.5, plot.y + plot.h);
        cx.stroke();
        cx.globalAlpha = 1;
        visible.forEach((l, k) => {
            const v = sums[k]![at]!;
            if (Number.isNaN(v)) return;
            cx.fillStyle = colourOf(l, lines.indexOf(l));
            cx.beginPath();
            cx.arc(xOf(at), yOf(v), 3, 0, 2 * Math.PI);
            cx.fill();
        });
    }, [at, lines, sums, size]);

    useLayoutEffect(() => {
        const space = () => setHeld(held === null ? (trace.columns[trace.columns.length - 1]?.n ?? null) : null);
        addEventListener("erltrace:pause", space);
        return () => removeEventListener("erltrace:pause", space);
    });

    const name = `erltrace-${agg.name.replace(/\W/g, "") || "series"}`;
    const values = at ?? columns.length - 1;
    return (
        <div class="series">
            <div class="toolbar">
                {agg.hist && (
                    <Segments<Measure>
                        label="of each key"
                        value={app.view.measure}
                        options={[["rate", "values /s"], ["p50", "p50"], ["p90", "p90"], ["p99", "p99"]]}
                        onChange={(measure) => app.setView({ measure })}
                    />
                )}
                {rate && (
                    <Toggle on={app.view.stacked} title="stacked areas" onChange={(stacked) => app.setView({ stacked })}>
                        stacked
                    </Toggle>
                )}
                <Segments
                    label="min"
                    value={String(seconds / 60)}
                    options={["1", "2", "5", "10"].map((t) => [t, t, `the last ${t} min`] as const)}
                    onChange={(s) => setSeconds(Number(s) * 60)}
                />
                <Search value={search} placeholder="search keys" onInput={setSearch} main />
                <span class="grow" />
                <Pause held={held !== null} over={trace.stopped !== null} onChange={(on) => setHeld(on ? (trace.columns[trace.columns.length - 1]?.n ?? null) : null)} />
                <Menu
                    label="export"
                    items={[
                        ["PNG image", () => savePng(`${name}.png`, `${trace.info.name} · ${agg.name} · ${trace.info.node}`, [base.current!])],
                        ["CSV", () => save(`${name}.csv`, seriesCsv(agg, columns, lines), "text/csv")],
                        ["JSON of everything", () => save(`${name}.json`, traceJson(trace), "application/json")],
                    ]}
                />
            </div>
            <div class="series-body">
                <div class="series-map" ref={box} onPointerMove={(e) => setX(e.clientX - box.current!.getBoundingClientRect().left)} onPointerLeave={() => setX(null)}>
                    <canvas class="layer" ref={base} data-testid="series" />
                    <canvas class="layer" ref={over} />
                    {lines.length === 0 && <div class="nothing over">{search ? "no such key" : "nothing yet"}</div>}
                </div>
                <ul class="series-legend" aria-label="lines">
                    <li class="series-time">{at === null ? "last" : clock((columns[at]?.t ?? 0) / 1000)}</li>
                    {lines.map((l, i) => (
                        <li key={l.key}>
                            <button
                                type="button"
                                aria-pressed={!off.has(l.key)}
                                class={off.has(l.key) ? "off" : ""}
                                onPointerEnter={() => setMark(l.key)}
                                onPointerLeave={() => setMark(null)}
                                onFocus={() => setMark(l.key)}
                                onBlur={() => setMark(null)}
                                title={`${l.key === ALL ? "all keys together" : keyText(agg.parts(l.key))}; click to hide or show`}
                                onClick={() => {
                                    const next = new Set(off);
                                    if (!next.delete(l.key)) next.add(l.key);
                                    setOff(next);
                                }}
                            >
                                <i style={{ background: colourOf(l, i) }} />
                                <span class="name">{l.key === ALL ? "all keys" : keyText(agg.parts(l.key))}</span>
                                <span class="num">{Number.isNaN(l.values[values] ?? NaN) ? "–" : text(l.values[values]!)}</span>
                            </button>
                        </li>
                    ))}
                    {agg.keys.size > MOST && <li class="muted">the {MOST} largest of {agg.keys.size}; search for others</li>}
                </ul>
            </div>
        </div>
    );
}
