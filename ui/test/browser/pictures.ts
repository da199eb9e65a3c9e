// pictures.ts - a picture of each view in light and dark, of a real node: the shop of demo/, as `make demo-web` has it. They are left
// in build/ui; doc/images holds those of a longer run (test/ui/run --pictures, which lets every trace run for PICTURE_SECONDS).
import type { Page } from "playwright-core";
import { liveWidth } from "../../src/model/heattime.ts";
import type { AggregationInfo } from "../../src/model/protocol.ts";
import { DEFAULT_VIEW, type View, write } from "../../src/model/url.ts";
import { said } from "../fake/engine.ts";
import { type Case, download, like, type Open, picture, until } from "./browser.ts";
import { drawn, HeatMapOnScreen } from "./map.ts";
import { ErlangNode, Server } from "./node.ts";
import type { Real } from "./real.ts";

const SECONDS = Number(process.env.PICTURE_SECONDS ?? 2);
/** More than one of each view: not each time. */
const MORE = process.env.PICTURE_SECONDS !== undefined;

/** How long each call of the shop takes. */
const SHOP = `/*
 * shop.d - how long each call of the shop takes
 */
#pragma D option quiet

erlang*:shop::entry
{
    self->ts[probefunc] = timestamp;
    @calls[probefunc] = count();
}

erlang*:shop::return
/self->ts[probefunc]/
{
    @time[probefunc] = quantize(timestamp - self->ts[probefunc]);
    self->ts[probefunc] = 0;
}
`;
/** Too dear, by a limit that is too low. */
const DEAR = `#pragma D option quiet
#pragma D option maxload=1
${SHOP.replace(/#pragma.*\n/, "")}`;
/** The bucket of 2^24 ns: 17 to 34 ms. */
const SLOW = 64 + 24;
const TIME: AggregationInfo = {
    id: 1,
    name: "@time",
    function: "quantize",
    keys: ["string"],
    normal: 1,
    buckets: said("quantize", []),
};

interface Everything {
    aggregations: { name: string; columns: { added: [string, number, number][] }[] }[];
}

async function columnsOf(page: Page): Promise<[string, number, number][][]> {
    return (JSON.parse((await download(page, "JSON of everything")).data.toString()) as Everything).aggregations
        .find((a) => a.name === "@time")!
        .columns.map((c) => c.added);
}

