// evidence.ts - what was seen is kept: sessions that are saved and opened, without a server too, exported files, marks.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import type { AggregationInfo } from "../../src/model/protocol.ts";
import { type Browsers, type Case, download, like, type Open, picture, ROOT, same, until } from "./browser.ts";
import { type FakeServer, type Stage, stage } from "./fake.ts";
import { agg, run, WAIT, waits } from "./views.ts";

/** Drops a file on the page, as from a folder. */
async function drop(page: Page, name: string, data: Buffer): Promise<void> {
    const dropped = await page.evaluateHandle(
        ([name, data]) => {
            const t = new DataTransfer();
            t.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
            return t;
        },
        [name, data.toString("base64")] as const,
    );
    await page.dispatchEvent("body", "dragover", { dataTransfer: dropped });
    await page.dispatchEvent("body", "drop", { dataTransfer: dropped });
}

/** Saves by the key. */
async function saved(page: Page): Promise<Buffer> {
    const [d] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
    assert.match(d.suggestedFilename(), /^erltrace-shop-latency-2026-11-20T12-00-00\.erltrace\.json\.gz$/);
    return readFileSync((await d.path())!);
}

const bannerOf = (page: Page) => page.locator("[data-testid=stopped]").textContent();
const keysOf = (page: Page) => page.locator("[data-testid=keys] .key-row").allTextContents();

