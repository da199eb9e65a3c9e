// picture.ts - the heat map as somebody sees it: an outlier of 1 in 100,000 is found by its contrast, and its key by one click, by a program
// that knows only what is on the screen and what the accessibility tree says; columns of 100 ms; a rectangle while columns come.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { Page } from "playwright-core";
import type { Results } from "../../src/model/protocol.ts";
import { started, T0 } from "../fake/world.ts";
import { type Browsers, type Case, click, like, type Open, picture, until } from "./browser.ts";
import { type FakeServer, type Stage, stage } from "./fake.ts";
import { contrast, drawn, HeatMapOnScreen } from "./map.ts";
import { Nodes } from "./nodes.ts";
import { column, run, WAIT, waits } from "./views.ts";

const COLUMNS = 20;
const LATE = 13; // the column in which the outlier is planted
const NODES = ["shop@one", "shop@two", "till@three", "store@four"];
const ODD = 2; // the node on which it is planted, if there are several

/** What only the outlier has: a time; a key; a node. */
type Where = "time" | "key" | "node";

/**
 * A band of 100,000 events in twenty columns, of all nodes together, of which one is far above: of a key that has others as well, or of a key
 * of its own. node: of several.
 */
function planted(where: Where, node: number): Results[] {
    const each = where === "node" ? 26 : 102; // 49 keys, 20 columns, 4 nodes: 101,920; one node: 99,960
    const odd = where === "key" ? 49 : 7;
    return Array.from({ length: COLUMNS }, (_, i) =>
        column(i + 1, {
            id: 0,
            ...(i === 0 ? { keys: Array.from({ length: 50 }, (_, k) => [k, `worker_${k}`] as [number, string]) } : {}),
            add: [
                ...Array.from({ length: 49 }, (_, k): [number, number, number] => [k, 1 + (k % 2), each]),
                ...(i === LATE && (where !== "node" || node === ODD) ? [[odd, 9, 1] as [number, number, number]] : []),
            ],
        }),
    );
}
interface Found {
    x: number;
    y: number;
    high: number; // how far up its map, 0..1
}

/**
 * The middle of the highest patch of pixels of a map whose contrast to the ground is at least 3, on the page; of several maps the highest of all. null:
 * what is highest is no patch that lies apart.
 */
async function highest(page: Page): Promise<Found | null> {
    const maps = await page.locator("[data-testid=heatmap]").all();
    const all = await Promise.all(maps.map((m) => m.evaluate(highestOf)));
    const best = all.reduce((x, y) => (x && (!y || x.high >= y.high) ? x : y), null);
    if (!best || maps.length === 1) return best;
    // one of several may be below what is seen
    const map = maps[all.indexOf(best)]!;
    await map.scrollIntoViewIfNeeded();
    return map.evaluate(highestOf);
}

/** The same once the page has drawn it: two looks find it at one place. */
const highestDrawn = (page: Page): Promise<Found> =>
    until("something above, at one place", async () => {
        await drawn(page);
        const first = await highest(page);
        await drawn(page);
        return first && isDeepStrictEqual(await highest(page), first) ? first : null;
    });