export function pictures(r: Real): Case[] {
    return [
        {
            name: "real node: a picture of each view of a shop, light and dark",
            async run() {
                const node = await ErlangNode.start("", process.env.PICTURE_SECONDS ? "shop" : `shop${process.pid}`);
                const server = await Server.start(node.name, "-x", "maxload=off"); // a machine that does much else is no reason to stop
                await node.call("shop_sup:start()");
                const traces: { page: Page; close: () => Promise<void> }[] = [];
                const open = async (
                    name: string,
                    script: string | null,
                    args: string[],
                    view: Partial<View>,
                    more: Open = {},
                    run = true,
                ) => {
                    const made = await r.openAt(
                        write({ node: node.name, name, script, args, view: { ...DEFAULT_VIEW, ...view } }),
                        more,
                        server,
                    );
                    traces.push(made);
                    await until("the scripts", () => made.page.locator(".card-name").count());
                    if (run) await r.run(made.page);
                    return made.page;
                };
                /** In both themes, the pointer where it is. */
                const both = async (page: Page, name: string) => {
                    for (const colorScheme of ["light", "dark"] as const) {
                        await page.emulateMedia({ colorScheme });
                        await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
                        await drawn(page);
                        await picture(page, `${name}-${colorScheme}`);
                    }
                };
                try {
                    const map = await open("shop.d", SHOP, [], { view: "heatmap", agg: "@time" });
                    const phone = MORE
                        ? await open(
                              "shop.d",
                              SHOP,
                              [],
                              { view: "heatmap", agg: "@time" },
                              { width: 390, height: 844, scale: 2, phone: true },
                          )
                        : null;
                    const births = await open("births.d", null, [], { view: "console" });
                    await until(
                        "so many seconds",
                        async () => (await columnsOf(map)).length >= SECONDS,
                        60_000 + 2000 * SECONDS,
                    );

                    // the heat map, held still: under the pointer the slowest cell, then a rectangle about what is slow
                    await map.locator(".heat-map").focus(); // not the button that was used last
                    await map.keyboard.press("Space");
                    await map.waitForSelector(".held");
                    const columns = await columnsOf(map);
                    const numbers = columns.flatMap((c) => c.map(([, b]) => b));
                    const used: [number, number] = [Math.min(...numbers), Math.max(...numbers)];
                    const slow = columns.map((c) =>
                        c.reduce((sum, [key, b, n]) => sum + (/carry/.test(key) && b >= SLOW ? n : 0), 0),
                    );
                    let last = slow.indexOf(Math.max(...slow));
                    let first = last;
                    while (first > 0 && slow[first - 1]! > slow[last]! / 5) first--;
                    const peak = last;
                    while (last < columns.length - 1 && slow[last + 1]! > slow[peak]! / 5) last++;
                    const row = (b: number) => Math.min(used[1], b);
                    const most =
                        columns[peak]!.filter(([key, b]) => /carry/.test(key) && b >= SLOW).sort(
                            (x, y) => y[2] - x[2],
                        )[0]?.[1] ?? row(SLOW);
                    // What was saved may have columns that came after the map was held still, and it shows nothing in those.
                    let later = -1;
                    let shown!: HeatMapOnScreen;
                    const back = (i: number) => columns.length - later - 1 - i;
                    await until("the tip of the slowest cell", async () => {
                        later = (later + 1) % (columns.length - peak);
                        shown = await HeatMapOnScreen.of(map, {
                            info: TIME,
                            used,
                            span: liveWidth((columns.length - later) * 1000, 120_000, 1000) / 1000,
                        });
                        const cell = shown.cell(back(peak), most);
                        await map.mouse.move(cell.x - 1, cell.y);
                        await map.mouse.move(cell.x, cell.y);
                        await drawn(map);
                        return map.locator("[data-testid=tip]").isVisible();
                    });
                    await both(map, "heatmap");
                    await shown.drag(
                        [back(first), row(SLOW + 3)],
                        [Math.max(0, back(last) - (first === last ? 1 : 0)), row(SLOW - 1)],
                    );
                    await map.waitForSelector("[data-testid=compare]");
                    await map.mouse.move(2, 2);
                    await both(map, "compare");
                    await map.keyboard.press("Escape");
                    await map.getByRole("tab", { name: "Time series" }).click();
                    await map.getByLabel("aggregation", { exact: true }).selectOption("@time");
                    await map.getByRole("radio", { name: "p99" }).click();
                    await map.waitForSelector("[data-testid=series]");
                    await both(map, "series");

                    if (phone) {
                        await phone.waitForSelector("[data-testid=keys] .key-row");
                        await both(phone, "phone-heatmap");
                        await phone.getByRole("tab", { name: "List" }).click();
                        await both(phone, "phone-list");
                    }

                    await until("lines", () => births.locator(".console-line").count());
                    await both(births, "console");
                    await births.getByRole("tab", { name: "Records" }).click();
                    await both(births, "records");
                    for (const t of traces.splice(0)) await t.close();

                    const list = await open("profile.d", null, ["shop*"], { view: "list", agg: "@function" });
                    await until("own times", async () => (await list.locator(".list-row").count()) > 20);
                    if (MORE) await list.waitForTimeout(60 * SECONDS);
                    await both(list, "list");
                    const flame = await open("flame.d", null, ["shop*"], { view: "flame" });
                    await flame.waitForSelector("[data-testid=flame]");
                    if (MORE) await flame.waitForTimeout(100 * SECONDS);
                    await both(flame, "flame");
                    if (MORE) {
                        await flame.locator(".view .search").fill("invoice|line");
                        await flame.getByRole("radio", { name: "inverted" }).click();
                        await both(flame, "flame-inverted");
                        const start = await open("", null, [], {}, {}, false);
                        await both(start, "start");
                        const wrong = await open(
                            "shop.d",
                            SHOP.replace("timestamp - self", "timestmp - self"),
                            [],
                            {},
                            {},
                            false,
                        );
                        await wrong.waitForSelector("[data-testid=problems]");
                        await both(wrong, "error");
                    }
                    const dear = await open("shop.d", DEAR, [], { view: "heatmap", agg: "@time" });
                    await like(async () => await dear.locator("[data-testid=stopped]").textContent(), /took too much/);
                    await both(dear, "stopped");
                    for (const t of traces) await t.close();
                    await node.clean();
                } finally {
                    await server.end();
                    await node.end();
                }
            },
        },
    ];
}
