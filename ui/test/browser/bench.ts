// bench.ts - what the page takes of a browser with 2,000 keys of 63 buckets each that all change each second: 126,000 cells a second.
//
//   test/ui/run --bench [SECONDS [VIEW]]   a table, and build/bench-page.json; SECONDS (20) for each view, or for the one that is named so
//   test/ui/run --bench SECONDS columns    columns of 100 ms: from a message to its pixel, and what the page has in use after each minute
//   test/ui/run --bench COUNT events       so many calls in a node, one each 2 to 3 s: from the call to its pixel in a column of 100 ms
//   test/ui/run --bench SECONDS costs      the figures of doc/page.md: the first paint, 60 events, and columns for SECONDS; 900 and 20 minutes
//                                          show five minutes in which the page has all that it keeps
//
// The script runs in the server's own process, so that no node is needed. Of the main thread: `busy` is the share of the time that it
// was not idle, `long` the tasks of over 50 ms, of which `longest` is one; a reading comes each second and is one task or two. `heap` is what is
// in use after a collection, arrays included. `profile` names where the time went, of functions themselves.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_VIEW, NO_PLACE, type View, write } from "../../src/model/url.ts";
import { type Browsers, click, firstPaint, ROOT, until } from "./browser.ts";
import { ErlangNode, Server } from "./node.ts";

// 640 each 5 ms; no statement is long, since a script has its limit. An event of it is longer than one may be otherwise.
const FULL = `#pragma D option quiet
#pragma D option eventbudget=64m
int i;
tick-5ms { ${Array.from({ length: 640 }, (_, k) => `@["key",(i+${k})%2000]=lquantize((i+${k})/2000%64,0,62,1);`).join("")} i += 640; }
`;

const CELLS = 2000 * 63;
const EVENTS = 60;

const VIEWS: [string, Partial<View>][] = [
    ["heat map", { view: "heatmap" }],
    ["list, nested", { view: "list" }],
    ["list, flat", { view: "list", nested: false }],
    ["series, values/s", { view: "series" }],
    ["series, p99", { view: "series", measure: "p99" }],
    ["flame graph", { view: "flame" }],
];

interface Figures {
    view: string;
    seconds: number;
    cells: number; // of a column, at most
    busy: number;
    long: number;
    longest: number;
    heap: number;
    profile: [string, number][];
}

