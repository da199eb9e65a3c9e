// look.ts - how results are looked at, against the made-up server: the room they have, the time range and filter that all views share, and
// the way back.
import assert from "node:assert/strict";
import { T0 } from "../fake/world.ts";
import { type Browsers, type Case, click, like, type Open, picture, same, until } from "./browser.ts";
import { type FakeServer, type Stage, stage } from "./fake.ts";
import { agg, column, run } from "./views.ts";

export function look(browsers: Browsers, server: FakeServer): Case[] {
    const on = (name: string, body: (s: Stage) => Promise<void>, open: Open = {}): Case => ({
        name,
        async run() {
            const s = await stage(browsers, server, "/", open);
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

    return [
        on("script and library fold while results are shown, unless one wants them", async (s) => {
            const unfolded = () => s.page.locator(".side").isVisible();
            const bar = s.page.locator("[data-testid=script-bar]");
            await s.page.getByPlaceholder("search scripts").fill("functions module");
            await s.page.locator("[data-testid=scripts] button").click();
            await run(
                s,
                [agg(0, "@", "count", ["string"])],
                column(1, { id: 0, keys: [[0, "shop:order/2"]], add: [[0, 7]] }),
            );
            await same(unfolded, false);
            await same(async () => await bar.locator(".script-name").textContent(), "calls.d");
            // arguments can be changed there
            await bar.getByLabel("argument MODULE").fill("maps");
            const from = s.said.length;
            await bar.getByLabel("argument MODULE").press("Enter");
            const start = await s.says("start", from);
            await same(async () => start.args, ["maps"]);
            // an error of the script unfolds it
            s.send(
                {
                    type: "diagnostics",
                    id: start.id,
                    diagnostics: [
                        {
                            severity: "error",
                            tag: "D_IDENT_UNDEF",
                            text: "unknown name",
                            hint: null,
                            file: null,
                            line: 3,
                            column: 5,
                            length: 4,
                            source: null,
                            rendered: "",
                        },
                    ],
                },
                { type: "failed", id: start.id, tag: "D_IDENT_UNDEF", text: "unknown name", hint: null },
            );
            await same(unfolded, true);
            await same(async () => await bar.count(), 0);
            // what one chooses is kept: also by the next visit
            await run(s, [agg(0, "@", "count", ["string"])]);
            await same(unfolded, false);
            await bar.getByRole("button", { name: "script" }).click();
            await same(unfolded, true);
            s.send({ type: "stopped", reason: "left" });
            await s.page.waitForSelector("[data-phase=stopped]");
            await s.page.reload();
            await until("the list of scripts", () => s.page.locator(".card-name").count());
            await run(s, [agg(0, "@", "count", ["string"])]);
            await same(unfolded, true);
            await s.page.keyboard.press("b");
            await same(unfolded, false);
            // the key of the editor unfolds it
            await s.page.keyboard.press("e");
            await s.page.locator(".cm-editor.cm-focused").waitFor();
            await click(s.page, ".stop");
            await s.says("stop");
        }),

        on("flame graph: by time, sandwich, frames by keyboard, all of it in the address", async (s) => {
            await s.page.locator("[data-testid=scripts] button").first().click();
            await run(
                s,
                [agg(0, "@s", "count", ["stack"])],
                column(1, {
                    id: 0,
                    keys: [
                        [0, ["leaf", "mid", "root"]],
                        [1, ["other", "root"]],
                    ],
                    add: [
                        [0, 30],
                        [1, 10],
                    ],
                }),
                column(2, { id: 0, add: [[1, 60]] }),
            );
            const graph = s.page.getByRole("application");
            const press = async (...keys: string[]) => {
                for (const k of keys) await graph.press(k);
                return s.page.locator("[data-testid=flame-at]").textContent();
            };
            // left heavy: "other" has 70 of 100
            await like(() => press("ArrowUp", "ArrowUp", "ArrowUp"), /^other: count 70, 70\.0 % of all, itself 70$/);
            await like(() => press("ArrowRight"), /^mid: count 30, 30\.0 %/);
            await press("Enter");
            await same(async () => await s.page.locator(".crumbs button").allTextContents(), ["all", "root", "mid"]);
            await like(async () => s.page.url(), /zoom=root&zoom=mid/);
            await press("Escape");
            await until("the whole graph", async () => (await s.page.locator(".crumbs button").count()) === 0);
            // a column after the other
            await s.page.getByRole("radio", { name: "by time" }).click();
            await like(() => press("ArrowUp", "ArrowUp"), /^12:00:01: count 40, 40\.0 %/);
            await like(() => press("ArrowRight"), /^12:00:02: count 60, 60\.0 %/);
            await like(() => press("ArrowUp", "ArrowUp"), /^other: count 60, 60\.0 %/);
            await picture(s.page, "flame-time");
            // one function
            await s.page.getByRole("radio", { name: "sandwich" }).click();
            const row = (name: string) => s.page.locator(".function-row", { hasText: name });
            await same(
                async () =>
                    (await s.page.locator(".function-row:not(.functions-head)").allTextContents()).map((t) => t.trim()),
                ["other70 70.0 %70 70.0 %", "leaf30 30.0 %30 30.0 %", "root0 0.00 %100 100 %", "mid0 0.00 %30 30.0 %"],
            );
            await row("mid").press("Enter");
            await same(
                async () => await s.page.locator(".slices h2").allTextContents(),
                ["callers of mid", "what mid calls"],
            );
            const callees = s.page.getByRole("application", { name: /what mid calls/ });
            await callees.press("ArrowDown");
            await callees.press("ArrowDown");
            await like(async () => await s.page.locator("[data-testid=callees-at]").textContent(), /^leaf: count 30/);
            await picture(s.page, "flame-sandwich");
            await callees.press("Enter");
            await like(async () => s.page.url(), /flame=sandwich.*fn=leaf/);
            await s.page.locator(".view .search").fill("^o|root");
            await same(async () => await s.page.locator(".function-row:not(.functions-head)").count(), 2);
            await same(async () => await s.page.locator("[data-testid=matched]").textContent(), "100 % matched");
        }),

        on("times and keys are those of all views, in the address, and taken back by Back", async (s) => {
            const wait = agg(0, "@wait", "lquantize", ["string"], [0, 100, 10]);
            const calls = agg(1, "@n", "count", ["string"]);
            await s.page.locator("[data-testid=scripts] button").first().click();
            await run(
                s,
                [wait, calls],
                ...[1, 2, 3, 4].map((n) =>
                    column(
                        n,
                        { id: 0, ...(n === 1 ? { keys: [[0, "fast"], [1, "slow"]] } : {}), add: [[0, 1, 10], [1, 9, n]] }, // biome-ignore format: a row a key
                        {
                            id: 1,
                            ...(n === 1
                                ? {
                                      keys: [
                                          [0, "slow"],
                                          [1, "fast"],
                                      ],
                                  }
                                : {}),
                            add: [
                                [0, n],
                                [1, 100],
                            ],
                        },
                    ),
                ),
                {
                    type: "records",
                    probes: [[3, "erlang1:::process-spawn", "shop@host"]],
                    rows: [
                        [3, 500, 1, "one\n", []],
                        [3, 2500, 1, "three\n", []],
                    ],
                    skipped: 0,
                },
            );
            const chip = s.page.locator("[data-testid=look]");
            const values = async () => {
                const rows = s.page.locator(".list-row:not(.title):not(.total)");
                const names = await rows.locator(".name").allTextContents();
                const numbers = await rows.locator(".num.strong").allTextContents();
                return names.map((n, i) => `${n} ${numbers[i]}`);
            };
            const key = (name: string) => s.page.locator("[data-testid=keys] .key-row", { hasText: name });
            const shown = (name: string) => s.page.getByRole("tab", { name, selected: true }).waitFor();
            // a key chosen in the map is the one that the list has; another aggregation has the same by its text
            await key("slow").click();
            await same(async () => await chip.textContent(), "1 key×");
            await s.page.keyboard.press("2");
            await shown("List");
            await same(values, ["slow 10"]);
            await s.page.getByLabel("aggregation", { exact: true }).selectOption("@n");
            await same(values, ["slow 10"]);
            await s.page.getByLabel("aggregation", { exact: true }).selectOption("@wait");
            // columns 2 and 3, by the address
            const at = s.page.url();
            await s.page.evaluate(
                (to) => {
                    location.href = to;
                },
                `${at}&time=${T0 + 1000}-${T0 + 3000}`,
            );
            await same(async () => await chip.textContent(), "12:00:01 to 12:00:03, 1 key×");
            await same(values, ["slow 5"]);
            await s.page.getByRole("tab", { name: "Time series" }).click();
            await like(async () => (await s.page.locator(".series-legend").textContent()) ?? "", /slow/);
            assert.equal(await s.page.locator(".series-legend .name", { hasText: "fast" }).count(), 0);
            await s.page.getByRole("tab", { name: "Console" }).click();
            await same(async () => await s.page.locator(".console-line").allTextContents(), ["three"]);
            // Back: series, list; Forward
            await s.page.goBack();
            await shown("Time series");
            await s.page.goBack();
            await shown("List");
            await same(values, ["slow 5"]);
            await s.page.goForward();
            await shown("Time series");
            await s.page.getByRole("button", { name: "back to all times and keys" }).click();
            await same(async () => await chip.count(), 0);
            await s.page.keyboard.press("2");
            await shown("List");
            await same(async () => (await values()).sort(), ["fast 40", "slow 10"]);
            await s.page.goBack();
            await s.page.goBack();
            await same(async () => await chip.textContent(), "12:00:01 to 12:00:03, 1 key×");
            // the trace still runs, and nothing was said to the server
            await s.page.waitForSelector("[data-phase=running]");
            assert.deepEqual(s.said.filter((m) => m.type === "stop" || m.type === "start").length, 1);
        }),

        on(
            "time series: lines alone and hidden, the total on its own axis, values under the pointer, a range by drag",
            async (s) => {
                await s.page.locator("[data-testid=scripts] button").first().click();
                await run(
                    s,
                    [agg(0, "@n", "count", ["string"])],
                    ...[1, 2, 3, 4, 5, 8, 9].map((n) =>
                        column(n, {
                            id: 0,
                            ...(n === 1 ? { keys: [[0, "x"], [1, "y"], [2, "z"]] } : {}), // biome-ignore format: a row a key
                            add: [
                                [0, 100 * n],
                                [1, 50],
                                [2, 10],
                            ],
                        }),
                    ),
                );
                await s.page.getByRole("tab", { name: "Time series" }).click();
                const over = s.page.locator(".series-map");
                /** Where the lines are: without the axes, of which the total has one at the right. */
                const place = async (right: number) => {
                    const box = (await over.boundingBox())!;
                    return { x: box.x + 62, y: box.y + 10, width: box.width - 62 - right, height: box.height - 34 };
                };
                const box = await place(14);
                const legend = s.page.locator(".series-legend");
                const on = () => legend.locator("button[aria-pressed=true] .name").allTextContents();
                await same(on, ["x", "y", "z"]);
                const values = () => legend.locator(".num").allTextContents();
                // seconds 1 to 9 are the width, true to time; before all readings are here, another time is at this place
                await same(async () => {
                    await s.page.mouse.move(box.x + (box.width * 4) / 8 - 1, box.y + 50);
                    await s.page.mouse.move(box.x + (box.width * 4) / 8, box.y + 50);
                    return await legend.locator(".series-time").textContent();
                }, "12:00:05");
                await same(values, ["560/s", "500/s", "50/s", "10/s"]);
                // nothing is drawn where readings are missing
                const inked = (share: number) =>
                    s.page.locator("[data-testid=series]").evaluate((el, share) => {
                        const c = el as HTMLCanvasElement;
                        const k = c.width / c.getBoundingClientRect().width;
                        const x = 62 * k + share * (c.width - 76 * k);
                        const { data: d } = c.getContext("2d")!.getImageData(Math.round(x), 0, 1, c.height);
                        let coloured = 0;
                        for (let i = 0; i < d.length; i += 4) {
                            const rgb = [d[i]!, d[i + 1]!, d[i + 2]!];
                            if (d[i + 3]! > 128 && Math.max(...rgb) - Math.min(...rgb) > 60) coloured++;
                        }
                        return coloured;
                    }, share);
                await until("drawn", async () => (await inked(3.5 / 8)) > 0);
                assert.equal(await inked(5.5 / 8), 0);
                await legend.getByRole("button", { name: /^y/ }).click({ modifiers: ["Shift"] });
                await same(on, ["y"]);
                await legend.getByRole("button", { name: "show all lines" }).click();
                await legend.getByRole("button", { name: /all keys/ }).click();
                await same(on, ["all keys", "x", "y", "z"]);
                await picture(s.page, "series-total");
                await s.page.getByRole("button", { name: "stacked" }).click();
                await picture(s.page, "series-stacked");
                // seconds 2 to 4 for all views
                const now = await place(62);
                await s.page.mouse.move(now.x + (now.width * 0.9) / 8, now.y + 80);
                await s.page.mouse.down();
                await s.page.mouse.move(now.x + (now.width * 3.1) / 8, now.y + 90, { steps: 5 });
                await s.page.mouse.up();
                await like(
                    async () => await s.page.locator("[data-testid=look]").textContent(),
                    /^12:00:01 to 12:00:03/,
                );
                await s.page.getByRole("tab", { name: "List" }).click();
                await same(
                    async () => await s.page.locator(".list-row:not(.title):not(.total) .num.strong").allTextContents(),
                    ["900", "150", "30"],
                );
            },
        ),

        on("a pause holds what is seen, whatever the script clears", async (s) => {
            await s.page.locator("[data-testid=scripts] button").first().click();
            await run(
                s,
                [agg(0, "@n", "count", ["string"])],
                column(1, { id: 0, keys: [[0, "x"]], add: [[0, 7]] }),
                column(2, { id: 0, add: [[0, 5]], now: [[0, 5]] }), // cleared
            );
            const row = s.page.locator(".list-row:not(.title):not(.total) .num.strong");
            await same(async () => await row.allTextContents(), ["5"]);
            await s.page.keyboard.press("Space");
            await s.page.locator(".pause.on").waitFor();
            s.send(column(3, { id: 0, keys: [[1, "y"]], add: [[0, 1], [1, 1]] })); // biome-ignore format: a row a key
            await s.page.getByRole("columnheader", { name: "key" }).getByRole("button").click();
            await same(async () => await row.allTextContents(), ["5"]);
            await click(s.page, ".pause");
            await same(async () => (await row.allTextContents()).sort(), ["1", "6"]);
        }),

        on("a trace in which nothing happens says so; the width of the keys is kept", async (s) => {
            await s.page.locator("[data-testid=scripts] button").first().click();
            await run(s, [agg(0, "@w", "lquantize", ["string"], [0, 100, 10])], column(6), column(7));
            await like(
                async () => await s.page.locator("[data-testid=quiet]").textContent(),
                /^Nothing was counted yet 42/,
            );
            s.send(column(8, { id: 0, keys: [[0, "x"]], add: [[0, 1, 1]] }));
            await until("no notice", async () => (await s.page.locator("[data-testid=quiet]").count()) === 0);
            const line = s.page.getByRole("separator", { name: "width of the keys" });
            await line.press("ArrowLeft");
            await same(async () => await line.getAttribute("aria-valuenow"), "32");
            await s.page.keyboard.press("2");
            await s.page.getByRole("tab", { name: "List", selected: true }).waitFor();
            await s.page.keyboard.press("1");
            await same(async () => await line.getAttribute("aria-valuenow"), "32");
        }),
    ];
}
