// real_views.ts - every view against `erltrace serve` and a real node: its scales, zoom, looking back, search, keys and files, each
// held against a workload whose numbers are known to the last digit.
//
// The workload is etui:paced(N): N calls, a few each instant. Every tenth is told as 85, the others as 1 to 9; every fourth has
// another stack. How the calls fall into columns is not known beforehand; the page says it in its JSON, whose sums are checked, and
// what is drawn is held against that.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { bucketsOf, type Hist, percentile } from "../../src/model/buckets.ts";
import { compact, exact } from "../../src/model/format.ts";
import { liveWidth } from "../../src/model/heattime.ts";
import { NO_PLACE } from "../../src/model/look.ts";
import type { AggregationInfo } from "../../src/model/protocol.ts";
import { DEFAULT_VIEW, read, write } from "../../src/model/url.ts";
import { said } from "../fake/engine.ts";
import { type Case, click, download, like, picture, same, textsOf, until, written } from "./browser.ts";
import { backs, type Columns, HeatMapOnScreen, lasted, linesOf } from "./map.ts";
import { ErlangNode, Server } from "./node.ts";
import type { Real } from "./real.ts";
import { loose } from "./results.ts";

const PACED = `#pragma D option quiet
erlang*:etui:step/1:entry
{
    self->n++;
    this->slow = self->n % 10 == 0;
    @wait[this->slow ? "slow" : "fast"] = lquantize(this->slow ? 85 : self->n % 10, 0, 100, 10);
    @n[this->slow ? "slow" : "fast"] = count();
    @stacks[self->n % 4 == 0 ? "root;other" : "root;mid;leaf"] = count();
}
`;
const STACKS_BY_LINES = `#pragma D option quiet
erlang*:etui:step/1:entry { self->n++; @[self->n % 4 == 0 ? "other\\nroot" : "leaf\\nmid\\nroot"] = count(); }
`;
const CALLS = 2000;
const TEN_MINUTES = 600_000;
const FEW = 400;
const WAIT: AggregationInfo = {
    id: 0,
    name: "@wait",
    function: "lquantize",
    keys: ["string"],
    normal: 1,
    buckets: said("lquantize", [0, 100, 10]),
};
const [FAST, SLOW] = [1, 9]; // buckets

const texts = (page: Page, selector: string) => textsOf(page.locator(selector));
const plain = (t: string) => t.replace(/[\u202f\s]+/g, " ").trim();
const lines = (csv: string) =>
    csv
        .trim()
        .split("\r\n")
        .slice(1) // what it shows
        .map((l) => l.split(","));

const exported = async (page: Page, item: string): Promise<Buffer> => (await download(page, item)).data;

interface Everything {
    aggregations: { name: string; columns: Columns }[];
}
const everything = async (page: Page) =>
    JSON.parse((await exported(page, "JSON of everything")).toString()) as Everything;

/** A PNG of the size of a view, and not of one colour only: those pack to next to nothing. */
function isPicture(png: Buffer): void {
    assert.equal(png.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
    const [w, h] = [png.readUInt32BE(16), png.readUInt32BE(20)];
    assert.ok(w > 300 && h > 100 && png.length > 2000, `${w} x ${h}, ${png.length} bytes`);
}

const legendTop = async (page: Page) => (await texts(page, "[data-testid=legend] .legend-ticks span")).at(-1);
const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true });
const choose = (page: Page, group: string, name: string) =>
    page.getByRole("radiogroup", { name: group, exact: true }).getByRole("radio", { name, exact: true }).click();

