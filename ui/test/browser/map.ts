// map.ts - where the cells of a heat map are on the screen, worked out from the same layout that draws them; and what is drawn there.

import type { Locator, Page } from "playwright-core";
import { type Buckets, bucketsOf } from "../../src/model/buckets.ts";
import { type Layout, layout, MARGINS, type YScale } from "../../src/model/heat.ts";
import type { AggregationInfo } from "../../src/model/protocol.ts";
import { type Column, follows } from "../../src/model/trace.ts";
import { download, until } from "./browser.ts";

/** Waits until the page has drawn what has just happened. */
export function drawn(page: Page): Promise<void> {
    return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}

type Colour = readonly number[];

/** The contrast of two colours, 1 to 21, as WCAG 2 defines it. */
export function contrast(a: Colour, b: Colour): number {
    const light = (c: Colour) => {
        const [red, green, blue] = c.map((x) =>
            x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4,
        );
        return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue! + 0.05;
    };
    return Math.max(light(a), light(b)) / Math.min(light(a), light(b));
}

export interface Shown {
    info: AggregationInfo;
    used: [number, number]; // buckets
    scale?: YScale;
    span?: number; // columns that the map is wide
}

/** The columns of an aggregation in the file "JSON of everything". */
export type Columns = readonly (Pick<Column, "t" | "dt"> & { added: [key: string, bucket: number, count: number][] })[];

/** How long the readings of these columns took together, ms, with what lies between them. */
export const lasted = (columns: Columns): number => columns.at(-1)!.t - columns[0]!.t + columns[0]!.dt;

/** Where each column begins: where the one before ends, if it follows on that. */
const begins = (columns: Columns): number[] =>
    columns.map((c, i) => (i > 0 && follows(columns[i - 1]!.t, c, 1000) ? columns[i - 1]!.t : c.t - c.dt));

/** How many columns of a second before the latest the middle of each column is, for cell(). */
export const backs = (columns: Columns): number[] =>
    begins(columns).map((from, i) => (columns.at(-1)!.t - (from + columns[i]!.t) / 2) / 1000 - 0.5);

type Point = readonly [x: number, y: number];

/** The percentile lines that the page draws on a heat map: of each the stretches between the gaps, px from the left top of the map. */
export async function linesOf(page: Page): Promise<Point[][][]> {
    const svg = (await download(page, "SVG image")).data.toString();
    // each is drawn twice, first as a wider one that sets it off from the ground
    const paths = [...svg.matchAll(/<path d="([^"]*)" fill="none" stroke="[^>]*stroke-width="2.5"[^>]*"round"/g)];
    return paths.map(([, d]) =>
        [...d!.matchAll(/M[^M]*/g)].map(([stretch]) =>
            [...stretch.matchAll(/[ML](\S+) ([^ML]+)/g)].map(([, x, y]): Point => [Number(x), Number(y)]),
        ),
    );
}

export class HeatMapOnScreen {
    readonly buckets: Buckets;
    private constructor(
        private readonly page: Page,
        private readonly canvas: Locator,
        private readonly box: { x: number; y: number; width: number; height: number },
        readonly lay: Layout,
        info: AggregationInfo,
        private readonly span: number,
    ) {
        this.buckets = bucketsOf(info.function as "quantize", info.buckets!);
    }

    /** around: what it lies in, if there are several. */
    static async of(page: Page, s: Shown, around: Page | Locator = page): Promise<HeatMapOnScreen> {
        const canvas = around.locator("[data-testid=heatmap]");
        const box = (await canvas.boundingBox())!;
        const buckets = bucketsOf(s.info.function as "quantize", s.info.buckets!);
        const lay = layout(
            buckets,
            s.used,
            null,
            s.scale ?? "log",
            Math.round(box.height) - MARGINS.top - MARGINS.bottom,
        );
        return new HeatMapOnScreen(page, canvas, box, lay, s.info, s.span ?? 30);
    }

    /** The middle of a cell: `back` columns before the latest, the row of a bucket. */
    cell(back: number, bucket: number): { x: number; y: number } {
        const w = this.box.width - MARGINS.left - MARGINS.right;
        const row = this.lay.rows[this.lay.rowOf[bucket]!]!;
        return {
            x: this.box.x + MARGINS.left + w - ((back + 0.5) * w) / this.span,
            y: this.box.y + MARGINS.top + (row.y0 + row.y1) / 2,
        };
    }

    /** The middle of a column, px from the left of the map. */
    x(back: number): number {
        const w = this.box.width - MARGINS.left - MARGINS.right;
        return MARGINS.left + w - ((back + 0.5) * w) / this.span;
    }

    /** Where a percentile line has its points, px from the left top of the map; `values`: of each column, null: none. */
    points(columns: Columns, values: readonly (number | null)[]): Point[] {
        return backs(columns).flatMap((back, i) => {
            const v = values[i]!;
            return v === null ? [] : [[this.x(back), MARGINS.top + this.lay.y(v)] as const];
        });
    }

    /** The pixels of a part of the map, px from its left top. */
    async pixels(x: number, y: number, w: number, h: number): Promise<string> {
        return this.canvas.evaluate(
            (el, [x, y, w, h]) => {
                const c = el as HTMLCanvasElement;
                const k = c.width / c.getBoundingClientRect().width;
                const part = [x!, y!, w!, h!].map((v) => Math.round(v * k)) as [number, number, number, number];
                return c
                    .getContext("2d")!
                    .getImageData(...part)
                    .data.join();
            },
            [x, y, w, h],
        );
    }

    async hover(back: number, bucket: number): Promise<Record<string, string>> {
        const { x, y } = this.cell(back, bucket);
        const tip = this.page.locator("[data-testid=tip]");
        await until("the tip", async () => {
            await this.page.mouse.move(x - 1, y);
            await this.page.mouse.move(x, y);
            return tip.isVisible();
        });
        const [names, values] = [await tip.locator("dt").allTextContents(), await tip.locator("dd").allTextContents()];
        return Object.fromEntries(names.map((n, i) => [n, values[i]!]));
    }

    async click(back: number, bucket: number): Promise<void> {
        const { x, y } = this.cell(back, bucket);
        await this.page.mouse.click(x, y);
    }

    /** From the middle of one cell to that of another. */
    async drag(from: [number, number], to: [number, number]): Promise<void> {
        const a = this.cell(...from);
        const b = this.cell(...to);
        await this.page.mouse.move(a.x, a.y);
        await this.page.mouse.down();
        await this.page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2);
        await this.page.mouse.move(b.x, b.y);
        await this.page.mouse.up();
    }

    /** The colour that is drawn near a corner of a cell, where no line runs. */
    async colour(back: number, bucket: number): Promise<[number, number, number]> {
        const row = this.lay.rows[this.lay.rowOf[bucket]!]!;
        const { x } = this.cell(back, bucket);
        const y = this.box.y + MARGINS.top + row.y0 + 2;
        return this.canvas.evaluate(
            (el, [px, py]) => {
                const c = el as HTMLCanvasElement;
                const r = c.getBoundingClientRect();
                const k = c.width / r.width;
                const d = c
                    .getContext("2d")!
                    .getImageData(Math.round((px! - r.left) * k), Math.round((py! - r.top) * k), 1, 1).data;
                return [d[0]!, d[1]!, d[2]!] as [number, number, number];
            },
            [x, y],
        );
    }
}
