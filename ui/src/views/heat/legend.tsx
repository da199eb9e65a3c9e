// legend.tsx - the meaning of the colours.
import { useEffect, useRef } from "preact/hooks";
import { app } from "../../app.ts";
import { hueColour, type Scale, STEPS } from "../../model/colour.ts";
import { compact } from "../../model/format.ts";
import { keyText } from "../../model/trace.ts";
import { css, font, prepare, ramp } from "../canvas.tsx";
import { Middle } from "../widgets.tsx";
import type { Picture } from "./state.ts";

const [WIDTH, HEIGHT] = [150, 8];
const SWATCH = 0.3; // the place on the scale of the colour that stands for a key

const hue = (key: number, share: number, place: number): string =>
    `rgb(${hueColour(app.dark, key, share, place).join()})`;

function drawRamp(cx: CanvasRenderingContext2D, grey: boolean): void {
    for (let x = 0; x < WIDTH; x++) {
        const place = x / (WIDTH - 1);
        cx.fillStyle = grey ? hue(0, 0, place) : ramp()[Math.round(place * (STEPS - 1))]!;
        cx.fillRect(x, 0, 1, HEIGHT);
    }
}

function fewTicks({ ticks }: Scale): Scale["ticks"] {
    return ticks.length > 3 ? [ticks[0]!, ticks[Math.floor(ticks.length / 2)]!, ticks[ticks.length - 1]!] : ticks;
}

function meaning({ scale, rate, lay }: Picture): string {
    const even = lay.rows.some((r) => r.even > 1);
    return `count of a cell${rate ? " per second" : ""}${even ? " for a width of a factor of two" : ""}, ${scale.kind} scale`;
}

/** The keys that have a hue, with their colours; the last is for all others. */
function hues({ hues, agg }: Picture): [string, string][] {
    if (!hues) return [];
    const named = hues.map((key, k): [string, string] => [keyText(agg.parts(key)), hue(k, 1, SWATCH)]);
    return agg.keys.size > hues.length ? [...named, ["other keys", hue(0, 0, SWATCH)]] : named;
}

const LINE = 16;

/** The same in a picture. */
export const sheetLegend = (p: Picture) => ({
    height: 28 + LINE * hues(p).length,
    draw(cx: CanvasRenderingContext2D) {
        cx.translate(14, 0);
        drawRamp(cx, p.hues !== null);
        cx.font = font(10.5);
        cx.fillStyle = css("--muted");
        cx.textBaseline = "middle";
        const ticks = fewTicks(p.scale);
        ticks.forEach((t, i) => {
            cx.textAlign = i === 0 ? "left" : i === ticks.length - 1 ? "right" : "center";
            cx.fillText(compact(t.count), ticks.length > 1 ? (i / (ticks.length - 1)) * WIDTH : 0, HEIGHT + 10);
        });
        cx.textAlign = "left";
        cx.fillText(meaning(p), WIDTH + 12, HEIGHT / 2);
        hues(p).forEach(([name, colour], i) => {
            const y = 28 + LINE * i;
            cx.fillStyle = colour;
            cx.fillRect(0, y, 10, 10);
            cx.fillStyle = css("--text");
            cx.fillText(name, 16, y + 5);
        });
    },
});

export function Legend({ picture }: { picture: Picture }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const grey = picture.hues !== null;
    useEffect(() => drawRamp(prepare(canvas.current!, { width: WIDTH, height: HEIGHT }), grey), [app.dark, grey]);
    const ticks = fewTicks(picture.scale);
    return (
        <div class="legend" title={meaning(picture)} data-testid="legend">
            <canvas ref={canvas} />
            <div class="legend-ticks">
                {ticks.map((t) => (
                    <span key={t.at}>
                        {compact(t.count)}
                        {picture.rate && "/s"}
                    </span>
                ))}
                {ticks.length === 0 && <span>count</span>}
            </div>
        </div>
    );
}

/** Which key has which hue. */
export function KeyHues({ picture }: { picture: Picture }) {
    if (!picture.hues) return null;
    return (
        <ul class="legend-keys" aria-label="keys that have a hue">
            {hues(picture).map(([name, colour]) => (
                <li key={colour}>
                    <i style={{ background: colour }} />
                    <Middle text={name} />
                </li>
            ))}
        </ul>
    );
}