/** Runs in the page. */
function highestOf(el: Element): Found | null {
    const c = el as HTMLCanvasElement;
    const box = c.getBoundingClientRect();
    const { data } = c.getContext("2d")!.getImageData(0, 0, c.width, c.height);
    let base = 0; // the light of the ground
    const light = (at: number) => {
        if (data[at + 3] === 0) return base; // nothing is drawn there
        const [r, g, b] = [0, 1, 2].map((k) => {
            const v = data[at + k]! / 255;
            return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        }) as [number, number, number];
        return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    const per = c.width / box.width;
    const [left, right] = [Math.round(70 * per), c.width - Math.round(42 * per)];
    const at = (x: number, y: number) => 4 * (y * c.width + x);
    // the ground is what most of the map is
    const seen = new Map<string, number>();
    for (let y = 10; y < c.height - 30 * per; y += 7)
        for (let x = left; x < right; x += 7) {
            const name = data.slice(at(x, y), at(x, y) + 3).join();
            seen.set(name, (seen.get(name) ?? 0) + 1);
        }
    const [ground] = [...seen].sort((a, b) => b[1] - a[1])[0]!;
    for (let y = 10; base === 0; y++)
        for (let x = left; x < right && base === 0; x++)
            if (data.slice(at(x, y), at(x, y) + 3).join() === ground) base = light(at(x, y));
    const strong = (x: number, y: number) => {
        if (x < left || x >= right || y < 0 || y >= c.height - 30 * per) return false;
        const l = light(at(x, y));
        return Math.max(l, base) / Math.min(l, base) >= 3;
    };
    for (let y = 2; y < c.height - 30 * per; y++)
        for (let x = left; x < right; x++) {
            if (!strong(x, y)) continue;
            // the top of a ring or of a cell: the patch is what hangs together with it
            const near = Math.ceil(2 * per);
            const patch = new Set([y * c.width + x]);
            let [x0, x1, y1] = [x, x, y];
            for (const pixel of patch) {
                const [px, py] = [pixel % c.width, Math.floor(pixel / c.width)];
                [x0, x1, y1] = [Math.min(x0, px), Math.max(x1, px), Math.max(y1, py)];
                if (x1 - x0 > (right - left) / 4) return null; // nothing lies apart: it is the band
                for (let dy = -near; dy <= near; dy++)
                    for (let dx = -near; dx <= near; dx++)
                        if (strong(px + dx, py + dy)) patch.add((py + dy) * c.width + px + dx);
            }
            return { x: box.left + (x0 + x1) / 2 / per, y: box.top + (y + y1) / 2 / per, high: 1 - y / c.height };
        }
    return null;
}

export function pictureTests(browsers: Browsers, server: FakeServer): Case[] {
    /** A case on a page that is closed in the end; a failure leaves a picture of it. */
    const onPage = <S extends Stage | Nodes>(
        name: string,
        open: () => Promise<S>,
        body: (s: S) => Promise<void>,
    ): Case => ({
        name: `picture: ${name}`,
        async run() {
            const s = await open();
            try {
                await body(s);
            } catch (e) {
                await picture(s.page, `failed-${name.replace(/\W+/g, "-")}`).catch(() => {});
                await s.close().catch(() => {});
                throw e;
            }
            await s.close();
        },
    });
    const on = (name: string, open: Open, body: (s: Stage) => Promise<void>): Case =>
        onPage(
            name,
            () => stage(browsers, server, "/heatmap", open),
            async (s) => {
                await until("the list of scripts", () => s.page.locator(".card-name").count());
                await body(s);
            },
        );
    const screens: [string, Open][] = [
        ["phone", { width: 390, height: 844, phone: true }],
        ["laptop", { width: 1360, height: 820 }],
        ["wall", { width: 3840, height: 2160 }],
    ];
    /** As it is found by somebody who sees the page: in each theme and colour, then by a click, at whose side its key is. */
    const finds = async (page: Page, screen: string, where: Where) => {
        for (const colorScheme of ["dark", "light"] as const) {
            await page.emulateMedia({ colorScheme });
            await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
            for (const colour of screen === "laptop" ? ["linear", "rank", "by key", "log"] : ["log"]) {
                if (colour === "by key") await page.getByRole("button", { name: colour }).click();
                else
                    await page.getByRole("radiogroup", { name: "colour" }).getByRole("radio", { name: colour }).click();
                const place = await highestDrawn(page);
                await page.mouse.click(place.x, place.y);
                const rows = page.getByRole("table", { name: "keys" }).getByRole("row").filter({ hasText: "worker_" });
                const cell = page.getByRole("complementary").filter({ hasText: "Keys of the cell" });
                await cell.waitFor();
                const named = where === "key" ? /worker_49/ : where === "node" ? /till@three.*worker_7/ : /worker_7/;
                await like(async () => (await rows.allTextContents()).join("\n"), named);
                assert.equal(await rows.count(), 1);
                await page.keyboard.press("Escape");
                await cell.waitFor({ state: "detached" });
                await page.mouse.move(2, 2);
                if (colour === "by key") await page.getByRole("button", { name: colour }).click();
            }
        }
    };
    const outliers = screens.flatMap(([screen, size]) => [
        ...(["time", "key"] as const).map((where) =>
            on(`an outlier of 1 in 100,000 in a ${where}, and its key, on a ${screen}`, size, async (s) => {
                await run(s, [WAIT], ...planted(where, 0));
                s.send({ type: "stopped", reason: "left" });
                await s.page.waitForSelector("[data-phase=stopped]");
                await finds(s.page, screen, where);
            }),
        ),
        onPage(
            `an outlier of 1 in 100,000 on a node, and its key, on a ${screen}`,
            () => Nodes.open(browsers, server, NODES, { view: "heatmap" }, size),
            async (s) => {
                await s.run(NODES, { t: T0, aggregations: [WAIT] });
                NODES.forEach((node, i) => s.send(node, ...planted("node", i), { type: "stopped", reason: "left" }));
                // each has a socket: what one of them has said does not tell that the others have
                await Promise.all(NODES.map((n) => s.page.waitForSelector(`[data-node="${n}"][data-state=ended]`)));
                await until("four maps", async () => (await s.page.locator("[data-testid=heatmap]").count()) === 4);
                await finds(s.page, screen, "node");
            },
        ),
    ]);
    return [
        ...outliers,
        on("one event has a contrast of 3:1, in every colour and theme", { width: 1360, height: 820 }, async (s) => {
            // eight keys with a row each: in one second many, then one a second; the two smallest share the grey
            const ROWS = 8;
            const band = Array.from({ length: 10 }, (_, i) =>
                column(i + 1, {
                    id: 0,
                    ...(i === 0
                        ? { keys: Array.from({ length: ROWS }, (_, k) => [k, `k${k}`] as [number, string]) }
                        : {}),
                    add: Array.from({ length: ROWS }, (_, k) => [k, k + 1, i === 0 ? 100_000 >> k : 1]),
                }),
            );
            await run(s, [WAIT], ...band);
            s.send({ type: "stopped", reason: "left" });
            await s.page.waitForSelector("[data-phase=stopped]");
            await s.page.getByTitle("the 50th percentile of each column").click(); // no line over the cells
            const map = await HeatMapOnScreen.of(s.page, { info: WAIT, used: [1, ROWS] });
            for (const colorScheme of ["dark", "light"] as const) {
                await s.page.emulateMedia({ colorScheme });
                await s.page.locator(`html[data-theme=${colorScheme}]`).waitFor();
                for (const colour of ["log", "linear", "rank", "by key"]) {
                    if (colour === "by key") await s.page.getByRole("button", { name: colour }).click();
                    else
                        await s.page
                            .getByRole("radiogroup", { name: "colour" })
                            .getByRole("radio", { name: colour })
                            .click();
                    await drawn(s.page);
                    const ground = await map.colour(15, 1);
                    for (let k = 0; k < ROWS; k++) {
                        const c = contrast(await map.colour(3, k + 1), ground);
                        assert.ok(c >= 3, `${colorScheme}, ${colour}, key ${k}: ${c.toFixed(2)}`);
                    }
                    if (colour !== "by key") continue;
                    const hues = new Set<string>();
                    for (let k = 0; k < ROWS; k++) hues.add((await map.colour(3, k + 1)).join());
                    assert.equal(hues.size, 7, "six hues and the grey");
                    await s.page.getByRole("button", { name: colour }).click();
                }
            }
        }),
        on("columns of 100 ms have the keys of 100 ms", { width: 1360, height: 820 }, async (s) => {
            const from = s.said.length;
            await click(s.page, ".run");
            const start = await s.says("start", from);
            const reading = (n: number): Results => ({
                type: "results",
                n,
                t: T0 + n * 100,
                dt: 100,
                aggregations: [
                    {
                        id: 0,
                        ...(n === 1 ? { keys: [[0, "odd"]] } : n === 2 ? { keys: [[1, "even"]] } : {}),
                        add: [[(n + 1) % 2, 1, 5]],
                    },
                ],
            });
            s.send(
                { ...started(T0, { interval: 100, aggregations: [WAIT] }), id: start.id },
                { type: "state", n: 0, t: T0, skipped: 0, aggregations: [] },
                ...Array.from({ length: 40 }, (_, i) => reading(i + 1)),
                { type: "stopped", reason: "left" },
            );
            await s.page.waitForSelector("[data-phase=stopped]");
            await s.page.getByLabel("time in view").selectOption("10000");
            await s.page.getByLabel("width of a column").selectOption("100");
            await s.page.locator(".heat-map").focus();
            await s.page.keyboard.press("ArrowUp");
            await like(() => s.page.locator("[data-testid=cell] .what").textContent(), /:0[34]\.\d/);
        }),
        on("a rectangle takes what it was drawn around while columns come", { width: 1360, height: 820 }, async (s) => {
            await run(s, [WAIT], ...waits);
            await until("keys", () => s.page.locator("[data-testid=keys] .key-row").count());
            const box = (await s.page.locator("[data-testid=heatmap]").boundingBox())!;
            const right = box.x + box.width - 40;
            await s.page.mouse.move(right, box.y + box.height - 26);
            await s.page.mouse.down();
            for (let n = 11; n <= 14; n++) {
                s.send(column(n, { id: 0, add: [[2, 1, 1000]] }), { type: "viewers", viewers: n });
                await s.page.getByText(`${n} viewers`).waitFor();
                await s.page.mouse.move(right - 15 * (n - 10), box.y + 20 * (15 - n));
            }
            await s.page.mouse.up();
            await like(() => s.page.locator("[data-testid=compare] .what").textContent(), /– 12:00:10,/);
        }),
    ];
}
