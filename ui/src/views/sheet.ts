// sheet.ts - a view as a picture that explains itself: what is shown, of which node, when, by which script; then the view and its legend.
import { fileName } from "../keep.ts";
import { about, shortScript } from "../model/export.ts";
import { dates } from "../model/format.ts";
import type { Aggregation, Column, Trace } from "../model/trace.ts";
import { css, font, prepare, save } from "./canvas.tsx";
import { SvgContext } from "./svg.ts";

type Draw = (cx: CanvasRenderingContext2D) => void;

export interface Sheet {
    trace: Trace;
    agg: Aggregation;
    columns: readonly Column[]; // that are shown
    filter: ReadonlySet<number> | null;
    width: number;
    height: number; // of the view
    draw: Draw;
    legend?: { height: number; draw: Draw };
}

const [PAD, LINE, SCRIPT_LINES] = [14, 17, 3];

function sizes(s: Sheet) {
    const columns = Math.max(20, Math.floor((s.width - 2 * PAD) / 6.7));
    const script = shortScript(s.trace.info.script, columns, SCRIPT_LINES);
    const head = PAD + LINE * (2 + script.length) + 8;
    return { script, head, height: head + s.height + (s.legend ? s.legend.height + PAD : 0) };
}

function paint(cx: CanvasRenderingContext2D, s: Sheet): void {
    const { script, head, height } = sizes(s);
    const { name, node, args, t } = s.trace.info;
    const last = s.columns.at(-1);
    const first = s.columns[0];
    cx.fillStyle = css("--panel");
    cx.fillRect(0, 0, s.width, height);
    cx.textBaseline = "middle";
    cx.textAlign = "left";
    const say = (text: string, line: number, colour: string, px: number, weight?: number) => {
        cx.font = font(px, weight);
        cx.fillStyle = css(colour);
        cx.fillText(text, PAD, PAD + LINE * (line + 0.5));
    };
    say(`${[name, ...args].join(" ")} · ${s.agg.name} ${s.agg.fn} · ${node || "this server"}`, 0, "--text", 13, 700);
    const only = s.filter ? ` · only ${[...s.filter].map((k) => keyName(s.agg, k)).join("; ")}` : "";
    say(`${first && last ? dates(first.t - first.dt, last.t) : dates(t, t)}${only}`, 1, "--text", 11);
    script.forEach((text, i) => say(text, 2 + i, "--muted", 11));
    const at = (y: number, draw: Draw) => {
        cx.save();
        cx.translate(0, y);
        draw(cx);
        cx.restore();
    };
    at(head, s.draw);
    if (s.legend) at(head + s.height + 4, s.legend.draw);
}

const keyName = (agg: Aggregation, key: number): string => agg.parts(key).join(", ");

export function savePicture(s: Sheet, as: "png" | "svg"): void {
    const { height } = sizes(s);
    const name = `${fileName(s.agg.name)}.${as}`;
    if (as === "svg") {
        const cx = new SvgContext();
        paint(cx as unknown as CanvasRenderingContext2D, s);
        const title = `${s.trace.info.name} · ${s.agg.name} · ${s.trace.info.node}`;
        save(name, cx.text(s.width, height, title, about(s.trace, s.agg, s.columns, s.filter)), "image/svg+xml");
        return;
    }
    const canvas = document.createElement("canvas");
    paint(prepare(canvas, { width: s.width, height }), s);
    canvas.toBlob((blob) => blob && save(name, blob, "image/png"), "image/png");
}

/** The entries of a menu that save a view as a picture. */
export const pictures = (sheet: () => Sheet): [string, () => void][] => [
    ["PNG image", () => savePicture(sheet(), "png")],
    ["SVG image", () => savePicture(sheet(), "svg")],
];

/** The colours of lines, with their names, in as many rows as they need. */
export function namesLegend(width: number, names: readonly { name: string; colour: string }[]) {
    const row = 16;
    const places: { x: number; y: number }[] = [];
    let [x, y] = [PAD, 0];
    for (const { name } of names) {
        const w = 30 + 6.7 * name.length;
        if (x > PAD && x + w > width) [x, y] = [PAD, y + row];
        places.push({ x, y });
        x += w;
    }
    return {
        height: y + row,
        draw(cx: CanvasRenderingContext2D) {
            cx.font = font(11);
            cx.textBaseline = "middle";
            cx.textAlign = "left";
            names.forEach(({ name, colour }, i) => {
                const at = places[i]!;
                cx.fillStyle = colour;
                cx.fillRect(at.x, at.y + 5, 10, 6);
                cx.fillStyle = css("--text");
                cx.fillText(name, at.x + 15, at.y + row / 2);
            });
        },
    };
}
