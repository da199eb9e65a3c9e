// views.ts - what the page shows and says, against the made-up server: every number that is seen is known.
import assert from "node:assert/strict";
import type { AggregationInfo, Message, Results } from "../../src/model/protocol.ts";
import { said } from "../fake/engine.ts";
import { cost, shop, started, T0 } from "../fake/world.ts";
import {
    type Browsers,
    type Case,
    click,
    enter,
    download as exported,
    like,
    type Open,
    picture,
    same,
    until,
    written,
} from "./browser.ts";
import { type FakeServer, type Stage, stage } from "./fake.ts";
import { contrast, HeatMapOnScreen, linesOf } from "./map.ts";

export const agg = (id: number, name: string, fn: string, keys: string[], params: number[] = []): AggregationInfo => ({
    id,
    name,
    function: fn,
    keys,
    normal: 1,
    buckets: /quantize/.test(fn) ? said(fn as "quantize", params) : null,
});
export const column = (n: number, ...aggregations: Results["aggregations"]): Results => ({
    type: "results",
    n,
    t: T0 + n * 1000,
    dt: 1000,
    aggregations,
});

/** Presses Run and answers. */
export async function run(s: Stage, aggregations: AggregationInfo[], ...messages: Message[]): Promise<void> {
    const from = s.said.length;
    await click(s.page, ".run");
    const start = await s.says("start", from);
    s.send(
        { ...started(T0), id: start.id, script: start.script as string, name: start.name as string, aggregations },
        { type: "state", n: 0, t: T0, skipped: 0, aggregations: [] },
        ...messages,
    );
    await s.page.waitForSelector("[data-phase=running]");
}

export const WAIT = agg(0, "@wait", "lquantize", ["string"], [0, 100, 10]);
/** Ten columns: 90 fast ones in 0-9, 10 slow ones in 80-89; in the last three of "bad" 20 in 90-99 and 5 beyond. */
export const waits: Results[] = Array.from({ length: 10 }, (_, i) =>
    column(i + 1, {
        id: 0,
        ...(i === 0
            ? {
                  keys: [
                      [0, "fast"],
                      [1, "slow"],
                      [2, "bad"],
                  ] as [number, string][],
              }
            : {}),
        add: [[0, 1, 90], [1, 9, 10], ...(i >= 7 ? [[2, 10, 20, 11, 5]] : [])],
    }),
);

const texts = (s: Stage, selector: string) => s.page.locator(selector).allTextContents();
/** Numbers have thin spaces between their thousands. */
const plain = (t: string) => t.replace(/[\u202f\s]+/g, " ").trim();

