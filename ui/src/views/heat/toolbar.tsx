// toolbar.tsx - the choices above the heat map.
import { app } from "../../app.ts";
import { fileName } from "../../keep.ts";
import type { ScaleKind } from "../../model/colour.ts";
import { about, described, heatCsv } from "../../model/export.ts";
import { MARGINS, type YScale } from "../../model/heat.ts";
import { COLUMNS } from "../../model/heattime.ts";
import type { Aggregation, Trace } from "../../model/trace.ts";
import { WIDTHS } from "../../model/url.ts";
import { css, font, save } from "../canvas.tsx";
import { Export } from "../export.tsx";
import { drawMarking } from "../marks.tsx";
import { pictures } from "../sheet.ts";
import { Pause, Segments, Toggle } from "../widgets.tsx";
import { drawMap } from "./draw.ts";
import { sheetLegend } from "./legend.tsx";
import type { Drag, Moves } from "./pointer.ts";
import type { Heat, Picture } from "./state.ts";

const long = (ms: number): string => (ms < 1000 ? `${ms} ms` : ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`);

interface Props {
    trace: Trace;
    agg: Aggregation;
    heat: Heat;
    moves: Moves;
    drag: Drag;
    onDrag: (drag: Drag) => void;
    /** What is drawn, by the name of the node if there are several maps. */
    maps: readonly (readonly [string, Picture])[];
}

export function Toolbar({ trace, agg, heat, moves, drag, onDrag, maps }: Props) {
    const v = app.view;
    const { look } = app;
    const { plot } = heat.picture;
    const columns = heat.seen;
    const filter = look.filter.size > 0 ? look.filter : null;
    const sheet = () => ({
        trace,
        agg,
        columns,
        filter,
        width: plot.x + plot.w + MARGINS.right,
        ...sheetMaps(trace, maps),
        legend: sheetLegend(maps[0]![1]),
    });
    const cells = () =>
        save(
            `${fileName(agg.name)}.csv`,
            described(about(trace, agg, columns, filter), heatCsv(agg, columns, filter)),
            "text/csv",
        );
    return (
        <div class="toolbar">
            <Segments<YScale>
                label="y"
                value={v.y}
                options={[
                    ["log", "log"],
                    ["linear", "linear"],
                ]}
                onChange={(y) => (look.set({ zoom: null }), app.setView({ y }))}
            />
            <Segments<ScaleKind>
                label="colour"
                value={v.scale}
                options={[
                    ["log", "log", "by the logarithm of the count"],
                    ["rank", "rank", "by the share of cells with less: shows structure, whatever the counts are"],
                    ["linear", "linear", "by count"],
                ]}
                onChange={(scale) => app.setView({ scale })}
            />
            <Toggle
                on={v.hue}
                title="a hue for each of the largest keys, or of those that are chosen; the rest is grey"
                onChange={(hue) => app.setView({ hue })}
            >
                by key
            </Toggle>
            <div class="segments" role="group" aria-label="percentile lines">
                <span class="segments-label">lines</span>
                {[50, 90, 99].map((p) => (
                    <button
                        key={p}
                        type="button"
                        aria-pressed={v.percentiles.includes(p)}
                        class={v.percentiles.includes(p) ? "on" : ""}
                        title={`the ${p}th percentile of each column`}
                        onClick={() =>
                            app.setView({
                                percentiles: v.percentiles.includes(p)
                                    ? v.percentiles.filter((q) => q !== p)
                                    : [...v.percentiles, p].sort((a, b) => a - b),
                            })
                        }
                    >
                        p{p}
                    </button>
                ))}
            </div>
            <label class="pick">
                <span>time</span>
                <select
                    value={look.width}
                    aria-label="time in view"
                    onChange={(e) => look.set({ width: Number(e.currentTarget.value), range: null })}
                >
                    {WIDTHS.map((ms) => (
                        <option key={ms} value={ms}>
                            {long(ms)}
                        </option>
                    ))}
                </select>
            </label>
            <label class="pick">
                <span>column</span>
                <select
                    value={v.column}
                    aria-label="width of a column"
                    title="how much time a column stands for; at least what a reading does, and a pixel"
                    onChange={(e) => app.setView({ column: Number(e.currentTarget.value) })}
                >
                    <option value={0}>auto{v.column === 0 ? ` (${long(heat.picture.width)})` : ""}</option>
                    {COLUMNS.filter((ms) => ms >= heat.interval || ms === v.column).map((ms) => (
                        <option key={ms} value={ms}>
                            {long(ms)}
                        </option>
                    ))}
                </select>
            </label>
            <Segments<Drag>
                label="drag"
                value={drag}
                options={[
                    ["select", "compare", "drag a rectangle: its keys against all others (Shift: zoom)"],
                    ["zoom", "zoom", "drag a rectangle to see more of it (Shift: compare)"],
                ]}
                onChange={onDrag}
            />
            {(heat.zoom || look.range !== null) && (
                <button type="button" onClick={moves.reset} title="the whole map again (0)">
                    reset zoom
                </button>
            )}
            <span class="grow" />
            <Pause held={look.paused} over={trace.stopped !== null} onChange={moves.pause} />
            <Export trace={trace} items={[...pictures(sheet), ["CSV of cells", cells]]} />
        </div>
    );
}

/** The maps in a picture, one below the other, each with its name above. */
function sheetMaps(trace: Trace, maps: readonly (readonly [string, Picture])[]) {
    const top = (name: string) => (name ? 20 : 0);
    const high = (name: string, { plot }: Picture) => top(name) + plot.y + plot.h + MARGINS.bottom;
    return {
        height: maps.reduce((sum, [name, p]) => sum + high(name, p), 0),
        draw(cx: CanvasRenderingContext2D) {
            for (const [name, p] of maps) {
                cx.font = font(12, 700);
                cx.fillStyle = css("--text");
                cx.textBaseline = "middle";
                cx.textAlign = "left";
                cx.fillText(name, 14, top(name) / 2);
                cx.save();
                cx.translate(0, top(name));
                drawMap(cx, p);
                drawMarking(cx, trace, p);
                cx.restore();
                cx.translate(0, high(name, p));
            }
        },
    };
}
