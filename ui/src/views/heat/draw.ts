// draw.ts - a picture of the heat map on a canvas: its ground, its cells, what lies apart; and above it what is chosen or pointed at.
import type { Cell, HeatRow } from "../../model/heat.ts";
import type { Chosen } from "../../model/look.ts";
import { css, hatch } from "../canvas.tsx";
import { drawLines, drawTimes, drawValues } from "./axes.ts";
import { type CellLayer, colourOf, drawCells, gapOf } from "./cells.ts";
import type { Picture } from "./state.ts";

/** A rectangle that is being dragged, px. */
export interface Pull {
    x0: number;
    y0: number;
    x1: number;
    y1: number;
}

/** layer: what was drawn of the cells before, so that only what is new has to be. */
export function drawMap(cx: CanvasRenderingContext2D, p: Picture, layer?: CellLayer): void {
    const { plot } = p;
    drawGround(cx, p);
    drawValues(cx, p);
    if (layer) {
        layer.draw(p);
        cx.drawImage(layer.canvas, plot.x, plot.y, plot.w, plot.h);
    } else drawCells(cx, p);
    drawMarks(cx, p);
    drawTimes(cx, p);
    drawLines(cx, p);
}

function drawGround(cx: CanvasRenderingContext2D, { plot, lay, columns, range, follows, x }: Picture): void {
    cx.fillStyle = css("--map");
    for (const r of lay.rows) if (r.kind !== "in") cx.fillRect(plot.x, plot.y + r.y0, plot.w, r.y1 - r.y0);
    const ins = lay.rows.filter((r) => r.kind === "in");
    if (ins.length > 0)
        cx.fillRect(plot.x, plot.y + ins[ins.length - 1]!.y0, plot.w, ins[0]!.y1 - ins[ins.length - 1]!.y0);

    // times of which nothing is known
    const unknown = (x0: number, x1: number) => {
        cx.fillStyle = hatch(cx);
        cx.fillRect(Math.max(plot.x, x0), plot.y, x1 - Math.max(plot.x, x0), plot.h);
    };
    for (let i = 1; i < columns.length; i++) if (!follows(i)) unknown(x(columns[i - 1]!.t), x(columns[i]!.from));
    const last = columns[columns.length - 1];
    if (last && last.t < range.to) unknown(x(last.t), plot.x + plot.w);
}

/** How far around a cell that lies apart its ring runs, px: on a large screen one stands further away. */
export const ringOf = ({ plot }: Picture): number => Math.min(26, Math.max(9, Math.min(plot.w, plot.h) / 45));

/** Where a cell is, px. */
function boxOf({ plot, lay, columns, x }: Picture, { i, r }: Cell) {
    const row = lay.rows[r]!;
    const [x0, x1] = [Math.max(plot.x, x(columns[i]!.from)), x(columns[i]!.t)];
    return { x: (x0 + x1) / 2, y: plot.y + (row.y0 + row.y1) / 2, w: x1 - x0, h: row.y1 - row.y0 };
}

/** The cell that lies apart whose ring a place is in. */
export function markAt(p: Picture, x: number, y: number): Cell | null {
    const far = (c: Cell) => Math.hypot(boxOf(p, c).x - x, boxOf(p, c).y - y);
    const [best] = p.marks.filter((c) => far(c) <= ringOf(p)).sort((a, b) => far(a) - far(b));
    return best ?? null;
}

/** What lies apart, in a size that is seen, in a ring: the shape says it as well as the colour. */
function drawMarks(cx: CanvasRenderingContext2D, p: Picture): void {
    const { plot } = p;
    const ring = ringOf(p);
    for (const c of p.marks) {
        const box = boxOf(p, c);
        const w = Math.max(ring * 0.7, box.w - gapOf(box.w));
        const h = Math.max(ring * 0.7, box.h - gapOf(box.h));
        const x = Math.min(plot.x + plot.w - w, Math.max(plot.x, box.x - w / 2));
        const y = Math.min(plot.y + plot.h - h, Math.max(plot.y, box.y - h / 2));
        cx.fillStyle = colourOf(p, c.i, c.r);
        cx.fillRect(Math.round(x), Math.round(y), Math.round(w), Math.round(h));
        cx.beginPath();
        // wide or tall cells have a longer ring, so that it does not cross them
        cx.ellipse(x + w / 2, y + h / 2, Math.max(ring, w * 0.75), Math.max(ring, h * 0.75), 0, 0, 2 * Math.PI);
        cx.strokeStyle = css("--halo");
        cx.lineWidth = ring / 3 + 2;
        cx.stroke();
        cx.strokeStyle = css("--mark");
        cx.lineWidth = ring / 6;
        cx.stroke();
    }
}

/** What is chosen, what is pointed at, and what is being dragged. */
export function drawOver(
    cx: CanvasRenderingContext2D,
    p: Picture,
    chosen: Chosen | null,
    hover: Cell | null,
    pull: Pull | null,
    zooms: boolean,
): void {
    const { plot, lay, columns, x: xOf } = p;
    const rect = (from: number, to: number, r0: HeatRow, r1: HeatRow) => {
        const [x0, x1] = [xOf(from), xOf(to)];
        const y0 = plot.y + Math.min(r0.y0, r1.y0);
        const y1 = plot.y + Math.max(r0.y1, r1.y1);
        return [Math.max(plot.x, x0) - 0.5, y0 - 0.5, Math.max(2, x1 - Math.max(plot.x, x0)), y1 - y0] as const;
    };
    if (chosen) {
        const r0 = lay.rows[lay.rowOf[chosen.first]!];
        const r1 = lay.rows[lay.rowOf[Math.min(chosen.last, lay.rowOf.length - 1)]!];
        if (r0 && r1 && chosen.to > p.range.from && chosen.from < p.range.to) {
            const [x, y, w, h] = rect(chosen.from, chosen.to, r0, r1);
            cx.strokeStyle = css("--halo");
            cx.lineWidth = 4;
            cx.strokeRect(x, y, w, h);
            cx.strokeStyle = css("--pick");
            cx.lineWidth = 2;
            cx.strokeRect(x, y, w, h);
        }
    }
    if (hover) {
        const c = columns[hover.i]!;
        const [x, y, w, h] = rect(c.from, c.t, lay.rows[hover.r]!, lay.rows[hover.r]!);
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
        cx.setLineDash(zooms ? [5, 3] : []);
        cx.strokeRect(x, y, Math.abs(pull.x1 - pull.x0), Math.abs(pull.y1 - pull.y0));
    }
}