export function views(browsers: Browsers, server: FakeServer): Case[] {
    const on = (name: string, path: string, body: (s: Stage) => Promise<void>, open: Open = {}): Case => ({
        name,
        async run() {
            const s = await stage(browsers, server, path, open);
            try {
                await until("the list of scripts", () => s.page.locator(".card-name").count());
                await body(s);
            } catch (e) {
                await picture(s.page, `failed-${name.replace(/\W+/g, "-")}`).catch(() => {});
                await s.close().catch(() => {});
                throw e;
            }
            await s.close();
        },
    });
    const download = async (s: Stage, item: string): Promise<[string, Buffer]> => {
        const { name, data } = await exported(s.page, item);
        return [name, data];
    };

    return [
        on("a script of the list runs with its arguments, and stops", "/", async (s) => {
            await s.page.getByPlaceholder("search scripts").fill("functions module");
            await same(
                async () => await texts(s, "[data-testid=scripts] .card-title"),
                ["calls of the functions of a module, each second"],
            );
            await s.page.locator("[data-testid=scripts] button").click();
            await s.page.getByLabel("argument MODULE").fill("shop");
            await run(
                s,
                [agg(0, "@", "count", ["string"])],
                column(1, { id: 0, keys: [[0, "shop:order/2"]], add: [[0, 7]] }),
            );
            const start = await s.says("start");
            assert.deepEqual([start.name, start.args, start.node], ["calls.d", ["shop"], "shop@host"]);
            await same(async () => await s.page.getByRole("tab", { name: "List", selected: true }).count(), 1);
            await click(s.page, ".stop");
            await s.says("stop");
            s.send({ type: "stopped", reason: "left" });
            await s.page.waitForSelector("[data-phase=stopped]");
            await s.page.keyboard.press("b");
            await s.page.getByRole("tab", { name: /Recent/ }).click();
            await s.page.locator("[data-testid=recent] .card-name", { hasText: "calls.d" }).waitFor();
            // what is kept is kept over a new visit; the address has script, argument and view
            await s.page.getByRole("tab", { name: "Time series" }).click();
            await s.page.reload();
            await until("the list of scripts", () => s.page.locator(".card-name").count());
            await same(async () => await s.page.getByLabel("argument MODULE").inputValue(), "shop");
            await like(async () => s.page.url(), /view=series/);
            await like(async () => s.page.url(), /name=calls\.d/);
            await s.page.getByRole("tab", { name: /Recent 1/ }).waitFor();
        }),

        on(
            "a start that takes long can be stopped; what an earlier stop is answered does not end a start",
            "/",
            async (s) => {
                await s.page.locator("[data-testid=scripts] button").first().click();
                await click(s.page, ".run");
                const first = await s.says("start");
                await s.page.waitForSelector("[data-phase=starting]");
                await click(s.page, ".stop");
                await s.says("stop");
                s.send({ type: "stopped", id: first.id, reason: "left" });
                await s.page.waitForSelector("[data-phase=idle]");
                const before = s.said.length;
                await click(s.page, ".run");
                const second = await s.says("start", before);
                s.send({ type: "stopped", id: first.id, reason: "left" });
                s.send({ type: "stopped", trace: 1, reason: "left", text: "" });
                const warning = {
                    severity: "warning" as const,
                    tag: "D_X",
                    text: "one after the other",
                    hint: null,
                    file: "x.d",
                    line: 1,
                    column: 1,
                    length: 1,
                    source: "",
                    rendered: "",
                };
                s.send({ type: "diagnostics", id: second.id, diagnostics: [warning] });
                await s.page.locator("[data-testid=problems] li").waitFor();
                assert.equal(await s.page.locator("[data-testid=status]").getAttribute("data-phase"), "starting");
            },
        ),

        on(
            "how far the placing of probes is, live; it can be stopped, and a later start knows nothing of it",
            "/",
            async (s) => {
                await s.page.locator("[data-testid=scripts] button").first().click();
                await click(s.page, ".run");
                const first = await s.says("start");
                await s.page.waitForSelector("[data-phase=starting]");
                const progress = (done: number, total: number, waiting = false, id = first.id) =>
                    s.send({ type: "progress", id, node: "shop@host", waiting, unit: "functions", done, total });
                const placing = async () => (await texts(s, "[data-testid=placing]")).map(plain);
                progress(0, 0);
                await same(placing, ["Placing probes on shop@host"]);
                assert.equal(await s.page.locator("progress").count(), 0);
                progress(12, 90, true);
                await same(placing, ["Waiting for another trace 12 of 90 functions on shop@host"]);
                progress(3100, 8037);
                await same(placing, ["Placing probes 3 100 of 8 037 functions on shop@host"]);
                await like(async () => (await texts(s, "[data-testid=status]"))[0], /^placing probes/);
                assert.deepEqual(
                    await s.page
                        .getByRole("progressbar", { name: "placing probes" })
                        .evaluate((p: HTMLProgressElement) => [p.value, p.max]),
                    [3100, 8037],
                );
                progress(7000, 8037, false, first.id + 100); // of a start that is none of this page's
                await click(s.page, ".stop");
                await s.says("stop");
                await same(placing, ["Placing probes 3 100 of 8 037 functions on shop@host"]);
                s.send({ type: "stopped", id: first.id, reason: "user", text: "a viewer has stopped it" });
                await s.page.waitForSelector("[data-phase=idle]");
                await same(placing, []);
                const before = s.said.length;
                await click(s.page, ".run");
                const second = await s.says("start", before);
                await s.page.waitForSelector("[data-phase=starting]");
                await like(async () => (await placing())[0], /^Starting.*asking shop@host/);
                progress(1, 2, false, second.id);
                await same(placing, ["Placing probes 1 of 2 functions on shop@host"]);
                s.send(
                    {
                        ...started(T0),
                        id: second.id,
                        script: second.script as string,
                        name: second.name as string,
                        aggregations: [agg(0, "@", "count", [])],
                    },
                    { type: "state", n: 0, t: T0, skipped: 0, aggregations: [] },
                );
                await s.page.waitForSelector("[data-phase=running]");
                assert.deepEqual(await placing(), []);
            },
        ),

        on(
            "a trace that takes long to end is stopping until it has; a second stop does not wait, a double click is one stop",
            "/",
            async (s) => {
                await s.page.locator("[data-testid=scripts] button").first().click();
                await run(s, [agg(0, "@", "count", ["string"])], column(1, { id: 0, keys: [[0, "a"]], add: [[0, 7]] }));
                const setClock = (t: number) =>
                    s.page.evaluate((t) => {
                        Date.now = () => t;
                    }, t);
                await setClock(T0);
                await s.page.locator(".stop").dblclick();
                await like(async () => (await texts(s, "[data-testid=status]"))[0], /^stopping/);
                assert.equal((await texts(s, ".stop"))[0], "■ Stop now");
                s.send(column(2, { id: 0, keys: [], add: [[0, 4]] }));
                await until("what was counted last", async () => (await texts(s, ".list-row .strong")).includes("11"));
                const stops = () => s.said.filter((m) => m.type === "stop").length;
                assert.equal(stops(), 1);
                await setClock(T0 + 5000);
                await until("a second stop", async () => {
                    await click(s.page, ".stop");
                    return stops() >= 2;
                });
                s.send({ type: "stopped", reason: "left" });
                await like(async () => (await texts(s, "[data-testid=status]"))[0], /^stopped/);
                await click(s.page, ".run");
                await s.page.waitForSelector("[data-phase=starting]");
                await like(async () => (await texts(s, "[data-testid=status]"))[0], /^starting/);
            },
        ),

        on("the first page: a question runs its script; a module is completed from the node", "/", async (s) => {
            await same(
                () => texts(s, "[data-testid=first] b"),
                ["Do processes wait to run?", "Which processes are busy?", "What starts and ends?"],
            );
            await s.page.getByRole("button", { name: /Do processes wait/ }).click();
            const start = await s.says("start");
            assert.deepEqual([start.name, start.node], ["latency.d", "shop@host"]);
            await s.page.locator("[data-testid=scripts] button", { hasText: "calls.d" }).click();
            await s.page.getByLabel("argument MODULE").fill("shop_");
            await same(
                () =>
                    s.page
                        .locator("datalist option")
                        .evaluateAll((all) => all.map((o) => (o as HTMLOptionElement).value)),
                ["shop_customer", "shop_sup"],
            );
        }),

        on("the editor tells comments, probes, aggregations, functions and strings from each other", "/", async (s) => {
            await enter(s.page);
            await s.page.keyboard.type("/* said */ BEGIN");
            await s.page.keyboard.press("Escape");
            await s.page.keyboard.type(' { @a = quantize(12); printf("x"); }');
            const colour = (text: string) =>
                s.page
                    .locator(".editor .cm-line span", { hasText: text })
                    .last()
                    .evaluate((e) => getComputedStyle(e).color);
            const colours = await Promise.all(["said", "BEGIN", "@a", "12", "printf", '"x"'].map(colour));
            assert.ok(new Set(colours).size === 6, colours.join(" "));
        }),

        on("paths open with their script in place", "/list", async (s) => {
            await until("the script", async () => /\$1::entry/.test((await written(s.page)) ?? ""));
            assert.equal(s.said.filter((m) => m.type === "start").length, 0, "nothing starts by itself");
        }),

        on("heat map: hover, cells, keys, filter", "/heatmap", async (s) => {
            await run(s, [WAIT], ...waits);
            await until("keys", () => s.page.locator("[data-testid=keys] .key-row").count());
            const map = await HeatMapOnScreen.of(s.page, { info: WAIT, used: [1, 11] });
            const tip = async () =>
                map.hover(0, 10).then((t) => [t.time, t.range, t.count, t["of column"], t["up to here"]]);
            await same(tip, ["12:00:10", "90 – 100", "20", "16.0 %", "96.0 %"]);
            await same(async () => (await map.hover(0, 11)).range, "≥ 100");
            await same(async () => (await map.hover(0, 11)).count, "5");
            await same(async () => (await map.hover(5, 10)).count, "0");
            // as many, as bright; none, the ground
            const [many, some, none] = [await map.colour(1, 1), await map.colour(1, 9), await map.colour(5, 10)];
            await same(async () => await map.colour(2, 1), many);
            assert.notDeepEqual(many, some);
            assert.notDeepEqual(some, none);
            // keys of all that is seen
            await like(async () => plain((await texts(s, "[data-testid=keys] .what"))[0]!), /^1 075 in 3 keys/);
            await same(async () => await texts(s, "[data-testid=keys] .key-row .name"), ["fast", "slow", "bad"]);
            await same(
                async () => await texts(s, "[data-testid=keys] .key-row .num:nth-of-type(2)"),
                ["900", "100", "75"],
            );
            await s.page.getByRole("button", { name: "key", exact: true }).click();
            await same(async () => await texts(s, "[data-testid=keys] .key-row .name"), ["bad", "fast", "slow"]);
            // a cell
            await map.click(0, 11);
            await s.page.waitForSelector("[data-testid=cell]");
            await like(async () => plain((await texts(s, "[data-testid=cell] .what"))[0]!), /^12:00:10, ≥ 100: 5/);
            await same(async () => await texts(s, "[data-testid=cell] .key-row .name"), ["bad"]);
            await s.page.keyboard.press("Escape");
            await s.page.locator(".heat-map").focus();
            await s.page.keyboard.press("Escape");
            await s.page.waitForSelector("[data-testid=keys]");
            // one key alone; a trace that has ended does not move on while nothing comes
            s.send({ type: "stopped", reason: "left" });
            await s.page.waitForSelector("[data-phase=stopped]");
            await s.page.locator("[data-testid=keys] .key-row", { hasText: "slow" }).click();
            await until("the filter", async () => /shows 1 of 3/.test((await texts(s, ".what"))[0]!));
            await same(async () => await map.colour(1, 1), none);
            await until("the other key's cells", async () => (await map.colour(1, 9)).join() !== none.join());
            await s.page.getByRole("button", { name: "show all" }).click();
        }),

        on("heat map: it holds still under the pointer, and while something is chosen", "/heatmap", async (s) => {
            await run(s, [WAIT], ...waits);
            await until("keys", () => s.page.locator("[data-testid=keys] .key-row").count());
            const map = await HeatMapOnScreen.of(s.page, { info: WAIT, used: [1, 11] });
            const seen = async (back: number, bucket: number) =>
                (({ time, count }) => [time, count])(await map.hover(back, bucket));
            await same(async () => await seen(0, 10), ["12:00:10", "20"]);
            // columns that come do not move what is pointed at, nor the rows
            s.send(column(11, { id: 0, add: [[0, 1, 7]] }));
            s.send({ type: "viewers", viewers: 2 });
            await s.page.getByText("2 viewers").waitFor();
            await like(async () => {
                await map.hover(0, 10); // a pointer that rests for long holds nothing
                return (await texts(s, ".held"))[0];
            }, /12:00:10 while you point/);
            assert.deepEqual(await seen(0, 10), ["12:00:10", "20"]);
            // the button goes down, a column comes, the button comes up: the cell is the one of before
            const { x, y } = map.cell(0, 11);
            await s.page.mouse.move(x, y);
            await s.page.mouse.down();
            s.send(column(12, { id: 0, add: [[0, 1, 1]] }));
            await s.page.mouse.up();
            await s.page.waitForSelector("[data-testid=cell]");
            await like(async () => plain((await texts(s, "[data-testid=cell] .what"))[0]!), /^12:00:10, ≥ 100: 5/);
            // it stays while it is chosen, wherever the pointer is
            await s.page.mouse.move(5, 5);
            await like(async () => (await texts(s, ".held"))[0], /12:00:10: something is chosen/);
            await s.page.keyboard.press("Escape");
            await until("live again", async () => (await s.page.locator(".held").count()) === 0);
            // what was the latest is two columns further
            await same(async () => await seen(2, 10), ["12:00:10", "20"]);
            await same(async () => await seen(1, 1), ["12:00:11", "7"]);
        }),

        on("no data is not passed for data: the clock stands, the map has a gap", "/heatmap", async (s) => {
            await run(s, [WAIT], ...waits);
            const map = await HeatMapOnScreen.of(s.page, { info: WAIT, used: [1, 11] });
            const ground = await map.colour(15, 5);
            await s.pass(4000);
            await like(async () => (await texts(s, "[data-testid=status]"))[0], /no data for 4 s/);
            const clock = () => s.page.locator(".status .num").textContent();
            assert.equal(await clock(), "0:10");
            await like(async () => (await texts(s, ".held.silent"))[0], /no data for 4 s/);
            assert.equal(await clock(), "0:10");
            // data again: three readings are missing, their places are neither empty nor filled
            s.send(column(14, { id: 0, add: [[0, 1, 7]] }));
            await until("data again", async () => (await s.page.locator(".silent").count()) === 0);
            await same(async () => (({ time, count }) => [time, count])(await map.hover(4, 1)), ["12:00:10", "90"]);
            await s.page.mouse.move(5, 5);
            const lines = async (back: number) => {
                const { x, y } = map.cell(back, 5);
                return await s.page.locator("[data-testid=heatmap]").evaluate(
                    (el, [px, py]) => {
                        const c = el as HTMLCanvasElement;
                        const r = c.getBoundingClientRect();
                        const d = c.getContext("2d")!.getImageData(px! - r.left, py! - r.top, 1, 16).data;
                        return new Set(Array.from({ length: 16 }, (_, i) => d.slice(4 * i, 4 * i + 3).join())).size;
                    },
                    [x, y],
                );
            };
            assert.ok((await lines(2)) > 1, "slanting lines");
            assert.deepEqual(await map.colour(15, 5), ground);
            // the next reading took seven seconds, and the two seconds before it are of no reading: no line runs over either gap
            await until("live again", async () => (await s.page.locator(".held").count()) === 0);
            s.send({ ...column(23, { id: 0, add: [[0, 1, 7]] }), dt: 7000 });
            await same(clock, "0:23");
            await same(async () => (({ time, count }) => [time, count])(await map.hover(5, 1)), ["12:00:23", "7"]);
            await s.page.mouse.move(5, 5);
            assert.ok((await lines(7.5)) > 1, "slanting lines");
            const [median] = await linesOf(s.page);
            assert.equal(median!.flat().length, 10 + 2 * 3, "ten columns, and two that are alone");
            for (const back of [11, 7.5]) {
                const x = map.x(back);
                const over = (xs: number[]) => Math.min(...xs) < x && x < Math.max(...xs);
                assert.ok(!median!.some((stretch) => over(stretch.map((p) => p[0]))), `a line ${back} columns back`);
            }
        }),

        on("heat map: a cell of few says which keys, an outlier is marked", "/heatmap", async (s) => {
            // a steady band of two hundred thousand in ten columns, and one value far above it
            const band = Array.from({ length: 10 }, (_, i) =>
                column(i + 1, {
                    id: 0,
                    ...(i === 0
                        ? {
                              keys: [
                                  [0, "many"],
                                  [1, "one"],
                              ] as [number, string][],
                          }
                        : {}),
                    add: [[0, 1, 20_000], ...(i === 4 ? [[1, 9, 1] as [number, number, number]] : [])],
                }),
            );
            await run(s, [WAIT], ...band);
            await until("keys", async () => (await s.page.locator("[data-testid=keys] .key-row").count()) === 2);
            const map = await HeatMapOnScreen.of(s.page, { info: WAIT, used: [1, 9] });
            const none = await map.colour(5, 7);
            await until("the cell of one", async () => contrast(await map.colour(5, 9), none) >= 3);
            const tip = await map.hover(5, 9);
            assert.deepEqual([tip.count, tip.one], ["1", "1"]);
        }),

        on("heat map: a rectangle against the rest", "/heatmap", async (s) => {
            await run(s, [WAIT], ...waits);
            await until("keys", () => s.page.locator("[data-testid=keys] .key-row").count());
            const map = await HeatMapOnScreen.of(s.page, { info: WAIT, used: [1, 11] });
            await map.drag([2, 11], [0, 9]);
            await s.page.waitForSelector("[data-testid=compare]");
            await like(
                async () => plain((await texts(s, "[data-testid=compare] .what"))[0]!),
                /12:00:08 – 12:00:10, ≥ 80: 105 inside, 970 in the rest/,
            );
            await same(async () => await texts(s, ".compare-row .name"), ["bad", "slow", "fast"]);
            await same(async () => await texts(s, ".compare-row .num:not(.dim)"), ["71.4 %", "28.6 %", "0.00 %"]);
            await same(async () => await texts(s, ".compare-row .dim"), ["0.00 %", "7.2 %", "92.8 %"]);
        }),

        on("heat map: scales, zoom, lines, looking back", "/heatmap", async (s) => {
            const next = shop(T0);
            await run(s, started(T0).aggregations, ...Array.from({ length: 660 }, (_, i) => next(i + 1)));
            await until("keys", () => s.page.locator("[data-testid=keys] .key-row").count());
            const legend = () => texts(s, "[data-testid=legend] .legend-ticks span");
            await until("a legend", async () => (await legend()).length === 3);
            const log = await legend();
            await s.page.getByRole("radiogroup", { name: "colour" }).getByRole("radio", { name: "linear" }).click();
            await until("another legend", async () => (await legend()).join() !== log.join());
            const [low, , high] = await legend();
            assert.ok(Number(low) <= 1 && Number(high) > 100);
            await s.page.getByRole("radiogroup", { name: "colour" }).getByRole("radio", { name: "rank" }).click();
            await s.page.getByRole("button", { name: "p90" }).click();
            await s.page.getByRole("radiogroup", { name: "y" }).getByRole("radio", { name: "linear" }).click();
            await until(
                "the address to know",
                () =>
                    /y=linear/.test(s.page.url()) && /scale=rank/.test(s.page.url()) && /p=50%2C90/.test(s.page.url()),
            );
            await s.page.getByRole("radiogroup", { name: "y" }).getByRole("radio", { name: "log" }).click();
            // hold still: what comes then is not shown, but kept
            await s.page.locator(".heat-map").focus();
            await s.page.keyboard.press("Space");
            await s.page.waitForSelector(".held");
            await like(async () => (await texts(s, ".held"))[0]!, /12:11:00/);
            s.send(next(661));
            await s.page.keyboard.press("ArrowLeft");
            await like(async () => (await texts(s, ".held"))[0], /12:10:54/);
            await s.page.keyboard.press("Home");
            await like(async () => (await texts(s, ".held"))[0], /12:03:00/); // the first two of ten minutes
            await s.page.keyboard.press("End");
            await until("live again", async () => (await s.page.locator(".held").count()) === 0);
            // the strip below goes where one drags
            const strip = (await s.page.locator("[data-testid=overview]").boundingBox())!;
            await s.page.mouse.click(strip.x + strip.width * 0.5, strip.y + 10);
            await like(async () => (await texts(s, ".held"))[0], /12:0(6:59|7:0\d)/);
            await s.page.keyboard.press("End");
            await until("live once more", async () => (await s.page.locator(".held").count()) === 0);
            // zoom to what is dragged, and back
            const box = (await s.page.locator(".heat-map").boundingBox())!;
            await s.page.keyboard.down("Shift");
            await s.page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.3);
            await s.page.mouse.down();
            await s.page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.6, { steps: 4 });
            await s.page.mouse.up();
            await s.page.keyboard.up("Shift");
            await s.page.getByRole("button", { name: "reset zoom" }).click();
            await same(async () => await s.page.locator(".held").count(), 0);
            const [csvName, csvText] = await download(s, "CSV of cells");
            assert.equal(csvName, "erltrace-shop-latency-time-2026-11-20T12-00-00.csv");
            assert.match(csvText.toString(), /^# .*\r\ntime,key,from,to,count\r\n2026-11-20T12:09:02/);
            const [, png] = await download(s, "PNG image");
            assert.equal(png.subarray(1, 4).toString(), "PNG");
        }),

        on("list: totals, rates, nesting, sorting, search", "/", async (s) => {
            await s.page.locator("[data-testid=scripts] button").first().click();
            await run(
                s,
                [agg(0, "@n", "count", ["string", "string"])],
                column(1, {
                    id: 0,
                    keys: [
                        [0, "a", "f"],
                        [1, "a", "g"],
                        [2, "b", "f"],
                    ],
                    add: [
                        [0, 10],
                        [1, 20],
                        [2, 25],
                    ],
                }),
                column(2, { id: 0, add: [[2, 1004]] }),
            );
            await until("rows", () => s.page.locator(".list-row .strong").count());
            await until("the second reading", async () => (await texts(s, ".list-row .strong"))[0] === "1\u202f029");
            await same(async () => (await texts(s, "[data-testid=total] .num")).map(plain), ["1004", "1 059"]);
            await same(async () => await texts(s, ".list-row .name"), ["total", "▾b", "f", "▾a", "g", "f"]);
            await same(
                async () => (await texts(s, ".list-row .strong")).map(plain),
                ["1 029", "1 029", "30", "20", "10"],
            );
            await s.page.getByRole("button", { name: "close b" }).click();
            await same(async () => await texts(s, ".list-row .name"), ["total", "▸b", "▾a", "g", "f"]);
            await s.page.getByRole("button", { name: "key", exact: true }).click();
            await same(async () => await texts(s, ".list-row .name"), ["total", "▾a", "f", "g", "▸b"]);
            await s.page.getByPlaceholder("search", { exact: true }).fill("b f");
            await same(async () => await texts(s, ".list-row .name"), ["total", "▾b", "f"]);
            await s.page.getByPlaceholder("search", { exact: true }).fill("");
            await s.page.getByRole("button", { name: "nested" }).click();
            await same(async () => await texts(s, ".list-row .name"), ["total", "a, f", "a, g", "b, f"]);
            const [, text] = await download(s, "CSV");
            assert.match(
                text.toString(),
                /^# latency\.d @n, shop@host, 2026-11-20T12:00:00\.000Z to 2026-11-20T12:00:02\.000Z\r\nkey,count,per second\r\n"a, f",10,0\r\n"a, g",20,0\r\n"b, f",1029,1004\r\n$/,
            );
            // the script clears, and truncates
            s.send(column(3, { id: 0, now: [[0, 3]], gone: [2] }));
            await until("what is left", async () => (await texts(s, ".list-row .name")).length === 3);
            await same(async () => (await texts(s, ".list-row .strong")).map(plain), ["3", "0"]);
        }),

        on("lower bounds are marked: list, keys, cells, time series, flame graph, files", "/heatmap", async (s) => {
            const sizes = agg(1, "@size", "quantize", ["string"]);
            await run(
                s,
                [agg(0, "@words", "sum", ["string", "stack"]), sizes],
                column(
                    1,
                    {
                        id: 0,
                        keys: [
                            [0, "a", ["leaf", "root"]],
                            [1, "b", ["root"]],
                        ],
                        add: [
                            [0, 4009],
                            [1, 7],
                        ],
                        at_least: [0],
                    },
                    {
                        id: 1,
                        keys: [
                            [0, "small"],
                            [1, "large"],
                        ],
                        add: [
                            [0, 67, 1],
                            [1, 74, 3],
                        ],
                        at_least: [1],
                    },
                ),
            );
            const row = (of: string, name: string) => s.page.locator(`[data-testid=${of}] .key-row`, { hasText: name });
            const told = (name: string) => row("keys", name).locator(".num").allTextContents();
            await like(async () => (await told("large")).join(), /^3,≥1\d{3},≥[12]\d{3}$/);
            await like(async () => (await told("small")).join(), /^1,\d+(\.\d)?,\d+(\.\d)?$/);
            // the cells of each: under the pointer, at the side, in the file
            const map = await HeatMapOnScreen.of(s.page, { info: sizes, used: [67, 74] });
            await like(async () => (await map.hover(0, 74)).range, /^≥1/);
            await like(async () => (await map.hover(0, 67)).range, /^\d/);
            // of a key that is not shown nothing is told
            await row("keys", "small").click();
            await same(async () => (await map.hover(0, 67)).small, "1");
            const { range, large } = await map.hover(0, 74);
            assert.deepEqual([range![0] !== "≥", large], [true, undefined]);
            await s.page.mouse.move(0, 0);
            await row("keys", "small").click();
            await map.click(0, 74);
            await like(() => s.page.locator("[data-testid=cell] .what").textContent(), /, ≥1/);
            await s.page.keyboard.press("Escape");
            const [, heat] = await download(s, "CSV");
            assert.match(
                heat.toString(),
                /count,at least\r\n[^\n]*,small,\d+,\d+,1,false\r\n[^\n]*,large,\d+,\d+,3,true\r\n/,
            );
            await s.page.getByRole("tab", { name: "List" }).click();
            const value = (key: string) => s.page.locator(`.list-row[data-key="${key}"] .strong`).first();
            await s.page.getByLabel("aggregation", { exact: true }).selectOption("@words");
            await same(async () => plain((await value("a").textContent())!), "≥4009");
            await same(async () => await value("b").textContent(), "7");
            await same(async () => plain((await texts(s, "[data-testid=total] .num")).at(-1)!), "≥4016");
            const [, csv] = await download(s, "CSV");
            assert.match(csv.toString(), /at least\r\n"a, leaf[^\n]*,true\r\n"b, root",7,[^\n]*,false\r\n$/);
            await s.page.getByRole("tab", { name: "Time series" }).click();
            const line = (name: string) => s.page.locator(".series-legend li", { hasText: name }).locator(".num");
            await like(async () => await line("a,").textContent(), /^≥/);
            await like(async () => await line("b,").textContent(), /^7/);
            await s.page.getByRole("tab", { name: "Flame graph" }).click();
            const graph = s.page.getByRole("application");
            const at = s.page.locator("[data-testid=flame-at]");
            await graph.press("ArrowUp");
            await like(async () => await at.textContent(), /^all: sum ≥4016,/);
            await graph.press("ArrowUp");
            await like(async () => await at.textContent(), /^a: sum ≥4009,/);
            await graph.press("ArrowRight");
            await like(async () => await at.textContent(), /^b: sum 7,/);
        }),

        on(
            "heat map: the parts of keys are columns that sort, and each key has its histogram",
            "/heatmap",
            async (s) => {
                const wait = {
                    ...agg(0, "@wait", "lquantize", ["string", "string", "string", "int"], [0, 100, 10]),
                    texts: ['"wait, us"', "execname", null, "arg2"],
                };
                await run(
                    s,
                    [wait],
                    column(1, {
                        id: 0,
                        keys: [
                            [
                                0,
                                "wait, us",
                                "shop",
                                "a_process_with_a_name_that_is_far_too_long_for_its_column_and_ends_in_one",
                                7,
                            ],
                            [
                                1,
                                "wait, us",
                                "till",
                                "a_process_with_a_name_that_is_far_too_long_for_its_column_and_ends_in_two",
                                10,
                            ],
                            [2, "wait, us", "shop", "short", 9],
                        ],
                        add: [
                            [0, 1, 90, 10, 1],
                            [1, 5, 10],
                            [2, 1, 5],
                            [-1, 2, 3],
                        ],
                    }),
                );
                const table = s.page.getByRole("table", { name: "keys" });
                const row = (i: number) => table.locator(".key-row").nth(i);
                const cells = (i: number) => row(i).locator(".name .middle").allTextContents();
                await same(async () => await table.locator(".key-row").count(), 4);
                await same(
                    async () =>
                        (await table.getByRole("columnheader").allTextContents()).map((t) => t.replace(/ [↓↑]$/, "")),
                    ["execname", "key 3", "arg2", "count", "p50", "p99", "shape"],
                );
                assert.equal((await cells(0)).length, 3);
                assert.equal((await cells(0))[2], "7");
                assert.deepEqual(await cells(3), ["all other keys"], "a key that stands for others");
                // what differs at its end is seen, and nothing is wider than its place
                for (const i of [0, 1]) {
                    const end = row(i).locator(".name .middle > :last-child").nth(1);
                    assert.match((await end.textContent())!, [/one$/, /two$/][i]!);
                    const [box, cell] = [
                        (await end.boundingBox())!,
                        (await row(i).locator(".name").nth(1).boundingBox())!,
                    ];
                    assert.ok(box.x + box.width <= cell.x + cell.width + 1, JSON.stringify([box, cell]));
                }
                await table.getByRole("columnheader", { name: "arg2" }).getByRole("button").click();
                await same(async () => (await cells(0))[2], "7");
                await same(async () => (await cells(1))[2], "9");
                await same(async () => (await cells(2))[2], "10");
                await table.getByRole("columnheader", { name: "execname" }).getByRole("button").click();
                await same(async () => (await cells(2))[0], "till");
                // the histogram: 90 in the first bucket and one far above, which is seen as well; another key has one bar between them
                const bars = async (i: number) =>
                    [
                        ...((await row(i).locator(".shape path").getAttribute("d")) ?? "").matchAll(
                            /M([\d.]+) 14v-([\d.]+)/g,
                        ),
                    ].map(([, x, h]) => [Number(x), Number(h)] as const);
                const tall = (await bars(0)).length === 2 ? await bars(0) : await bars(1);
                assert.equal(tall.length, 2, "two bars");
                assert.equal(tall[0]![1], 14);
                assert.equal(tall[1]![1], 1.5);
                const [only] = await bars(2);
                assert.ok(only![0] > tall[0]![0] && only![0] < tall[1]![0], "all keys have one axis");
                await picture(s.page, "keys");
                // against the rest
                const map = await HeatMapOnScreen.of(s.page, { info: wait, used: [1, 10] });
                await map.drag([0, 10], [0, 9]);
                await s.page.waitForSelector("[data-testid=compare]");
                await same(
                    async () => (await s.page.locator(".compare-row").first().locator(".name").allTextContents())[2],
                    "7",
                );
            },
        ),

        on("time series, flame graph, console, records", "/", async (s) => {
            await s.page.locator("[data-testid=scripts] button").first().click();
            await run(
                s,
                [
                    agg(0, "@n", "count", ["string"]),
                    agg(1, "@s", "count", ["stack"]),
                    agg(2, "@w", "lquantize", ["string"], [0, 100, 10]),
                ],
                column(
                    1,
                    {
                        id: 0,
                        keys: [
                            [0, "x"],
                            [1, "y"],
                        ],
                        add: [
                            [0, 10],
                            [1, 30],
                        ],
                    },
                    {
                        id: 1,
                        keys: [
                            [0, ["leaf", "mid", "root"]],
                            [1, ["other", "root"]],
                        ],
                        add: [
                            [0, 60],
                            [1, 40],
                        ],
                    },
                ),
                {
                    ...column(
                        2,
                        { id: 0, add: [[0, 10]] },
                        {
                            id: 2,
                            keys: [
                                [0, "fast"],
                                [1, "slow"],
                            ],
                            add: [
                                [0, 1, 9],
                                [1, 9, 1],
                            ],
                        },
                    ),
                    dt: 500,
                },
                {
                    type: "records",
                    probes: [[3, "erlang1:::process-spawn", "shop@host"]],
                    rows: [
                        [3, 1034.25, 1, "spawned ", ["<0.91.0>"]],
                        [3, 1035.5, 0, "<0.91.0>\nnext\n", [7]],
                    ],
                    skipped: 2,
                },
            );
            await s.page.getByRole("tab", { name: "Time series" }).click();
            await until("lines", async () => (await texts(s, ".series-legend .name")).length === 3);
            await same(async () => await texts(s, ".series-legend .name"), ["all keys", "x", "y"]);
            await same(async () => await texts(s, ".series-legend .num"), ["20/s", "20/s", "0/s"]);
            await s.page.keyboard.press("/");
            await s.page.keyboard.type("x");
            await until("the search", async () => (await texts(s, ".series-legend .name")).join() === "x");
            await s.page.keyboard.press("Escape");
            // what is left out is drawn no more, and areas lie above each other
            await s.page.getByRole("button", { name: "stacked" }).click();
            await like(async () => s.page.url(), /stacked=1/);
            await s.page.locator(".series-legend button", { hasText: "y" }).last().click();
            await same(
                () => s.page.locator(".series-legend button[aria-pressed=false] .name").allTextContents(),
                ["all keys", "y"],
            );
            await s.page.getByLabel("aggregation", { exact: true }).selectOption("@w");
            for (const [measure, values] of [
                ["p50", ["5.56", "5", "85"]],
                ["p99", ["89", "9.9", "89.9"]],
                ["values /s", ["20/s", "18/s", "2/s"]],
            ] as const) {
                await s.page.getByRole("radio", { name: measure, exact: true }).click();
                await same(async () => {
                    const [names, numbers] = [
                        await texts(s, ".series-legend .name"),
                        await texts(s, ".series-legend .num"),
                    ];
                    return ["all keys", "fast", "slow"].map((n) => numbers[names.indexOf(n)]);
                }, [...values]);
            }
            await s.page.getByRole("tab", { name: "Flame graph" }).click();
            const canvas = s.page.locator("[data-testid=flame]");
            await canvas.waitFor();
            const box = (await canvas.boundingBox())!;
            const tip = async (x: number, row: number) => {
                await s.page.mouse.move(box.x + box.width * x, box.y + box.height - 2 - 24 * row - 12);
                return (await until("a tip", () => texts(s, "[data-testid=tip] .tip-name, [data-testid=tip] dd"))).join(
                    " | ",
                );
            };
            await same(async () => await tip(0.5, 0), "all | 100 | 100 % | 0");
            await same(async () => await tip(0.3, 2), "mid | 60 | 60.0 % | 0");
            await same(async () => await tip(0.8, 2), "other | 40 | 40.0 % | 40");
            await s.page.locator(".view .search").fill("leaf|other");
            await until("the share", async () => (await texts(s, "[data-testid=matched]"))[0] === "100 % matched");
            await s.page.locator(".view .search").fill("leaf");
            await until("the share", async () => (await texts(s, "[data-testid=matched]"))[0] === "60.0 % matched");
            await s.page.mouse.click(box.x + box.width * 0.3, box.y + box.height - 2 - 24 * 2 - 12);
            await same(async () => await texts(s, ".crumbs button"), ["all", "root", "mid"]);
            await like(async () => await tip(0.9, 3), /^leaf/);
            await s.page.getByRole("button", { name: "reset zoom" }).click();
            await s.page.getByRole("radio", { name: "inverted" }).click();
            await same(async () => await tip(0.9, 1), "other | 40 | 40.0 % | 0");
            const [name, text] = await download(s, "folded stacks");
            assert.deepEqual(
                [name, text.toString()],
                ["erltrace-shop-latency-s-2026-11-20T12-00-00.folded", "root;mid;leaf 60\nroot;other 40\n"],
            );
            await s.page.getByRole("tab", { name: "Console" }).click();
            await same(async () => await texts(s, ".console-line"), ["spawned <0.91.0>", "next"]);
            assert.equal((await download(s, "text"))[1].toString(), "spawned <0.91.0>\nnext\n");
            await s.page.getByRole("tab", { name: "Records" }).click();
            await same(
                async () => await texts(s, ".record-row:not(.head) .probe"),
                ["erlang1:::process-spawn", "erlang1:::process-spawn"],
            );
            await same(async () => await texts(s, ".record-row:not(.head) .num"), ["1.034250", "1", "1.035500", "0"]);
            await same(async () => await texts(s, ".record-row:not(.head) .values"), ["<0.91.0>", "7"]);
            const [, csv] = await download(s, "CSV");
            assert.match(
                csv.toString(),
                /^# .*\r\ntime,ms,probe,node,cpu,text,values\r\n2026-11-20T12:00:01.034Z,1034\.25,erlang1:::process-spawn,shop@host,1,/,
            );
            const [, json] = await download(s, "JSON of everything");
            assert.equal((JSON.parse(json.toString()) as { records: unknown[] }).records.length, 2);
        }),

        on("errors stand at their place, and are gone when the script is right", "/", async (s) => {
            await enter(s.page);
            await s.page.keyboard.type("BEGIN { x = timestmp; }");
            const check = await until("the whole script to be checked", () =>
                s.said.find((m) => m.type === "check" && m.script === "BEGIN { x = timestmp; }"),
            );
            const diagnostic = {
                severity: "error" as const,
                tag: "D_IDENT_UNDEF",
                text: "failed to resolve timestmp: Unknown variable name",
                hint: "did you mean 'timestamp'?",
                file: "script.d",
                line: 1,
                column: 13,
                length: 8,
                source: "BEGIN { x = timestmp; }",
                rendered: "",
            };
            s.send({ type: "checked", id: check.id, diagnostics: [diagnostic] });
            await until(
                "the mark",
                async () => (await texts(s, ".editor .cm-lintRange-error")).join("") === "timestmp",
            );
            await like(
                async () => (await texts(s, "[data-testid=problems]"))[0]!,
                /1:13.*Unknown variable name.*D_IDENT_UNDEF.*did you mean/,
            );
            await s.page.locator("[data-testid=problems] button").click();
            let from = s.said.length;
            await s.page.keyboard.press("Control+Enter");
            const start = await s.says("start", from);
            s.send(
                { type: "diagnostics", id: start.id, diagnostics: [diagnostic] },
                { type: "failed", id: start.id, tag: "D_IDENT_UNDEF", text: diagnostic.text, hint: null },
            );
            await s.page.waitForSelector("[data-phase=failed]");
            await like(async () => (await texts(s, ".empty"))[0]!, /did not start.*Unknown variable name/);
            from = s.said.length;
            await enter(s.page);
            await s.page.keyboard.press("Control+End");
            await s.page.keyboard.type(" ");
            const again = await s.says("check", from);
            s.send({ type: "checked", id: again.id, diagnostics: [] });
            await until("no problems", async () => (await s.page.locator("[data-testid=problems]").count()) === 0);
        }),

        on("completion of probes, modules, functions and words", "/", async (s) => {
            const list = ".editor .cm-tooltip-autocomplete li";
            const labels = async (wanted: string) =>
                until(`the completion ${wanted}`, async () =>
                    (await texts(s, `${list} .cm-completionLabel`)).includes(wanted),
                );
            const take = async (wanted: string) => {
                await labels(wanted);
                await s.page
                    .locator(list, {
                        has: s.page.locator(".cm-completionLabel", {
                            hasText: new RegExp(`^${wanted.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`),
                        }),
                    })
                    .first()
                    .click();
            };
            const content = await enter(s.page);
            await s.page.keyboard.type("erl");
            await take("erlang*:");
            await labels("shop_customer");
            await s.page.keyboard.type("sh");
            await take("shop");
            await take("pay/2");
            await s.page.keyboard.type("en");
            await take("entry");
            await until("the description", async () =>
                ((await content.textContent()) ?? "").includes("erlang*:shop:pay/2:entry"),
            );
            await s.page.keyboard.type(" { @ = quan");
            await take("quantize");
            await until("the function", async () => ((await content.textContent()) ?? "").includes("@ = quantize("));
            await s.page.keyboard.type("vtim");
            await take("vtimestamp");
        }),

        on("what went wrong cannot be overlooked; what it costs is said", "/", async (s) => {
            await s.page.locator("[data-testid=scripts] button").first().click();
            await run(s, [WAIT], ...waits.slice(0, 2), cost(39, 84211));
            await until("the cost", async () =>
                /3\.9 %of a scheduler84\.2kprobes\/s/.test((await texts(s, "[data-testid=cost]"))[0] ?? ""),
            );
            await s.page.locator("[data-testid=cost]").click();
            await s.page.locator(".cost-more", { hasText: "shop:order/2:return" }).waitFor();
            await s.page.locator("[data-testid=cost]").click();
            s.send({
                type: "drops",
                drops: [
                    {
                        kind: "AGGREGATION",
                        count: 3,
                        total: 9,
                        node: "shop@host",
                        cpu: 1,
                        text: "3 aggregation drops on CPU 1",
                    },
                ],
            });
            await until("the drops", async () =>
                /^9 values of .* not counted/.test((await texts(s, "[data-testid=drops]"))[0] ?? ""),
            );
            await s.page.locator("[data-testid=drops]").getByRole("button", { name: "dismiss" }).click();
            await same(async () => await s.page.locator("[data-testid=drops]").count(), 0);
            s.send(
                {
                    type: "drops",
                    drops: [
                        {
                            kind: "AGGREGATION",
                            count: 1,
                            total: 10,
                            node: "shop@host",
                            cpu: 1,
                            text: "1 aggregation drop on CPU 1",
                        },
                    ],
                },
                {
                    type: "errors",
                    errors: [{ text: "divide-by-zero", name: "DIVZERO", epid: 1, count: 17 }],
                    skipped: 0,
                },
            );
            await until("the drops again", async () =>
                /^10 values of .* not counted/.test((await texts(s, "[data-testid=drops]"))[0] ?? ""),
            );
            await until("the errors", async () =>
                /^17 errors.*divide-by-zero/.test((await texts(s, "[data-testid=faults]"))[0] ?? ""),
            );
            s.send({
                type: "stopped",
                trace: 12,
                reason: "overload",
                text: "47 % of scheduler 1",
                hint: "trace fewer functions",
                ms: 2000,
                output: "",
            });
            await until("the end", async () =>
                /took too much.*47 % of scheduler 1.*trace fewer/.test(
                    (await texts(s, "[data-testid=stopped]"))[0] ?? "",
                ),
            );
            await same(async () => await s.page.locator(".banner.bad[role=alert]").count(), 1);
            await same(async () => await s.page.locator(".pause").count(), 0);
            for (const [reason, title, skipped, late] of [
                ["limit", /Stopped at a limit/, 3, /3 intervals came late/],
                ["error", /ended with an error/, 1, /1 interval came late/],
            ] as const) {
                await run(s, [WAIT], ...waits.slice(0, 2), {
                    type: "state",
                    n: 2,
                    t: T0 + 2000,
                    skipped,
                    aggregations: [],
                });
                await like(async () => (await texts(s, ".banner.warn"))[0], late);
                s.send(
                    { type: "stopped", trace: 12, reason, text: "that is why", ms: 2000, output: "" },
                    {
                        type: "diagnostics",
                        diagnostics: [
                            {
                                severity: "error",
                                tag: "X",
                                text: "that is why",
                                hint: null,
                                file: "",
                                line: 0,
                                column: 0,
                                length: 0,
                                source: "",
                                rendered: "",
                            },
                        ],
                    },
                );
                await like(async () => (await texts(s, "[data-testid=stopped]"))[0], title);
                await same(async () => await s.page.locator(".banner.bad[role=alert]").count(), 1); // it is said once
            }
        }),

        on("looking on at a running trace: its past, without keys", "/", async (s) => {
            await s.page.getByRole("tab", { name: /Running/ }).click();
            await s.page.locator("[data-testid=running] button").click();
            const join = await s.says("join");
            assert.equal(join.trace, 12);
            s.send(
                { ...started(T0), id: join.id, shared: true, aggregations: [WAIT] },
                {
                    type: "history",
                    columns: [1, 2, 3].map((n) => ({
                        n,
                        t: T0 + n * 1000,
                        dt: 1000,
                        aggregations: [{ id: 0, add: [[-2, 1, 90, 9, 10]] }],
                    })),
                },
                {
                    type: "state",
                    n: 3,
                    t: T0 + 3000,
                    skipped: 0,
                    aggregations: [
                        {
                            id: 0,
                            keys: [
                                [0, "fast"],
                                [1, "slow"],
                            ],
                            now: [
                                [0, 1, 270],
                                [1, 9, 30],
                            ],
                        },
                    ],
                },
                column(4, {
                    id: 0,
                    add: [
                        [0, 1, 90],
                        [1, 9, 10],
                    ],
                }),
                { type: "viewers", viewers: 2 },
            );
            await until("keys", () => s.page.locator("[data-testid=keys] .key-row").count());
            const map = await HeatMapOnScreen.of(s.page, { info: WAIT, used: [1, 9] });
            await same(async () => (await map.hover(3, 1)).count, "90");
            await same(async () => (await map.hover(0, 1)).count, "90");
            await like(
                async () => (await texts(s, "[data-testid=keys] .what"))[0]!,
                /300 of columns whose keys are not kept/,
            );
            await s.page.locator("[data-testid=keys] .key-row", { hasText: "fast" }).click();
            await until("the filter", async () => /shows 1 of 2/.test((await texts(s, ".what"))[0]!));
            await same(async () => (await map.hover(2, 1)).count, "not known");
            await s.page.getByRole("tab", { name: "List" }).click();
            await same(async () => (await texts(s, ".list-row .strong")).map(plain), ["360"]);
            await s.page.getByRole("button", { name: "back to all times and keys" }).click();
            await same(async () => (await texts(s, ".list-row .strong")).map(plain), ["360", "40"]);
        }),

        on("keys: run, views, hold still, search, help, side", "/", async (s) => {
            await s.page.locator("[data-testid=scripts] button").first().click();
            await run(s, [WAIT, agg(1, "@n", "count", ["string"])], ...waits);
            await s.page.locator(".main").click({ position: { x: 500, y: 20 } });
            await s.page.keyboard.press("2");
            await s.page.getByRole("tab", { name: "List", selected: true }).waitFor();
            await s.page.keyboard.press("/");
            await same(
                async () => await s.page.evaluate(() => document.activeElement?.getAttribute("placeholder")),
                "search",
            );
            await s.page.keyboard.press("Escape");
            await s.page.keyboard.press("1");
            await s.page.getByRole("tab", { name: "Heat map", selected: true }).waitFor();
            await s.page.keyboard.press("Space");
            await s.page.waitForSelector(".held");
            await same(async () => await s.page.locator(".side").isVisible(), false);
            await s.page.keyboard.press("b");
            await same(async () => await s.page.locator(".side").isVisible(), true);
            await s.page.keyboard.press("b");
            await same(async () => await s.page.locator(".side").isVisible(), false);
            await s.page.keyboard.press("?");
            await s.page.waitForSelector("dialog.help");
            await s.page.keyboard.press("Escape");
            await until("no help", async () => (await s.page.locator("dialog.help").count()) === 0);
            await s.page.keyboard.press("s");
            await s.says("stop");
        }),

        on("light and dark, as the system has it or as one likes", "/", async (s) => {
            const theme = () => s.page.evaluate(() => document.documentElement.dataset.theme);
            await same(async () => await theme(), "light");
            await s.page.emulateMedia({ colorScheme: "dark" });
            await same(async () => await theme(), "dark");
            await s.page.getByRole("button", { name: /^colours/ }).click();
            await same(async () => await theme(), "light");
            await s.page.reload();
            await same(async () => await theme(), "light");
        }),

        on(
            "nothing is wider than a phone",
            "/heatmap",
            async (s) => {
                await run(s, [WAIT, agg(1, "@n", "count", ["string"])], ...waits);
                for (const tab of ["Heat map", "List", "Time series"]) {
                    await s.page.getByRole("tab", { name: tab }).click();
                    await same(
                        async () => await s.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
                        true,
                    );
                }
            },
            { width: 390, height: 844, phone: true },
        ),
    ];
}
