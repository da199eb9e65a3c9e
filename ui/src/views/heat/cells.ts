// cells.ts - the cells of the heat map. CellLayer has them on a canvas of their own that is never shown: what it has is moved to the left, and only what is
// new or has changed is drawn, as long as nothing changes that all cells depend on.
import { app } from "../../app.ts";
import { hueColour, STEPS } from "../../model/colour.ts";
import { css, ramp } from "../canvas.tsx";
import type { ColumnData, Picture } from "./state.ts";

const ROOMY = 8; // px: cells of this size have gaps between them
export const gapOf = (size: number): number => (size >= ROOMY ? 1 : 0);

const huesDrawn = new Map<string, string>();
/** The colour of a cell. */
export function colourOf(p: Picture, i: number, r: number): string {
    const place = p.scale.of(p.weight(i, r));
    if (!p.hues) return ramp()[Math.round(place * (STEPS - 1))]!;
    const by = p.data[i]!.hues;
    let key = 0;
    for (let k = 1; by && k < p.hues.length; k++)
        if (by[r * p.hues.length + k]! > by[r * p.hues.length + key]!) key = k;
    const share = by && p.hues.length > 0 ? by[r * p.hues.length + key]! / p.data[i]!.counts![r]! : 0;
    const name = `${app.dark} ${key} ${Math.ceil(share * 8)} ${Math.round(place * 32)}`;
    let colour = huesDrawn.get(name);
    if (!colour) {
        const [red, green, blue] = hueColour(app.dark, key, Math.ceil(share * 8) / 8, Math.round(place * 32) / 32);
        huesDrawn.set(name, (colour = `rgb(${red},${green},${blue})`));
    }
    return colour;
}

/** What all cells depend on, apart from their own numbers. */
type Ground = readonly unknown[];

export class CellLayer {
    readonly canvas = document.createElement("canvas");
    private ground: Ground = [];
    private end = 0; // where the right edge is on the axis of time, pixels of the screen
    private drawn = new Map<unknown, { data: ColumnData; x0: number; x1: number }>(); // by the first reading of a column
    /** Columns that were drawn so far. */
    work = 0;

    /** Brings the canvas up to date. */
    draw(p: Picture): void {
        const ratio = window.devicePixelRatio || 1;
        const { plot, lay, scale, range } = p;
        const [w, h] = [Math.round(plot.w * ratio), Math.round(plot.h * ratio)];
        const perMs = (plot.w * ratio) / (range.to - range.from);
        const ground = [
            w,
            h,
            perMs.toPrecision(9),
            lay,
            p.hues,
            p.rate,
            app.dark,
            scale.kind,
            // ranks depend on all cells
            scale.kind === "rank" ? scale : scale.max,
            scale.kind === "rank" ? 0 : scale.of(p.rate ? 0.5 : 2),
        ];
        const cx = this.canvas.getContext("2d")!;
        const end = Math.round(range.to * perMs);
        const by = end - this.end;
        const same = ground.length === this.ground.length && ground.every((g, i) => g === this.ground[i]);
        if (!same || Math.abs(by) >= w) {
            this.canvas.width = w; // this clears
            this.canvas.height = h;
            this.drawn.clear();
        } else if (by !== 0) {
            cx.setTransform(1, 0, 0, 1, 0, 0);
            cx.globalCompositeOperation = "copy";
            cx.drawImage(this.canvas, -by, 0);
            cx.globalCompositeOperation = "source-over";
        }
        this.ground = ground;
        this.end = end;
        cx.setTransform(ratio, 0, 0, ratio, 0, 0);
        const before = this.drawn;
        this.drawn = new Map();
        const clear = (x0: number, x1: number) => cx.clearRect(x0, 0, x1 - x0, plot.h);
        const now = p.columns.map((c, i) => {
            const at = { data: p.data[i]!, x0: p.x(c.from) - plot.x, x1: p.x(c.t) - plot.x };
            const old = before.get(c.parts[0]);
            before.delete(c.parts[0]);
            this.drawn.set(c.parts[0], at);
            const moved = by / ratio;
            // a column that was cut off at an edge is drawn again
            const whole = old && old.x0 >= 0 && old.x1 <= plot.w;
            const stays = whole && old.data === at.data && near(old.x0 - moved, at.x0) && near(old.x1 - moved, at.x1);
            if (old && !stays) clear(old.x0 - moved, old.x1 - moved);
            return stays;
        });
        for (const { x0, x1 } of before.values()) clear(x0 - by / ratio, x1 - by / ratio);
        now.forEach((stays, i) => {
            if (stays) return;
            this.work++;
            column(cx, p, i);
        });
    }
}

const near = (a: number, b: number): boolean => Math.abs(a - b) < 0.01;

/** Draws all cells. */
export function drawCells(cx: CanvasRenderingContext2D, p: Picture): void {
    const { plot } = p;
    cx.save();
    cx.beginPath();
    cx.rect(plot.x, plot.y, plot.w, plot.h);
    cx.clip();
    cx.translate(plot.x, plot.y);
    for (let i = 0; i < p.columns.length; i++) column(cx, p, i);
    cx.restore();
}

function column(cx: CanvasRenderingContext2D, p: Picture, i: number): void {
    const [x, x1] = [p.x(p.columns[i]!.from) - p.plot.x, p.x(p.columns[i]!.t) - p.plot.x];
    const w = Math.max(1 / (window.devicePixelRatio || 1), x1 - x - gapOf(x1 - x));
    const { counts } = p.data[i]!;
    if (counts === null) {
        // its keys are not known, so what a filter leaves of it is not known either
        cx.fillStyle = css("--unknown");
        cx.fillRect(x, 0, w, p.plot.h);
        return;
    }
    for (let r = 0; r < counts.length; r++) {
        if (counts[r]! <= 0) continue;
        const row = p.lay.rows[r]!;
        const h = row.y1 - row.y0;
        cx.fillStyle = colourOf(p, i, r);
        cx.fillRect(x, row.y0, w, h - gapOf(h));
    }
}