/** The views of counts: exact, searched, as lines. */
async function counts(page: Page): Promise<void> {
    await page.keyboard.press("2");
    await tab(page, "List").and(page.locator("[aria-selected=true]")).waitFor();
    await page.getByLabel("aggregation", { exact: true }).selectOption("@n");
    await same(async () => (await texts(page, ".list-row .strong")).map(plain), ["1 800", "200"]);
    await page.keyboard.press("/");
    await page.keyboard.type("SLO");
    await same(async () => await texts(page, ".list-row:not(.title):not(.total) .name"), ["slow"]);
    await page.keyboard.press("Escape");

    await tab(page, "Time series").click();
    await page.getByLabel("aggregation", { exact: true }).selectOption("@n");
    await same(async () => (await texts(page, ".series-legend .name")).sort(), ["all keys", "fast", "slow"]);
    const { aggregations } = await everything(page);
    const n = aggregations.find((a) => a.name === "@n")!.columns;
    const of = (key: string) => n.map((c) => c.added.reduce((sum, [k, v]) => sum + (k === key ? v : 0), 0));
    const series = lines((await exported(page, "CSV")).toString());
    const dt = new Map(n.map((c) => [new Date(c.t).toISOString(), c.dt]));
    for (const [key, wanted] of [
        ["all", 2000],
        ["fast", 1800],
        ["slow", 200],
    ] as const) {
        const at = series[0]!.indexOf(key);
        const sum = series.slice(1).reduce((s, l) => s + (Number(l[at]) * dt.get(l[0]!)!) / 1000, 0);
        assert.ok(Math.abs(sum - wanted) < 0.5, `the rates of ${key} add up to ${sum}`);
    }
    // under the pointer stands what the column had
    const box = (await page.locator("[data-testid=series]").boundingBox())!;
    const middle = (c: { t: number; dt: number }) => c.t - c.dt / 2;
    const most = of("fast").indexOf(Math.max(...of("fast")));
    const [c, first, last] = [n[most]!, n[0]!, n[n.length - 1]!];
    await page.mouse.move(
        box.x + 62 + ((box.width - 76) * (middle(c) - middle(first))) / (middle(last) - middle(first)),
        box.y + 60,
    );
    const at = (await texts(page, ".series-legend .name")).indexOf("fast");
    await same(
        async () => (await texts(page, ".series-legend .num"))[at],
        `${compact((of("fast")[most]! * 1000) / c.dt)}/s`,
    );
}

/** The flame graph of so many calls, a quarter of them with the other stack. */
async function flames(page: Page, calls: number): Promise<void> {
    await tab(page, "Flame graph").click();
    const [all, mid, other] = [calls, 0.75 * calls, 0.25 * calls].map((n) => plain(exact(n)));
    const canvas = page.locator("[data-testid=flame]");
    await canvas.waitFor();
    const box = (await canvas.boundingBox())!;
    const at = (x: number, row: number) => [box.x + box.width * x, box.y + box.height - 2 - 24 * row - 12] as const;
    const tip = async (x: number, row: number) => {
        await page.mouse.move(...at(x, row));
        return plain((await texts(page, "[data-testid=tip] .tip-name, [data-testid=tip] dd")).join(" | "));
    };
    await same(async () => await tip(0.5, 0), `all | ${all} | 100 % | 0`);
    await same(async () => await tip(0.3, 1), `root | ${all} | 100 % | 0`);
    await same(async () => await tip(0.3, 2), `mid | ${mid} | 75.0 % | 0`);
    await same(async () => await tip(0.9, 2), `other | ${other} | 25.0 % | ${other}`);
    await page.locator(".view .search").fill("^le.f$");
    await like(async () => (await texts(page, "[data-testid=matched]"))[0], /^75\.0 % matched/);
    await page.mouse.click(...at(0.3, 2));
    await same(async () => await texts(page, ".crumbs button"), ["all", "root", "mid"]);
    await like(async () => await tip(0.95, 3), new RegExp(`^leaf \\| ${mid} `));
    await page.getByRole("button", { name: "reset zoom" }).click();
    await page.getByRole("radio", { name: "inverted" }).click();
    await same(async () => await tip(0.3, 1), `leaf | ${mid} | 75.0 % | 0`);
    await same(async () => await tip(0.9, 2), `root | ${other} | 25.0 % | ${other}`);
    assert.deepEqual((await exported(page, "folded stacks")).toString().trim().split("\n").sort(), [
        `root;mid;leaf ${0.75 * calls}`,
        `root;other ${0.25 * calls}`,
    ]);
    isPicture(await exported(page, "PNG image"));
    await page.getByRole("radio", { name: "from the root" }).click();
}

