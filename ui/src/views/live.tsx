// live.tsx - the small maps of the first page.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { app, useApp } from "../app.ts";
import { DEAR, type Running } from "../live.ts";
import { STEPS, scaleFor } from "../model/colour.ts";
import { divided, guessUnit, percent } from "../model/format.ts";
import { layout, MARGINS, used } from "../model/heat.ts";
import { mapColumns } from "../model/heattime.ts";
import { MOST_LOAD, say, sums } from "../model/live.ts";
import type { Aggregation, Trace } from "../model/trace.ts";
import { css, font, prepare, ramp, type Size, useSize } from "./canvas.tsx";
import { drawMap } from "./heat/draw.ts";
import { type Picture, pictureOf, timeAxis } from "./heat/state.ts";
import { NextButton } from "./next.tsx";
import "../style/live.css";

const [FEW, SECONDS] = [20, 60]; // columns of a small map, at first and at most
const NAMES = 5; // rows of a map of counts
const [PLOT_LEFT, PLOT_RIGHT] = [MARGINS.left, 8];

function small(trace: Trace, agg: Aggregation, size: Size): Picture {
    const width = Math.max(1000, trace.info.interval);
    const span = Math.min(SECONDS, Math.max(FEW, trace.columns.length));
    const range = { from: trace.t - span * width, to: trace.t };
    const columns = mapColumns(trace.columns, range, width, trace.info.interval);
    const plot = {
        x: MARGINS.left,
        y: MARGINS.top,
        w: Math.max(10, size.width - MARGINS.left - MARGINS.right),
        h: Math.max(10, size.height - MARGINS.top - MARGINS.bottom),
    };
    const extent = used(
        columns.flatMap((c) => c.parts),
        agg.id,
    );
    const frame = {
        plot,
        range,
        width,
        widest: width,
        rate: false,
        lay: layout(agg.buckets!, extent, null, "log", plot.h),
        y: "log",
        kind: "log",
        percentiles: [99],
        hues: null,
        filter: null,
        unit: divided(guessUnit(agg.name, "", trace.info.script), agg.normal),
        agg,
        x: timeAxis(plot, range),
    } as const;
    return pictureOf(frame, columns, new Map(), "");
}

/** A row for each of the largest first parts of the keys, a column a second, the count as colour. */
function drawNames(cx: CanvasRenderingContext2D, trace: Trace, agg: Aggregation, size: Size): void {
    const columns = trace.columns.slice(-SECONDS);
    const span = Math.max(FEW, columns.length);
    const names = sums(agg, columns, 0).slice(0, NAMES);
    const left = Math.max(PLOT_LEFT, Math.round(size.width * 0.36));
    const w = size.width - left - PLOT_RIGHT;
    const high = size.height / NAMES;
    const each = columns.map((c) => new Map(sums(agg, [c], 0)));
    const scale = scaleFor(
        "log",
        each.flatMap((m) => names.map(([n]) => m.get(n) ?? 0)),
    );
    const colours = ramp();
    cx.fillStyle = css("--map");
    cx.fillRect(left, 0, w, high * names.length);
    cx.font = font(11);
    cx.textBaseline = "middle";
    const room = Math.floor((left - 12) / cx.measureText("m").width);
    names.forEach(([name], r) => {
        cx.fillStyle = css("--text");
        cx.fillText(name.length > room ? `…${name.slice(1 - room)}` : name, 4, (r + 0.5) * high);
        each.forEach((m, i) => {
            const n = m.get(name) ?? 0;
            if (n <= 0) return;
            const x = left + w - (columns.length - i) * (w / span);
            cx.fillStyle = colours[Math.round(scale.of(n) * (STEPS - 1))]!;
            cx.fillRect(Math.round(x), Math.round(r * high), Math.max(1, Math.ceil(w / span) - 1), high - 1);
        });
    });
}

function Small({ r }: { r: Running }) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const { map, trace, why, hint } = r;
    const agg = trace && [...trace.aggregations.values()].find((a) => a.name === map.agg);
    useEffect(() => {
        if (size.width === 0 || !trace || !agg) return;
        const cx = prepare(canvas.current!, size);
        if (agg.hist) drawMap(cx, small(trace, agg, size));
        else drawNames(cx, trace, agg, size);
    }, [trace, trace?.version, size, app.dark]);
    const said = useMemo(() => (trace ? say(map, trace) : null), [trace, trace?.version]);
    return (
        <section class="live-map" aria-label={map.title} data-testid={`live-${map.id}`}>
            <h3>{map.title}</h3>
            <button
                type="button"
                class="live-open"
                disabled={!trace}
                title="open it large"
                aria-label={`${map.title} Open it large`}
                onClick={() => app.enlarge(r)}
            >
                <div ref={box}>
                    <canvas ref={canvas} class="layer" aria-hidden="true" />
                </div>
            </button>
            <p class="live-said">
                {why ? (
                    <>
                        <span class="warn" title={hint ?? undefined}>
                            {why}
                        </span>
                        {trace?.stopped?.reason === "overload" && map.load < DEAR && (
                            <button type="button" onClick={() => app.small.again(r)}>
                                Go on, up to {DEAR} %
                            </button>
                        )}
                    </>
                ) : said ? (
                    <>
                        <span>{said.text}</span>
                        {said.key && <b>{said.key}</b>}
                        <NextButton things={said.things} />
                    </>
                ) : (
                    "starting …"
                )}
            </p>
        </section>
    );
}

export function LiveMaps() {
    const a = useApp();
    const { small } = a;
    const node = a.node;
    if (!node) return null;
    if (small.node !== node)
        return (
            <p class="live-offer">
                <button
                    type="button"
                    class="primary"
                    disabled={a.life.link !== "open"}
                    onClick={() => small.start(node)}
                    data-testid="watch"
                >
                    Watch {node}
                </button>
                <span>
                    Four small maps, which together take at most {MOST_LOAD} % of a scheduler: the node ends what takes
                    more than its part.
                </span>
            </p>
        );
    return (
        <div class="live" data-testid="live">
            <div class="live-maps">
                {small.running.map((r) => (
                    <Small key={r.map.id} r={r} />
                ))}
            </div>
            <p class="live-offer">
                <button type="button" onClick={() => small.end()}>
                    Stop watching
                </button>
                <span data-testid="live-cost">
                    {small.asleep
                        ? "stopped while the page was hidden"
                        : `${node}: together ${percent(small.share / 1000)} of a scheduler`}
                </span>
            </p>
        </div>
    );
}
