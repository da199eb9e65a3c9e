// axes.ts - the axes of the heat map, and the percentile lines with their names.

import { moment, value } from "../../model/format.ts";
import { axisTicks, MARGINS } from "../../model/heat.ts";
import { timeTicks } from "../../model/heattime.ts";
import { css, font, Path } from "../canvas.tsx";
import type { Picture } from "./state.ts";

const LABEL = 84; // px that the label of a time needs

export function drawValues(cx: CanvasRenderingContext2D, { plot, lay, y: scale, unit, agg }: Picture): void {
    cx.font = font(10.5);
    cx.textBaseline = "middle";
    cx.textAlign = "right";
    const decades = /^([num]?s)$/.test(unit) || agg.fn === "llquantize";
    for (const t of axisTicks(lay, scale, 26, decades ? 10 : 2)) {
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
}

export function drawTimes(cx: CanvasRenderingContext2D, { plot, range, x }: Picture): void {
    cx.textAlign = "center";
    cx.fillStyle = css("--muted");
    const ticks = timeTicks(range, plot.w / (range.to - range.from), LABEL);
    const step = (ticks[1] ?? Infinity) - (ticks[0] ?? 0);
    for (const t of ticks) {
        const at = x(t);
        if (at > plot.x + plot.w - 20 || at < plot.x + 24) continue;
        cx.strokeStyle = css("--line-strong");
        cx.beginPath();
        cx.moveTo(Math.round(at) + 0.5, plot.y + plot.h);
        cx.lineTo(Math.round(at) + 0.5, plot.y + plot.h + 4);
        cx.stroke();
        cx.fillText(moment(t, step), at, plot.y + plot.h + 13);
    }
}

/** Percentile lines, the highest first, and their names at the right. */
export function drawLines(cx: CanvasRenderingContext2D, p: Picture): void {
    const { plot, lay, columns, data, percentiles, follows } = p;
    cx.save();
    cx.beginPath();
    cx.rect(plot.x, plot.y, plot.w + MARGINS.right, plot.h);
    cx.clip();
    const dashes = [[], [6, 3], [2, 2.5], [10, 3, 2, 3], [1, 4]];
    const labels: { y: number; text: string }[] = [];
    percentiles.forEach((q, k) => {
        const path = new Path();
        let pen = false;
        let end: number | null = null;
        data.forEach(({ lines: l }, i) => {
            if (!l || Number.isNaN(l[k]!)) {
                pen = false;
                return;
            }
            const [x0, x1] = [p.x(columns[i]!.from), p.x(columns[i]!.t)];
            const x = (x0 + x1) / 2;
            const y = plot.y + lay.y(l[k]!);
            if (!follows(i)) pen = false;
            if (pen) path.lineTo(x, y);
            else path.moveTo(x, y);
            // a value without neighbours is a line as wide as its column
            const next = follows(i + 1) ? data[i + 1]!.lines : null;
            if (!pen && (!next || Number.isNaN(next[k]!))) {
                path.moveTo(x0, y);
                path.lineTo(x1, y);
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
        if (end !== null) labels.push({ y: end, text: `p${q}` });
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
}