export function evidence(browsers: Browsers, server: FakeServer): Case[] {
    const on = (name: string, body: (s: Stage) => Promise<void>, open: Open = {}): Case => ({
        name,
        async run() {
            const s = await stage(browsers, server, "/", open);
            try {
                await until("the list of scripts", () => s.page.locator(".card-name").count());
                await s.page.locator(".card-name", { hasText: "latency.d" }).first().click();
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
        on("a saved session opens again, by a drop and by a file, and saves the same bytes", async (s) => {
            await run(s, [WAIT], ...waits);
            await same(async () => (await keysOf(s.page)).length, 3);
            s.send({ type: "stopped", reason: "exit", status: 0, ms: 10000 });
            await s.page.waitForSelector("[data-phase=stopped]");
            const keys = await keysOf(s.page);
            const first = await saved(s.page);
            await s.page.reload();
            await s.page.getByText("Open a saved session").waitFor();
            await drop(s.page, "a.erltrace.json.gz", first);
            await like(
                () => bannerOf(s.page),
                /Saved session of shop@host, 20 Nov 2026, 12:00:00 to 12:00:10\. The script has ended the trace/,
            );
            await same(() => keysOf(s.page), keys);
            assert.deepEqual(gunzipSync(await saved(s.page)), gunzipSync(first));
            await picture(s.page, "session-opened");
            // it is a step like any other
            await s.page.goBack();
            await s.page.getByText("Open a saved session").waitFor();
            await s.page.goForward();
            await same(() => keysOf(s.page), keys);
            // by the field, from the start page, and not compressed
            await s.page.reload();
            const [chooser] = await Promise.all([
                s.page.waitForEvent("filechooser"),
                s.page.getByText("Open a saved session").click(),
            ]);
            await chooser.setFiles({ name: "b.json", mimeType: "application/json", buffer: gunzipSync(first) });
            await same(() => keysOf(s.page), keys);
            assert.deepEqual(await saved(s.page), first);
            // what was opened can be run
            await run(s, [WAIT], waits[0]!);
            await same(async () => await s.page.locator("[data-testid=stopped]").count(), 0);
        }),

        on("a saved session has its gaps: said, marked, and in pictures of it", async (s) => {
            await run(s, [WAIT], ...waits);
            await same(async () => (await keysOf(s.page)).length, 3);
            s.send({ type: "stopped", reason: "exit", status: 0, ms: 10000 });
            await s.page.waitForSelector("[data-phase=stopped]");
            const text = gunzipSync(await saved(s.page)).toString();
            const at = waits[0]!.t - 1000;
            const gap = { from: at + 4000, to: at + 7200, what: "node" };
            const file = text.replace('"version":1', '"version":3').replace('"aggregations":[{"id":0,"normal"', `"gaps":[${JSON.stringify(gap)}],$&`); // biome-ignore format: one line
            await s.page.reload();
            await s.page.getByText("Open a saved session").waitFor();
            await drop(s.page, "a.erltrace.json", Buffer.from(file));
            await like(() => s.page.getByTestId("gap").textContent(), /node restarted: 3\.2 s missing/);
            await same(() => s.page.locator(".marks-button").textContent(), "marks 1");
            assert.equal(gunzipSync(await saved(s.page)).toString(), file);
            for (const tab of ["Heat map", "Time series"]) {
                await s.page.getByRole("tab", { name: tab }).click();
                assert.match(
                    (await download(s.page, "SVG image")).data.toString(),
                    /node restarted: 3\.2 s missing/,
                    tab,
                );
            }
        }),

        on("a page with its session opens from disk, without a server", async (s) => {
            await run(s, [WAIT], ...waits);
            await same(async () => (await keysOf(s.page)).length, 3);
            const keys = await keysOf(s.page);
            const session = await saved(s.page);
            const page = await download(s.page, "page with this session");
            assert.match(page.name, /\.html$/);
            const folder = mkdtempSync(join(tmpdir(), "erltrace-alone-"));
            try {
                const file = join(folder, "page.html");
                writeFileSync(file, page.data);
                const { context, errors } = await browsers.context({ dark: true });
                const asked: string[] = [];
                context.on("request", (r) => asked.push(r.url().replace(/^(data|blob):.*/, "$1")));
                const alone = await context.newPage();
                await alone.goto(pathToFileURL(file).href);
                await like(() => bannerOf(alone), /Saved session of shop@host.*It was running when it was saved/);
                await same(() => keysOf(alone), keys);
                assert.deepEqual(await saved(alone), session);
                assert.deepEqual((await download(alone, "page with this session")).data, page.data);
                await alone.getByRole("tab", { name: "List" }).click();
                await alone.locator("[data-key=fast]").waitFor();
                await picture(alone, "session-alone-dark");
                assert.deepEqual(
                    asked.filter((u) => !/^(data|blob)$/.test(u)),
                    [pathToFileURL(file).href],
                );
                await context.close();
                assert.deepEqual(errors, []);
            } finally {
                rmSync(folder, { recursive: true, force: true });
            }
        }),

        on("a picture of each view says what it shows, of which node and when", async (s) => {
            const where: AggregationInfo = agg(1, "@where", "count", ["stack"]);
            const stacks = { id: 1, keys: [[0, ["leaf", "root"]]] as [number, string[]][], add: [[0, 60]] };
            const last = { ...waits[9]!, n: 11, t: waits[9]!.t + 1000, aggregations: [stacks] };
            await run(s, [WAIT, where], ...waits, last);
            await same(async () => (await keysOf(s.page)).length, 3);
            await s.page.locator("[data-testid=keys] .key-row", { hasText: "slow" }).click();
            for (const [tab, has] of [
                ["Heat map", ["only slow", "count of a cell, log scale", "@wait lquantize"]],
                ["Time series", [">slow<", "@wait lquantize"]],
                ["Flame graph", [">leaf<", ">root<", "@where count"]],
            ] as const) {
                await s.page.getByRole("tab", { name: tab }).click();
                await s.page.getByRole("tab", { name: tab, selected: true }).waitFor();
                const { name, data } = await download(s.page, "SVG image");
                const svg = data.toString();
                assert.match(name, /^erltrace-shop-latency-w[a-z]+-2026-11-20T12-00-00\.svg$/);
                for (const text of [...has, "latency.d", "shop@host", "20 Nov 2026, 12:00:0", "self-&gt;ts[probefunc]"])
                    assert.ok(svg.includes(text), `${tab}: ${text}`);
                // it is a document that draws
                const page = await s.page.context().newPage();
                await page.setContent(`<img src="data:image/svg+xml;base64,${data.toString("base64")}">`);
                assert.ok(
                    await page
                        .locator("img")
                        .evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth > 300)),
                );
                await picture(page, `export-${tab.replace(" ", "-").toLowerCase()}`);
                await page.close();
                const png = (await download(s.page, "PNG image")).data;
                assert.equal(png.subarray(1, 4).toString(), "PNG");
                writeFileSync(join(ROOT, "build", "ui", `export-${tab.replace(" ", "-").toLowerCase()}-png.png`), png);
            }
            const { data } = await download(s.page, "speedscope profile");
            assert.deepEqual(
                (JSON.parse(data.toString()) as { profiles: { weights: number[] }[] }).profiles[0]!.weights,
                [60],
            );
            const pprof = await download(s.page, "pprof profile");
            assert.match(pprof.name, /\.pb\.gz$/);
            assert.ok(gunzipSync(pprof.data).includes("@where"));
        }),

        on("a trace is recorded when the user says so, and what forbids it is said", async (s) => {
            await run(s, [WAIT], ...waits);
            const toggle = s.page.getByRole("button", { name: /^● record/ });
            await toggle.click();
            const said = await s.says("record");
            assert.equal(said.on, true);
            s.send({ type: "viewers", viewers: 1, recorded: true });
            await until("it to say so", async () => (await toggle.getAttribute("aria-pressed")) === "true");
            await like(() => s.page.locator(".stop").getAttribute("title"), /the recording goes on/);
            await picture(s.page, "recording");
            await toggle.click();
            const off = await s.says("record", s.said.indexOf(said) + 1);
            assert.equal(off.on, false);
            s.send({ type: "failed", id: off.id, tag: "WEB_LIMIT", text: "too many traces are recorded", hint: null });
            await s.page.getByText("too many traces are recorded").waitFor();
            await s.page.waitForSelector("[data-phase=running]");
        }),

        on("a threshold that is crossed is a line, a flag, in the title and a notification", async (s) => {
            await s.page.addInitScript(() => {
                const shown: string[] = [];
                class Fake {
                    static permission = "default";
                    static async requestPermission() {
                        Fake.permission = "granted";
                        return "granted";
                    }
                    constructor(title: string) {
                        shown.push(title);
                    }
                }
                Object.assign(window, { Notification: Fake, shown });
            });
            await s.page.reload();
            await s.page.locator(".card-name", { hasText: "latency.d" }).first().click();
            await run(s, [WAIT], ...waits.slice(0, 6));
            await same(async () => (await keysOf(s.page)).length, 2);
            await s.page.getByRole("button", { name: /^marks/ }).click();
            await s.page.getByLabel("limit").fill("95");
            await s.page.getByLabel("seconds that it lasts").fill("2");
            await s.page.getByLabel("notify me").check();
            await s.page.locator("dialog.marks form button").click();
            await s.page.getByRole("button", { name: "close" }).click();
            await s.page.getByLabel("threshold p99 > 95 for 2 s", { exact: true }).waitFor();
            assert.doesNotMatch(await s.page.title(), /▲/);
            s.send(...waits.slice(6));
            await like(() => s.page.title(), /^▲ p99 100 · ● latency\.d/);
            await s.page.getByLabel(/^threshold at 12:00:09: p99 > 95 for 2 s: 100$/).waitFor();
            assert.deepEqual(await s.page.evaluate(() => (window as unknown as { shown: string[] }).shown), [
                "▲ p99 100",
            ]);
            await picture(s.page, "marks-threshold");
            const { data } = await download(s.page, "SVG image");
            assert.ok(data.toString().includes("p99 &gt; 95 for 2 s"));
            await s.page.getByRole("tab", { name: "Time series" }).click();
            await s.page.getByLabel(/^threshold at 12:00:09/).waitFor();
        }),

        on("notes are added by the key and by a click, listed, kept, and reached by the keyboard", async (s) => {
            await run(s, [WAIT], ...waits);
            await same(async () => (await keysOf(s.page)).length, 3);
            s.send({
                type: "records",
                probes: [[1, "erlang1:::spawn", "shop@host"]],
                rows: [[1, 4500, 0, "mark: deployed\n", []]],
                skipped: 0,
            });
            await s.page.getByLabel("printed at 12:00:04: deployed").waitFor();
            await s.page.keyboard.press("n");
            await s.page.getByLabel("note at 12:00:10").fill("it was slow");
            await s.page.keyboard.press("Enter");
            await s.page.getByLabel("note at 12:00:10: it was slow").waitFor();
            const axis = (await s.page.locator(".flag-axis").boundingBox())!;
            const printed = (await s.page.locator(".flag.printed").boundingBox())!;
            await s.page.mouse.click(printed.x - 12, axis.y + axis.height / 2);
            await s.page.getByLabel(/^note at 12:00:0[34]$/).fill("clicked");
            await s.page.keyboard.press("Enter");
            await s.page.getByLabel(/^note at 12:00:0[34]: clicked$/).press("Enter");
            await same(
                async () =>
                    (await s.page.locator("[data-testid=marks] .mark-go").allTextContents()).map((x) => x.slice(0, 1)),
                ["⚑", "◆", "⚑"],
            );
            await picture(s.page, "marks-dialog");
            await s.page.getByLabel("remove note clicked").click();
            await same(async () => s.page.locator("[data-testid=marks] li").count(), 2);
            await s.page.keyboard.press("Escape");
            s.send({ type: "stopped", reason: "left", ms: 10000 });
            await s.page.waitForSelector("[data-phase=stopped]");
            const file = await saved(s.page);
            await s.page.reload();
            await s.page.getByText("Open a saved session").waitFor();
            await drop(s.page, "x.gz", file);
            await s.page.getByLabel("note at 12:00:10: it was slow").waitFor();
            await s.page.getByLabel("printed at 12:00:04: deployed").waitFor();
        }),

        on("a file that is no session changes nothing, and says why", async (s) => {
            await run(s, [WAIT], ...waits);
            await same(async () => (await keysOf(s.page)).length, 3);
            const good = gunzipSync(await saved(s.page)).toString();
            const problem = () => s.page.locator("[data-testid=file]").textContent();
            await drop(s.page, "x.json", Buffer.from(good));
            await like(problem, /a trace is running here: stop it first/);
            s.send({ type: "stopped", reason: "left", ms: 10000 });
            await s.page.waitForSelector("[data-phase=stopped]");
            for (const [text, why] of [
                ["<html>", /x\.json was not opened: it is no JSON/],
                ['{"format":"erltrace session","version":9}', /later erltrace/],
                [good.replace('"keyed":true', '"keyed":true,"x":1'), /columns\[0\] has the unknown field "x"/],
                [good.replace(/"cells":\[\[0,\[0,/, '"cells":[[0,['), /different lengths/],
            ] as const) {
                await drop(s.page, "x.json", Buffer.from(text));
                await like(problem, why);
            }
            await same(async () => (await keysOf(s.page)).length, 3);
            assert.match((await bannerOf(s.page))!, /^Stopped/);
        }),
    ];
}