/** The heat map when all stands: what is drawn against what there is. */
async function map(page: Page): Promise<void> {
    await page.keyboard.press("1");
    await page.waitForSelector("[data-testid=heatmap]");
    const timed = (await everything(page)).aggregations.find((a) => a.name === "@wait")!.columns;
    const columns = timed.map((c) => c.added);
    const count = (i: number, bucket: number) => columns[i]!.reduce((sum, [, b, n]) => sum + (b === bucket ? n : 0), 0);
    const sum = (bucket: number) => columns.reduce((s, _, i) => s + count(i, bucket), 0);
    assert.deepEqual([sum(FAST), sum(SLOW)], [1800, 200]);
    const span = liveWidth(lasted(timed), TEN_MINUTES, 1000) / 1000;
    // neither the first nor the last one: a drag from the first to itself is none, and a line may end in either
    const inner = columns.map((_, i) => i).slice(1, -1);
    const [best] = inner.filter((i) => count(i, SLOW) > 0).sort((a, b) => count(b, FAST) - count(a, FAST)) as [number];
    assert.ok(best !== undefined && count(best, FAST) > count(best, SLOW), "a column with most of its calls fast");
    const back = backs(timed)[best]!;

    // both axes: where a bucket lies is what stands there
    for (const scale of ["linear", "log"] as const) {
        await choose(page, "y", scale);
        await like(async () => page.url(), scale === "linear" ? /y=linear/ : /^(?!.*y=linear)/);
        const m = await HeatMapOnScreen.of(page, { info: WAIT, used: [FAST, SLOW], scale, span });
        for (const [bucket, text] of [
            [FAST, "0 – 10"],
            [5, "40 – 50"],
            [SLOW, "80 – 90"],
        ] as const)
            await same(async () => {
                const t = await m.hover(back, bucket);
                return [t.range, plain(t.count!)];
            }, [text, String(count(best, bucket))]);
    }
    const m = await HeatMapOnScreen.of(page, { info: WAIT, used: [FAST, SLOW], span });
    await page.mouse.move(2, 2);

    // colours: more is another one than less, and none is the ground; by the count itself few are nearer to none than by its logarithm
    const line = (p: string) =>
        page.getByRole("group", { name: "percentile lines" }).getByRole("button", { name: p, exact: true });
    await click(page, line("p50")); // off: it was the only one
    await like(async () => page.url(), /p=(&|$)/);
    const far = (a: number[], b: number[]) => Math.hypot(...a.map((v, i) => v - b[i]!));
    const seen: Record<string, [number, number]> = {};
    for (const scale of ["rank", "log", "linear"]) {
        await choose(page, "colour", scale);
        await page.locator(`[data-testid=legend][title*=" ${scale} scale"]`).waitFor();
        const ground = await m.colour(back, 5);
        seen[scale] = await until(`cells drawn ${scale}`, async () => {
            const [fast, slow] = [far(await m.colour(back, FAST), ground), far(await m.colour(back, SLOW), ground)];
            return fast > slow && (scale !== "linear" || slow < seen.log![1]) && [fast, slow]; // few are fainter by count than by its logarithm
        });
        if (scale !== "linear") continue;
        const most = Math.max(...columns.map((_, i) => count(i, FAST)));
        const rate = Math.max(...timed.map((c, i) => (count(i, FAST) * 1000) / c.dt)); // where a reading came late
        await like(() => legendTop(page), new RegExp(`^(${compact(most)}|${compact(rate)}/s)$`));
    }

    // a percentile line has a point where the percentile of each column is, and is seen there
    const buckets = bucketsOf("lquantize", WAIT.buckets!);
    const p99 = columns.map((_, i) => {
        const hist: Hist = new Map([FAST, SLOW].map((b) => [b, count(i, b)]));
        return count(i, FAST) + count(i, SLOW) > 0 ? percentile(hist, buckets, 0.99) : null;
    });
    const wanted = m.points(timed, p99);
    const [x, y] = m.points(timed, p99.map((v, i) => (i === best ? v : null)))[0]!; // biome-ignore format: one line
    const around = () => m.pixels(x - 3, y - 3, 6, 6);
    const without = await around();
    await click(page, line("p99"));
    await until("a line on the screen", async () => (await around()) !== without);
    const [drawn, ...others] = await linesOf(page);
    assert.equal(others.length, 0);
    const points = drawn!.flat();
    for (const [x, y] of wanted)
        assert.ok(
            points.some((p) => Math.abs(p[0] - x) <= 1 && Math.abs(p[1] - y) < 0.02), // columns lie on whole pixels
            `p99 of a column is at ${x}, ${y}; the line has ${JSON.stringify(points)}`,
        );

    // drag to zoom: up to this column, and the upper half; then on in time, and back, and the whole again
    const rows = async () => lines((await exported(page, "CSV of cells")).toString()).slice(1);
    const calls = async () => (await rows()).reduce((s, l) => s + Number(l[4]), 0);
    const between = (first: number, last: number) =>
        columns.slice(first, last + 1).reduce((s, c) => s + c.reduce((t, [, , n]) => t + n, 0), 0);
    const all = await rows();
    assert.equal(await calls(), CALLS);
    await page.keyboard.down("Shift");
    await m.drag([Math.min(lasted(timed) / 1000 + 3, span - 1), SLOW], [back, 6]); // from the empty place before the first column
    await page.keyboard.up("Shift");
    await page.getByRole("button", { name: "reset zoom" }).waitFor();
    await like(async () => (await texts(page, ".held"))[0], /held at/);
    await same(calls, between(0, best));
    const top = (await page.locator("[data-testid=heatmap]").boundingBox())!;
    const below = async () => {
        await page.mouse.move(top.x + top.width / 2, top.y + top.height - 22 - 5);
        const tip = page.locator("[data-testid=tip] dd");
        return (await tip.count()) > 1 ? (await tip.allTextContents())[1] : "";
    };
    await like(below, /^< (50|60)$/);
    const range = () => read(new URL(page.url()).hash).look.range!;
    const before = range();
    await page.locator(".heat-map").focus();
    await page.keyboard.press("ArrowRight");
    await until("a later time in the address", () => range().from > before.from);
    // the address has whole milliseconds
    const inRange = (slack: number) => {
        const { from, to } = range();
        const middles = timed.map((c) => c.t - c.dt / 2);
        const seen = columns.filter((_, i) => middles[i]! > from - slack && middles[i]! <= to + slack);
        return seen.reduce((s, c) => s + c.reduce((t, [, , n]) => t + n, 0), 0);
    };
    await until("the calls of that time", async () => {
        const n = await calls();
        return n >= inRange(-1) && n <= inRange(1);
    });
    await page.locator(".heat-map").focus();
    await page.keyboard.press("ArrowLeft");
    await same(calls, between(0, best));
    await page.locator(".heat-map").focus();
    await page.keyboard.press("0");
    await same(async () => (await rows()).length, all.length);
    isPicture(await exported(page, "PNG image"));

    // keys choose cells, and filter
    await page.locator(".heat-map").focus();
    await page.keyboard.press("ArrowUp");
    await page.waitForSelector("[data-testid=cell]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("[data-testid=keys]");
    await page.getByPlaceholder("search keys").fill("slo");
    await same(async () => await texts(page, "[data-testid=keys] .key-row .name"), ["slow"]);
    await page.locator("[data-testid=keys] .key-row").click();
    await same(async () => plain((await m.hover(back, FAST)).count!), "0");
    await same(async () => plain((await m.hover(back, SLOW)).count!), String(count(best, SLOW)));
    await click(page, page.getByRole("button", { name: "show all" }));

    // light and dark: everything is drawn anew
    const light = await m.colour(back, 5);
    for (let i = 0; i < 2; i++) await page.getByRole("button", { name: /^colours/ }).click();
    await same(() => page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await until("a dark map", async () => (await m.colour(back, 5))[0] < light[0] - 60);
    await picture(page, "real-heatmap-dark");
}

export function realViews(on: (name: string, body: (r: Real) => Promise<void>) => Case): Case[] {
    return [
        on(
            "each view of a workload with known numbers: scales, lines, zoom, pause, search, keys, files, colours, phone",
            async (r) => {
                const { page, close } = await r.openAt(
                    write({
                        node: r.node.name,
                        name: "",
                        script: PACED,
                        args: [],
                        view: { ...DEFAULT_VIEW, view: "heatmap", column: 1000 },
                        look: { ...NO_PLACE, width: TEN_MINUTES }, // however long it takes here, all of it stays in view
                    }),
                );
                await r.run(page);
                await r.node.call(`etui:paced(${CALLS / 2}), ok`);
                const inView = async () =>
                    Number(
                        (
                            /^([\d\s\u202f]+) in 2 keys/.exec(
                                (await texts(page, "[data-testid=keys] .what"))[0] ?? "",
                            )?.[1] ?? ""
                        ).replace(/\D/g, ""),
                    );
                await until("calls", inView);
                // hold still: what comes then is kept, but not shown
                await page.locator(".heat-map").focus();
                await page.keyboard.press("Space");
                await page.waitForSelector(".held");
                const held = await inView();
                const total = async () =>
                    (await everything(page)).aggregations
                        .find((a) => a.name === "@wait")!
                        .columns.reduce((s, c) => s + c.added.reduce((t, [, , n]) => t + n, 0), 0);
                await r.node.call(`etui:paced(${CALLS / 2}), ok`);
                await until("more", async () => (await total()) > held);
                assert.equal(await inView(), held, "what is held stands");
                await page.locator(".heat-map").focus();
                await page.keyboard.press("End");
                await until("all of it", async () => (await inView()) === CALLS);

                // a phone looks on at the same trace
                const phone = await r.open(
                    PACED,
                    { view: "list", agg: "@n" },
                    { open: { width: 390, height: 844, phone: true } },
                );
                await r.run(phone.page);
                for (const name of ["Heat map", "Time series", "Flame graph", "List"]) {
                    await tab(phone.page, name).tap();
                    await tab(phone.page, name).and(phone.page.locator("[aria-selected=true]")).waitFor();
                    await same(
                        () => phone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
                        true,
                    );
                }
                await same(async () => (await texts(phone.page, ".list-row .strong")).map(plain), ["1 800", "200"]);
                await phone.close();

                // the key stops it, and nothing is left in the node; what is seen stays
                await page.locator(".heat-map").focus();
                await page.keyboard.press("s");
                await page.waitForSelector("[data-phase=stopped]");
                await r.node.clean();
                await counts(page);
                await flames(page, CALLS);
                await page.mouse.move(2, 2);
                await map(page);
                await page.keyboard.press("?");
                await page.waitForSelector("dialog.help");
                await page.keyboard.press("Escape");
                await page.locator("dialog.help").waitFor({ state: "detached" });
                await page.locator(".side").waitFor({ state: "hidden" }); // since the script runs
                await page.keyboard.press("b");
                await page.locator(".side").waitFor();
                await close();
            },
        ),

        on("the profile of a module: by function, by process, and as a flame graph", async (r) => {
            const opened = async (name: string) => {
                const made = await r.openAt(
                    write({ node: r.node.name, name, script: null, args: ["etui"], view: DEFAULT_VIEW }),
                );
                await until("the script", () => made.page.locator("[data-testid=scripts] .card-name").count());
                await r.run(made.page);
                return made;
            };
            const [list, flame] = [await opened("profile.d"), await opened("flame.d")];
            await r.node.call("erlang:put(burner, etui:burners(1000, 20000)), ok");
            const burner = "etui_burner";
            const [ofShort, ofLong] = (await r.node.call("etui:burnt(erlang:get(burner))")) as [number, number];
            // three times the work, and about three times the own time: what it was, on a machine that takes the CPU away at any time, the burner
            // says itself; it all is of one process
            loose(
                "a profile is a sample: of a process that waits for a processor there is none, although its time goes on",
            );
            const wanted = ofLong / (ofShort + ofLong);
            // of what was found in one of the two: what was found between their calls is no time of either
            const check = (names: string[], values: number[]) => {
                const found = (what: RegExp) => names.reduce((sum, n, i) => sum + (what.test(n) ? values[i]! : 0), 0);
                const long = found(/etui:(long\/1|-long\/1-.*);?$/); // with its comprehension
                const short = found(/etui:short\/1;?$/);
                const share = long / (long + short);
                assert.ok(
                    Math.abs(share - wanted) < 0.1,
                    `long/1 has ${share} of ${long + short}, not ${wanted}: ${JSON.stringify([names, values])}`,
                );
            };
            for (const [agg, outer, inner] of [
                ["@function", /^▾etui:(long|short)\/1$/, burner],
                ["@process", new RegExp(`^▾${burner}$`), "etui:long/1"],
            ] as const) {
                await list.page.getByLabel("aggregation", { exact: true }).selectOption(agg);
                const names = () => texts(list.page, ".list-row:not(.title):not(.total) .name");
                await until(
                    `${agg} of the burner`,
                    async () => (await names()).some((n) => outer.test(n)) && (await names()).includes(inner),
                );
            }
            for (const { page } of [list, flame]) {
                if (await page.locator(".stop").isVisible()) await click(page, ".stop"); // a node that is busy may have ended it
                await page.waitForSelector("[data-phase=stopped]");
            }
            await list.page.getByLabel("aggregation", { exact: true }).selectOption("@process");
            const rows = lines((await exported(list.page, "CSV")).toString()).slice(1);
            check(
                rows.map((l) => l[1]!.replace(/"/g, "").trim()),
                rows.map((l) => Number(l[2])),
            );
            const folds = (await exported(flame.page, "folded stacks"))
                .toString()
                .trim()
                .split("\n")
                .map((l) => l.split(" ") as [string, string]);
            check(
                folds.map(([n]) => n),
                folds.map(([, v]) => Number(v)),
            );
            await list.close();
            await flame.close();
        }),

        on("stacks in lines; scripts are found, kept under Recent, and run on the node that is chosen", async (r) => {
            const other = await ErlangNode.start("b");
            const server = await Server.start(r.node.name, "--node", other.name);
            try {
                await other.call("code:ensure_loaded(etui)");
                const { page, close } = await r.open(STACKS_BY_LINES, {}, { server });
                await page.getByPlaceholder("search scripts").fill("latency.d");
                await like(async () => (await texts(page, "[data-testid=scripts] .card-name"))[0], /^latency\.d/);
                await page.getByPlaceholder("search scripts").fill("xyzzy");
                await same(async () => await page.locator("[data-testid=scripts] .card-name").count(), 0);
                const chooser = page.locator("select[aria-label=node]");
                await like(
                    async () =>
                        (
                            await chooser
                                .locator("option:not([disabled])")
                                .evaluateAll((all) => all.map((o) => (o as HTMLOptionElement).value))
                        )
                            .sort()
                            .join(),
                    new RegExp([r.node.name, other.name].sort().join(",")),
                );
                await chooser.selectOption(other.name);
                await r.run(page);
                await r.node.call("etui:paced(7), ok"); // nobody looks there
                await other.call(`etui:paced(${FEW}), ok`);
                await tab(page, "List").click();
                const value = async () => plain((await texts(page, "[data-testid=total] .num")).pop() ?? "");
                await until("all calls", async () => (await value()) === String(FEW));
                assert.equal(
                    ((await r.node.call("etw:traced()")) as string[]).length,
                    0,
                    "the first node is not traced",
                );
                await flames(page, FEW);
                await click(page, ".stop");
                await page.waitForSelector("[data-phase=stopped]");
                await other.clean();
                // another visit: the script is still there
                await page.goto(
                    server.at(
                        "/",
                        write({
                            node: r.node.name,
                            name: "",
                            script: "BEGIN { exit(0); }",
                            args: [],
                            view: DEFAULT_VIEW,
                        }),
                    ),
                );
                await page.reload();
                await page.getByRole("tab", { name: /Recent 1/ }).click();
                await page.locator("[data-testid=recent] .card-name").click();
                await like(async () => await written(page), /etui:step\/1:entry/);
                await same(() => chooser.inputValue(), other.name);
                await close();
            } finally {
                await server.end();
                await other.end();
            }
        }),
    ];
}