/** Milliseconds of functions themselves, the dearest first. */
function dearest(profile: {
    nodes: { id: number; callFrame: { functionName: string; lineNumber: number; columnNumber: number; url: string } }[];
    samples?: number[];
    timeDeltas?: number[];
}): [string, number][] {
    const name = new Map(
        profile.nodes.map((n) => [
            n.id,
            n.callFrame.url || /^\((garbage|program)/.test(n.callFrame.functionName)
                ? `${n.callFrame.functionName || "anonymous"} ${n.callFrame.lineNumber}:${n.callFrame.columnNumber}`
                : "",
        ]),
    );
    const sum = new Map<string, number>();
    profile.samples?.forEach((id, i) => {
        const n = name.get(id);
        if (n) sum.set(n, (sum.get(n) ?? 0) + profile.timeDeltas![i]! / 1000);
    });
    return [...sum].sort((a, b) => b[1] - a[1]).slice(0, 8);
}

// 128 rows in each column of 100 ms.
const ROWS = `#pragma D option quiet
#pragma D option aggrate=100ms
int i;
tick-10ms { ${Array.from({ length: 16 }, (_, k) => `@["rows"]=lquantize((i+${k})%128,0,128,1);`).join("")} i += 16; }
tick-10ms { @probe["event"]=lquantize(i%128,0,128,1); }
`;
const quantile = (all: readonly number[], q: number): number =>
    [...all].sort((x, y) => x - y)[Math.min(all.length - 1, Math.floor(q * all.length))] ?? Number.NaN;

/** Notes when each message with results arrives, and when the map has been drawn after that. Runs in the page. */
function watchPixels(): void {
    const w = window as unknown as { took: number[]; drawn: number };
    w.took = [];
    w.drawn = 0;
    const Socket = window.WebSocket;
    window.WebSocket = class extends Socket {
        constructor(...a: ConstructorParameters<typeof Socket>) {
            super(...a);
            this.addEventListener("message", (e) => {
                if (!String(e.data).startsWith('{"type":"results"')) return;
                const came = performance.now();
                // the page draws in the next frame; what a frame has drawn is on the screen before the task after it
                requestAnimationFrame(() => requestAnimationFrame(() => w.took.push(performance.now() - came)));
            });
        }
    };
}

const STEPS = `#pragma D option quiet
#pragma D option aggrate=100ms
erlang*:etui:step/1:entry { @["step"] = lquantize(1, 0, 4, 1); }
`;

/**
 * Notes when a cell is drawn in the latest second of the map, which is ten wide, if none was there before. That reads pixels in each frame,
 * which takes time: without it the page is faster. Runs in the page.
 */
function watchCells(): void {
    const w = window as unknown as { cells: number[] };
    w.cells = [];
    let there = false;
    const look = () => {
        const canvas = document.querySelector<HTMLCanvasElement>("[data-testid=heatmap]");
        if (canvas && canvas.width > 0) {
            const wide = Math.ceil(canvas.width / 8);
            const { data } = canvas.getContext("2d")!.getImageData(canvas.width - wide, 0, wide, canvas.height);
            let coloured = 0;
            for (let i = 0; i < data.length; i += 4) {
                const [r, g, b] = [data[i]!, data[i + 1]!, data[i + 2]!];
                if (Math.max(r, g, b) - Math.min(r, g, b) > 60) coloured++;
            }
            // what a frame has drawn is on the screen before the next one
            if (coloured > 20 && !there)
                requestAnimationFrame(() => w.cells.push(performance.timeOrigin + performance.now()));
            there = coloured > 20;
        }
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}

/** Calls it in a process of its own (the one that takes the orders is not traced), and says when. */
const CALL =
    "begin S = self(), spawn(fun() -> T = os:system_time(microsecond), etui:step(1), S ! {called, T} end), receive {called, T} -> T end end";

/** From a call in a node to its pixel; both times are those of this host's clock. */
async function events(browsers: Browsers, count: number): Promise<void> {
    const node = await ErlangNode.start();
    const server = await Server.start(node.name);
    try {
        await node.call("etui:step(1)"); // which loads the module
        const { context } = await browsers.context();
        await context.addInitScript(watchCells);
        const page = await context.newPage();
        const view = { ...DEFAULT_VIEW, view: "heatmap" as const, column: 100, percentiles: [] };
        const look = { ...NO_PLACE, width: 10_000 };
        await page.goto(server.at("/", write({ node: node.name, name: "", script: STEPS, args: [], view, look })));
        await until("a connection", () => page.locator(".run").isEnabled());
        await click(page, ".run");
        await page.waitForSelector("[data-phase=running]");
        const took: number[] = [];
        // the first one shows the map
        for (let i = -1; i < count; i++) {
            await page.waitForTimeout(2000 + 1000 * Math.random());
            await page.evaluate(() => (window as unknown as { cells: number[] }).cells.splice(0));
            const at = await node.call(CALL);
            const drawn = await until("its cell", () =>
                page.evaluate(() => (window as unknown as { cells: number[] }).cells[0]),
            );
            if (i >= 0) took.push(drawn - (at as number) / 1000);
        }
        const [median, p95] = [quantile(took, 0.5).toFixed(0), quantile(took, 0.95).toFixed(0)];
        console.log(
            `  ${took.length} events: from the call to its pixel: median ${median} ms, p95 ${p95} ms, longest ${Math.max(...took).toFixed(0)} ms`,
        );
        await context.close();
    } finally {
        await server.end();
        await node.end();
    }
}

/** What is loaded before the page can be used. */
async function paint(browsers: Browsers): Promise<void> {
    const server = await Server.start("");
    try {
        const { context } = await browsers.context();
        const page = await context.newPage();
        await page.goto(server.at("/"));
        await until("a connection", () => page.locator(".run").isVisible());
        const { bytes, first } = await firstPaint(page);
        console.log(`  first paint: ${(bytes / 1024).toFixed(0)} KiB in ${first.length + 1} files`);
        await context.close();
    } finally {
        await server.end();
    }
}

/** Columns of 100 ms with 128 rows: from a reading to its pixel, and the memory in use, each minute. */
async function columns(browsers: Browsers, seconds: number): Promise<void> {
    const server = await Server.start("");
    try {
        const { context } = await browsers.context();
        await context.addInitScript(watchPixels);
        const page = await context.newPage();
        const view = { ...DEFAULT_VIEW, view: "heatmap" as const, column: 100 };
        const look = { ...NO_PLACE, width: 60_000 };
        await page.goto(server.at("/", write({ node: "", name: "", script: ROWS, args: [], view, look })));
        await until("a connection", () => page.locator(".run").isEnabled());
        await click(page, ".run");
        await page.waitForSelector("[data-testid=heatmap]");
        const cdp = await context.newCDPSession(page);
        for (let done = 0; done < seconds; ) {
            const part = Math.min(60, seconds - done);
            await page.waitForTimeout(1000 * part);
            done += part;
            const took = await page.evaluate(() => (window as unknown as { took: number[] }).took.splice(0));
            await cdp.send("HeapProfiler.collectGarbage");
            const heap = (await cdp.send("Runtime.getHeapUsage")) as { usedSize: number; backingStorageSize?: number };
            const mib = (heap.usedSize + (heap.backingStorageSize ?? 0)) / 2 ** 20;
            console.log(
                `  after ${String(done).padStart(4)} s: ${String(took.length).padStart(4)} readings; message to pixel: median ${quantile(took, 0.5).toFixed(0)} ms, p95 ${quantile(took, 0.95).toFixed(0)} ms, longest ${Math.max(...took).toFixed(0)} ms; ${mib.toFixed(1)} MiB in use`,
            );
        }
        await context.close();
    } finally {
        await server.end();
    }
}

export async function bench(browsers: Browsers, seconds: number, only = ""): Promise<void> {
    if (only === "events") return events(browsers, seconds);
    if (only === "costs") {
        await paint(browsers);
        await events(browsers, EVENTS);
    }
    if (only === "columns" || only === "costs") return columns(browsers, seconds);
    const server = await Server.start("");
    const figures: Figures[] = [];
    try {
        const views = VIEWS.filter(([name]) => name.includes(only));
        if (views.length === 0)
            throw new Error(`there is no view '${only}': columns, ${VIEWS.map(([name]) => name).join(", ")}`);
        for (const [name, view] of views) {
            const { context } = await browsers.context();
            const page = await context.newPage();
            await page.goto(
                server.at(
                    "/",
                    write({ node: "", name: "", script: FULL, args: [], view: { ...DEFAULT_VIEW, ...view } }),
                ),
            );
            await until("a connection", () => page.locator(".run").isEnabled());
            await click(page, ".run");
            await page.waitForSelector("[data-phase=running]");
            await page.waitForSelector(".view canvas, .view .list-row:not(.title):not(.total)");
            await page.waitForTimeout(3000);
            await page.evaluate(() => {
                const w = window as unknown as { tasks: number[] };
                w.tasks = [];
                new PerformanceObserver((l) => w.tasks.push(...l.getEntries().map((e) => e.duration))).observe({
                    type: "longtask",
                });
            });
            const cdp = await context.newCDPSession(page);
            await cdp.send("Profiler.enable");
            await cdp.send("Profiler.start");
            const began = Date.now();
            await page.waitForTimeout(seconds * 1000);
            const took = (Date.now() - began) / 1000;
            const { profile } = await cdp.send("Profiler.stop");
            const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
            await cdp.send("HeapProfiler.collectGarbage");
            const heap = (await cdp.send("Runtime.getHeapUsage")) as { usedSize: number; backingStorageSize?: number };
            const idle = new Set(
                profile.nodes.filter((n) => /^\((idle|root)\)$/.test(n.callFrame.functionName)).map((n) => n.id),
            );
            const busy =
                profile.samples!.reduce((sum, id, i) => sum + (idle.has(id) ? 0 : profile.timeDeltas![i]! / 1e6), 0) /
                took;
            const [download] = await Promise.all([
                page.waitForEvent("download"),
                page
                    .getByRole("button", { name: /export/ })
                    .click()
                    .then(() => page.getByRole("menuitem", { name: "JSON of everything" }).click()),
            ]);
            const all = JSON.parse(readFileSync((await download.path())!, "utf8")) as {
                aggregations: { columns: { added: unknown[] }[] }[];
            };
            const cells = all.aggregations[0]!.columns.map((c) => c.added.length);
            const f: Figures = {
                view: name,
                seconds: took,
                cells: Math.max(...cells),
                busy,
                long: tasks.length,
                longest: Math.max(0, ...tasks),
                heap: (heap.usedSize + (heap.backingStorageSize ?? 0)) / 2 ** 20,
                profile: dearest(profile),
            };
            if (f.cells < CELLS)
                throw new Error(`a column has ${f.cells} cells, of ${CELLS}: what else is in the way?`);
            figures.push(f);
            console.log(
                `  ${name.padEnd(18)} busy ${(100 * f.busy).toFixed(1).padStart(5)} %  long ${String(f.long).padStart(3)}  longest ${f.longest.toFixed(0).padStart(5)} ms  heap ${f.heap.toFixed(0).padStart(4)} MiB  ${f.cells} cells a column`,
            );
            for (const [what, ms] of f.profile) console.log(`      ${ms.toFixed(0).padStart(7)} ms  ${what}`);
            await context.close();
        }
    } finally {
        await server.end();
    }
    mkdirSync(join(ROOT, "build"), { recursive: true });
    writeFileSync(join(ROOT, "build", "bench-page.json"), JSON.stringify(figures, null, 1));
}
