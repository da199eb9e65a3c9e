// map.ts - where the cells of a heat map are on the screen, worked out from the same layout that draws them; and what is drawn there.

import type { Locator, Page } from "playwright-core";
import { type Buckets, bucketsOf } from "../../src/model/buckets.ts";
import { type Layout, layout, MARGINS, type YScale } from "../../src/model/heat.ts";
import type { AggregationInfo } from "../../src/model/protocol.ts";
import { until } from "./browser.ts";

export interface Shown {
    info: AggregationInfo;
    used: [number, number]; // buckets
    scale?: YScale;
    span?: number; // columns that the map is wide
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
