// nodes.ts - several nodes at once: against a made-up server with a socket for each, and against nodes of different releases.
import assert from "node:assert/strict";
import type { Page, WebSocketRoute } from "playwright-core";
import { compact, exact } from "../../src/model/format.ts";
import { type Message, type NodeInfo, type Results, warning } from "../../src/model/protocol.ts";
import { DEFAULT_VIEW, type View, write } from "../../src/model/url.ts";
import { engineOf, said } from "../fake/engine.ts";
import { cost, HELLO, shop, started } from "../fake/world.ts";
import { type Browsers, type Case, click, hold, like, type Open, picture, same, until } from "./browser.ts";
import type { FakeServer } from "./fake.ts";
import { HeatMapOnScreen } from "./map.ts";
import { ErlangNode, releases, Server } from "./node.ts";
import type { Real } from "./real.ts";
import { skip } from "./results.ts";

const NODES: NodeInfo[] = ["shop@one", "shop@two", "till@three", "store@four"].map((node, i) => ({
    node,
    pid: 100 + i,
    otp: String(26 + i),
    attachable: true,
    why: null,
    help: null,
}));
const NAMES = NODES.map((n) => n.node);
const FIRST = 20; // the trace of the first node
const SCRIPT = "erlang*:shop::return { @time[probefunc] = quantize(1); @calls[probefunc] = count(); }";
const AGGREGATIONS = [
    { id: 0, name: "@time", function: "quantize", keys: ["string"], normal: 1, buckets: said("quantize", []) },
    { id: 1, name: "@calls", function: "count", keys: ["string"], normal: 1, buckets: null },
];

/** A page with a socket for each node that it traces. */
export class Nodes {
    readonly sockets = new Map<string, WebSocketRoute>();
    readonly said: { node: string; type: string; id: number; on?: boolean }[] = [];
    private constructor(
        readonly page: Page,
        private readonly errors: string[],
    ) {}

    static async open(b: Browsers, server: FakeServer, nodes: string[], view: Partial<View> = {}, open: Open = {}) {
        server.nodes = NODES;
        const { context, errors } = await b.context({ stands: true, ...open });
        const page = await context.newPage();
        const s = new Nodes(page, errors);
        await page.routeWebSocket(/\/ws$/, (ws) => {
            let node = "";
            ws.onMessage((text) => {
                const m = JSON.parse(String(text)) as Nodes["said"][number] & { trace?: number };
                if (m.type === "ping") return ws.send(JSON.stringify({ type: "pong", t: 0 }));
                if (m.type === "rejoin" || m.type === "join")
                    s.sockets.set((node = NAMES[(m.trace! - FIRST) % 2]!), ws); // two nodes
                if (m.type === "start") s.sockets.set((node = m.node), ws);
                s.said.push({ ...m, node });
            });
            ws.send(JSON.stringify(HELLO));
        });
        const [node = null, ...also] = nodes;
        const hash = write({ node, also, name: "", script: SCRIPT, args: [], view: { ...DEFAULT_VIEW, ...view } });
        await page.goto(`${server.url}/#${hash}`);
        await until("a connection", () => page.locator(".run").isEnabled());
        return s;
    }

    send(node: string, ...messages: Message[]): void {
        for (const m of messages) this.sockets.get(node)!.send(JSON.stringify(m));
    }

    /** Runs it, and lets these nodes start. */
    async run(nodes: string[], more = {}): Promise<void> {
        await click(this.page, ".run");
        await until("all nodes to be asked", () => nodes.every((n) => this.sockets.has(n)));
        nodes.forEach((node, i) => {
            this.send(node, started(T, { node, trace: FIRST + i, aggregations: AGGREGATIONS, ...more }));
        });
    }

    state(node: string) {
        return this.page.locator(`[data-testid=node][data-node="${node}"]`);
    }

    async close(): Promise<void> {
        await this.page.context().close();
        if (this.errors.length > 0) throw new Error(`in the page: ${this.errors.join("\n")}`);
    }
}

const T = Math.floor(Date.now() / 1000) * 1000 - 60_000;
const bucket = engineOf("quantize", []).of;
/** The reading n of a node: `count` calls of order and a value in the bucket of 1000; `late` ms after the second. */
const reading = (n: number, count: number, late = 0): Results => ({
    type: "results",
    n,
    t: T + n * 1000 + late,
    dt: 1000,
    aggregations: [
        { id: 0, ...(n === 1 ? { keys: [[0, "order/2"]] } : {}), add: [[0, bucket(1000), count]] },
        { id: 1, ...(n === 1 ? { keys: [[0, "order/2"]] } : {}), add: [[0, count]] },
    ],
});

/** The lines of the list: key and value. */
const list = (page: Page) =>
    page
        .locator(".list-row:not(.title):not(.total)")
        .evaluateAll((rows) =>
            rows.map((r) => [(r as HTMLElement).dataset.key!, r.querySelector(".strong")!.textContent!]),
        );

export function nodes(b: Browsers, server: FakeServer): Case[] {
    return [
        {
            name: "nodes: several are chosen, with the keyboard too, and are in the address",
            async run() {
                const s = await Nodes.open(b, server, ["shop@one"]);
                const { page } = s;
                await page.getByRole("button", { name: "several nodes" }).focus();
                await page.keyboard.press("Enter");
                const choice = page.getByRole("dialog", { name: "nodes to trace" });
                await choice.waitFor();
                assert.equal(await choice.getByRole("checkbox").count(), 4);
                // the only one that is chosen stays so
                assert.equal(await choice.getByRole("checkbox", { name: "shop@one" }).isDisabled(), true);
                await until("a box to have the focus", () =>
                    page.evaluate(() => document.activeElement?.tagName === "INPUT"),
                );
                await page.keyboard.press("Space");
                await page.keyboard.press("Tab");
                await page.keyboard.press("Space");
                await page.keyboard.press("Escape");
                await choice.waitFor({ state: "detached" });
                const button = page.getByRole("button", { name: "3 nodes: shop@one, shop@two, till@three" });
                assert.equal(await button.evaluate((el) => el === document.activeElement), true);
                const named = new URLSearchParams(new URL(page.url()).hash.slice(1)).getAll("node");
                assert.deepEqual(named, NAMES.slice(0, 3));
                await page.reload();
                await button.waitFor();
                await s.close();
            },
        },
        {
            name: "nodes: side by side with one scale, together, by node and merged",
            async run() {
                const both = NAMES.slice(0, 2);
                const s = await Nodes.open(b, server, both, { view: "heatmap" });
                const { page } = s;
                await s.run(both);
                for (let n = 1; n <= 6; n++) {
                    s.send("shop@one", reading(n, 5));
                    s.send("shop@two", reading(n, n === 6 ? 7 : 300, 200));
                }
                const map = (node: string) => page.locator(`figure[data-node="${node}"]`);
                await like(() => map("shop@two").getByRole("application").getAttribute("aria-label"), /6 columns/);
                const shown = { info: AGGREGATIONS[0]!, used: [bucket(1000), bucket(1000)] as [number, number] };
                const one = await HeatMapOnScreen.of(page, shown, map("shop@one"));
                const two = await HeatMapOnScreen.of(page, shown, map("shop@two"));
                const tip = await one.hover(0, bucket(1000));
                assert.equal(tip.count, "5");
                assert.equal(tip["shop@one, order/2"], "5");
                // the other map has the same cell, and its count
                assert.equal(await map("shop@two").locator("figcaption .num").textContent(), "7");
                await page.mouse.move(0, 0);
                // equal counts have equal colours on both; 5 and 300 have not
                assert.deepEqual(await one.colour(1, bucket(1000)), await one.colour(2, bucket(1000)));
                assert.notDeepEqual(await one.colour(2, bucket(1000)), await two.colour(2, bucket(1000)));
                s.send("shop@one", reading(7, 300));
                s.send("shop@two", reading(7, 5, 200));
                await like(() => map("shop@one").getByRole("application").getAttribute("aria-label"), /7 columns/);
                await same(() => one.colour(0, bucket(1000)), await two.colour(1 + 1, bucket(1000)));
                await same(() => two.colour(0, bucket(1000)), await one.colour(2, bucket(1000)));
                // a cell chosen on one map is chosen on all: its keys are those of both nodes
                await two.click(0, bucket(1000));
                await same(
                    () =>
                        page
                            .locator("[data-testid=cell] .key-row")
                            .evaluateAll((rows) => rows.map((r) => r.getAttribute("title"))),
                    ["shop@one, order/2", "shop@two, order/2"],
                );
                await page.keyboard.press("Escape");
                await page.getByRole("radio", { name: "together" }).click();
                await same(() => page.locator("[data-testid=heatmap]").count(), 1); // until the page has drawn that, there are two
                const whole = await HeatMapOnScreen.of(page, shown);
                await same(async () => (await whole.hover(0, bucket(1000))).count, "305");
                await page.mouse.move(0, 0);
                await page.getByRole("radio", { name: "merged" }).click();
                await same(async () => {
                    const tip = await whole.hover(1, bucket(1000));
                    return [tip.count, tip["order/2"]];
                }, ["12", "12"]);
                await page.mouse.move(0, 0);
                await page.getByRole("tab", { name: "List" }).click();
                await page.getByLabel("aggregation").selectOption("@calls");
                await same(() => list(page), [["order/2", exact(1842)]]);
                await page.getByRole("radio", { name: "by node" }).click();
                await same(
                    () => list(page),
                    [
                        ["shop@two", exact(1512)],
                        ["order/2", exact(1512)],
                        ["shop@one", "330"],
                        ["order/2", "330"],
                    ],
                );
                await s.close();
            },
        },
        {
            name: "nodes: one fails, one is lost, the others go on; each says so",
            async run() {
                const s = await Nodes.open(b, server, NAMES, { view: "list", agg: "@calls" });
                const { page } = s;
                const asked = (node: string) => s.said.filter((m) => m.type === "start" && m.node === node);
                await click(page, ".run");
                await until("all nodes to be asked", () => s.sockets.size === 4);
                s.send("store@four", {
                    type: "failed",
                    id: 1,
                    tag: "NODE",
                    text: "there is no node 'store@four' here",
                    hint: "start it",
                });
                await like(() => s.state("store@four").textContent(), /did not start: there is no node.*start it/);
                await like(() => s.state("shop@one").textContent(), /starting/);
                for (const node of NAMES.slice(0, 3)) s.send(node, started(T, { node, aggregations: AGGREGATIONS }));
                s.send("shop@two", { ...cost(42, 1000), node: "shop@two" });
                for (const node of NAMES.slice(0, 3)) s.send(node, reading(1, 2));
                await like(() => s.state("shop@two").textContent(), /running.*4\.2 %/);
                s.send("shop@one", reading(2, 3));
                s.send("till@three", {
                    type: "stopped",
                    trace: 12,
                    reason: "lost",
                    text: "the node is gone",
                    ms: 1000,
                });
                // the made-up node is there, so that it is tried at once
                await until("another start", () => asked("till@three").length === 2);
                s.send("till@three", { type: "failed", id: 2, tag: "", text: "no probes matched", hint: null });
                await like(
                    () => s.state("till@three").textContent(),
                    /node gone.*starts again by itself.*no probes matched/,
                );
                s.send("shop@two", reading(2, 4));
                await same(() => page.locator("[data-testid=total] .num").last().textContent(), "13");
                assert.equal(await page.locator("[data-testid=status]").getAttribute("data-phase"), "running");
                // Stop ends those that run, and only those
                await page.keyboard.press("s");
                await until("both to be told", () => s.said.filter((m) => m.type === "stop").length === 2);
                assert.deepEqual(s.said.filter((m) => m.type === "stop").map((m) => m.node).sort(), NAMES.slice(0, 2)); // biome-ignore format: one line
                for (const node of NAMES.slice(0, 2))
                    s.send(node, { type: "stopped", trace: 12, reason: "left", ms: 2000 });
                await like(() => page.locator("[data-testid=status]").textContent(), /stopped/);
                await same(() => page.locator("[data-testid=total] .num").last().textContent(), "13");
                await s.close();
            },
        },
        {
            name: "nodes: one that was gone goes on, and a page that is loaded again has them all",
            async run() {
                const both = NAMES.slice(0, 2);
                const s = await Nodes.open(b, server, both, { view: "list", agg: "@calls" });
                const { page } = s;
                const asked = (node: string, type: string) => s.said.filter((m) => m.type === type && m.node === node);
                await s.run(both);
                s.send("shop@one", reading(1, 5));
                s.send("shop@two", reading(1, 7), { type: "stopped", trace: 21, reason: "lost", text: "it is gone" });
                await until("another start", () => asked("shop@two", "start").length === 2);
                const again = { node: "shop@two", trace: 23, aggregations: AGGREGATIONS };
                s.send("shop@two", started(T + 5000, again), {
                    ...reading(6, 11),
                    n: 1,
                    aggregations: reading(1, 11).aggregations,
                });
                s.send("shop@one", reading(6, 3));
                await like(
                    () => page.locator("[data-testid=gap]").textContent(),
                    /shop@two: node restarted: 4\.0 s missing/,
                );
                await like(() => s.state("shop@two").textContent(), /running/);
                await same(() => page.locator("[data-testid=total] .num").last().textContent(), "26");
                const from = s.said.length;
                await page.reload();
                await until(
                    "both to be asked",
                    () => s.said.slice(from).filter((m) => m.type === "rejoin").length === 2,
                );
                assert.equal(s.said.slice(from).filter((m) => m.type === "start").length, 0, "nothing starts again");
                const now = (n: number) => [0, 1].map((id) => ({ id, keys: [[0, "order/2"]], now: [id === 0 ? [0, bucket(1000), n] : [0, n]] })) as Results["aggregations"]; // biome-ignore format: one line
                for (const [i, node] of both.entries())
                    s.send(
                        node,
                        started(T, { node, trace: i === 0 ? 20 : 23, aggregations: AGGREGATIONS }),
                        { type: "history", columns: [reading(1, 8 + i)] },
                        { type: "state", n: 1, t: T + 1000, skipped: 0, aggregations: now(8 + i) },
                    );
                await like(() => s.state("shop@one").textContent(), /running/);
                await same(() => page.locator("[data-testid=total] .num").last().textContent(), "17");
                await s.close();
            },
        },
        {
            name: "nodes: Back ends the traces of all, Forward shows what they counted until the end",
            async run() {
                const both = NAMES.slice(0, 2);
                const s = await Nodes.open(b, server, both, { view: "list" });
                const { page } = s;
                await s.run(both, { script: SCRIPT });
                s.send("shop@one", reading(1, 5));
                s.send("shop@two", reading(1, 7));
                const total = () => page.locator("[data-testid=total] .num").last().textContent();
                await same(total, "12");
                const nodes = page.getByRole("button", { name: "2 nodes: shop@one, shop@two" });
                await page.goBack();
                const told = () => s.said.filter((m) => m.type === "stop").map((m) => m.node);
                await until("both to be told", () => told().length === 2);
                assert.deepEqual(told().sort(), both);
                // what each still has is kept
                for (const node of both)
                    s.send(
                        node,
                        reading(2, 3),
                        { type: "diagnostics", diagnostics: [warning(`slow: ${node}`)] },
                        {
                            type: "stopped",
                            reason: "left",
                            text: "",
                            output: `END of ${node}`,
                        },
                    );
                await page.getByTestId("first").waitFor();
                await page.getByTestId("left").waitFor();
                await nodes.waitFor();
                await page.goForward();
                await same(total, "18");
                for (const node of both) await page.getByRole("alert").getByText(`slow: ${node}`).waitFor();
                await page.locator("[data-phase=stopped]").waitFor();
                await nodes.waitFor();
                assert.equal(told().length, 2, "each once: a second time would not wait for the last data");
                assert.equal(s.said.filter((m) => m.type === "start").length, 2);
                await s.close();
            },
        },
        {
            name: "nodes: the traces of all are recorded, what one server refuses is said, and they are joined as one",
            async run() {
                const both = NAMES.slice(0, 2);
                const s = await Nodes.open(b, server, both, { view: "list" });
                const { page } = s;
                await s.run(both, { script: SCRIPT });
                for (const node of both) s.send(node, reading(1, 5));
                const toggle = page.getByRole("button", { name: /^● record/ });
                await toggle.click();
                const asked = () => s.said.filter((m) => m.type === "record");
                await until("both to be asked", () => asked().length === 2);
                assert.deepEqual(
                    asked().map((m) => [m.node, m.on]),
                    both.map((node) => [node, true]),
                );
                const refused = asked()[1]!.id;
                s.send("shop@one", { type: "viewers", viewers: 1, recorded: true });
                s.send("shop@two", { type: "failed", id: refused, tag: "WEB_LIMIT", text: "too many", hint: null });
                await page.getByText("shop@two: too many").waitFor();
                await same(() => toggle.textContent(), "● recording 1 of 2 nodes");
                s.send("shop@two", { type: "viewers", viewers: 1, recorded: true });
                await same(() => toggle.textContent(), "● recording");
                await like(() => page.locator(".stop").getAttribute("title"), /the recording goes on/);
                await toggle.click();
                await until("both to be asked again", () => asked().length === 4);
                assert.ok(
                    asked()
                        .slice(2)
                        .every((m) => m.on === false),
                );
                for (const node of both) s.send(node, { type: "viewers", viewers: 1, recorded: false });
                await same(() => toggle.textContent(), "● record");
                await s.close();

                // who comes later sees them in the list of what runs
                const before = server.running;
                const of = (node: string, trace: number, script = SCRIPT) => ({ trace, node, script, name: "my.d", args: [], viewers: 0, since: T, recorded: true }); // biome-ignore format: one line
                server.running = [of("shop@one", FIRST), of("till@three", 7, "BEGIN { }"), of("shop@two", FIRST + 1)];
                try {
                    const s = await Nodes.open(b, server, [], { view: "list" });
                    const { page } = s;
                    await page.getByRole("tab", { name: "Running 3" }).click();
                    await page.getByRole("button", { name: /^my\.d 2 nodes together/ }).click();
                    await until("both to be joined", () => s.said.filter((m) => m.type === "join").length === 2);
                    for (const [i, node] of both.entries()) {
                        const now = [0, 1].map((id) => ({ id, keys: [[0, "order/2"]], now: [id === 0 ? [0, bucket(1000), 8 + i] : [0, 8 + i]] })) as Results["aggregations"]; // biome-ignore format: one line
                        s.send(
                            node,
                            started(T, { node, trace: FIRST + i, shared: true, aggregations: AGGREGATIONS }),
                            { type: "history", columns: [reading(1, 8 + i)] },
                            { type: "state", n: 1, t: T + 1000, skipped: 0, aggregations: now },
                        );
                    }
                    await same(() => page.locator("[data-testid=total] .num").last().textContent(), "17");
                    assert.equal(s.said.filter((m) => m.type === "start").length, 0);
                    await s.close();
                } finally {
                    server.running = before;
                }
            },
        },
        {
            name: "nodes: the time that a run was given ends with it",
            async run() {
                const both = NAMES.slice(0, 2);
                const s = await Nodes.open(b, server, both, { view: "list" });
                const { page } = s;
                const over = await hold(page, 77_000);
                await page.getByRole("button", { name: "options" }).click();
                const time = page.getByLabel("stop after");
                await time.fill("77s");
                await s.run(both, { script: SCRIPT });
                for (const node of both) s.send(node, reading(1, 5));
                await same(() => page.locator("[data-testid=total] .num").last().textContent(), "10");
                await page.goBack();
                const told = () => s.said.filter((m) => m.type === "stop").length;
                await until("both to be told", () => told() === 2);
                assert.equal(await over(), 0, "nothing else that runs ends with it");
                await page.goForward();
                await page.locator("[data-phase=stopped]").waitFor();
                s.sockets.clear();
                await s.run(both, { script: SCRIPT });
                await until("its time", async () => (await over()) === 1);
                await until("both to be told", () => told() === 4);
                await s.close();
            },
        },
        {
            name: "nodes: traces are not joined as one while this page views one of them, which that would end",
            async run() {
                const before = server.running;
                const of = (node: string, trace: number) => ({ trace, node, script: SCRIPT, name: "my.d", args: [], viewers: 1, since: T }); // biome-ignore format: one line
                server.running = [of("shop@one", FIRST), of("shop@two", FIRST + 1)];
                try {
                    const s = await Nodes.open(b, server, ["shop@one"], { view: "list" });
                    const { page } = s;
                    await s.run(["shop@one"], { script: SCRIPT });
                    await page.locator("[data-phase=running]").waitFor();
                    await page.getByTitle("show script and library (b)").click();
                    await page.getByRole("tab", { name: "Running 2" }).click();
                    const cards = page.getByTestId("running");
                    await same(() => cards.locator("button:disabled .card-title").allTextContents(), ["shop@one, 1 viewer"]); // biome-ignore format: one line
                    assert.equal(await cards.getByText("2 nodes together").count(), 0);
                    // it can be joined again after this page has left it
                    await click(page, ".stop");
                    await until("it to be told", () => s.said.some((m) => m.type === "stop"));
                    s.send("shop@one", { type: "stopped", trace: FIRST, reason: "left" });
                    await cards.getByText("2 nodes together").waitFor();
                    assert.equal(await cards.locator("button:disabled").count(), 0);
                    // the same of each of several nodes
                    await cards.getByText("2 nodes together").click();
                    await until("both to be joined", () => s.said.filter((m) => m.type === "join").length === 2);
                    for (const [i, node] of NAMES.slice(0, 2).entries())
                        s.send(node, started(T, { node, trace: FIRST + i, shared: true, aggregations: AGGREGATIONS }));
                    await same(() => cards.locator("button:disabled").count(), 2);
                    assert.equal(await cards.getByText("2 nodes together").count(), 0);
                    assert.equal(s.said.filter((m) => m.type === "stop").length, 1);
                    await s.close();
                } finally {
                    server.running = before;
                }
            },
        },
        ...(["phone", "desk", "wall"] as const).map((size) => ({
            name: `nodes: four of them on a ${size}`,
            async run() {
                const open: Open =
                    size === "phone"
                        ? { phone: true, width: 390, height: 844 }
                        : { width: size === "wall" ? 3840 : 1500, height: size === "wall" ? 2160 : 900 };
                const s = await Nodes.open(b, server, NAMES, { view: "heatmap" }, { ...open, dark: size !== "desk" });
                const { page } = s;
                await click(page, ".run");
                await until("all nodes to be asked", () => s.sockets.size === 4);
                NAMES.forEach((node, i) => {
                    s.send(node, started(T, { node, trace: 20 + i }));
                    const next = shop(T + 130 * i);
                    for (let n = 1; n <= 58; n++) {
                        const r = next(n + 11 * i);
                        // one of them is away for a while
                        if (i !== 2 || n < 30 || n > 40) s.send(node, { ...r, n, t: r.t - 11_000 * i });
                    }
                    s.send(node, { ...cost(20 * i, 3000), node });
                });
                const maps = page.locator(".heat-nodes figure");
                assert.equal(await maps.count(), 4);
                await like(() => maps.last().getByRole("application").getAttribute("aria-label"), /5\d columns/);
                await picture(page, `nodes-${size}`);
                const boxes = await page.locator(".heat-nodes .heat-map").evaluateAll((all) =>
                    all.map((el) => {
                        const { width, height, right } = el.getBoundingClientRect();
                        return { width: Math.round(width), height: Math.round(height), right };
                    }),
                );
                for (const box of boxes) {
                    assert.equal(box.width, boxes[0]!.width);
                    assert.ok(Math.abs(box.height - boxes[0]!.height) <= 1);
                    assert.ok(box.height >= 150 && box.right <= page.viewportSize()!.width + 1, JSON.stringify(box));
                }
                const wide = await page.evaluate(() => document.documentElement.scrollWidth);
                assert.ok(wide <= page.viewportSize()!.width);
                await s.close();
            },
        })),
    ];
}

const CALLS = `#pragma D option quiet
erlang*:etui:step/1:entry
{
    @calls[probefunc] = count();
    @eight[probefunc] = quantize(8);
}
`;

export function realNodes(r: Real): Case[] {
    const name = "nodes: of different releases, exact by node and merged; one dies and the other goes on";
    const run = async () => {
        const otps = [null, ...releases()].slice(-2);
        if (otps.length < 2) skip("no other release of OTP is here (scripts/dev/otp)");
        const both: ErlangNode[] = [];
        let server: Server | null = null;
        try {
            for (const otp of otps) {
                const node = await ErlangNode.start("", `etui${otp ?? ""}x${process.pid}`, otp);
                both.push(node);
                await node.call("code:ensure_loaded(etui)");
            }
            const [a, b] = both as [ErlangNode, ErlangNode];
            server = await Server.start(a.name, "--node", b.name);
            assert.notEqual(
                await a.call("list_to_binary(erlang:system_info(otp_release))"),
                await b.call("list_to_binary(erlang:system_info(otp_release))"),
            );
            const view = { ...DEFAULT_VIEW, view: "list" as const, agg: "@calls" };
            const hash = write({ node: a.name, also: [b.name], name: "", script: CALLS, args: [], view });
            const { page, close } = await r.openAt(hash, {}, server);
            await r.run(page);
            const state = (node: ErlangNode) => page.locator(`[data-testid=node][data-node="${node.name}"]`);
            for (const node of both) await like(() => state(node).getAttribute("data-state"), /^(running|silent)$/);
            await a.call("etui:paced(1009), ok");
            await b.call("etui:paced(733), ok");
            await same(
                () => list(page),
                [
                    [a.name, exact(1009)],
                    ["step/1", exact(1009)],
                    [b.name, exact(733)],
                    ["step/1", exact(733)],
                ],
            );
            await page.getByRole("radio", { name: "merged" }).click();
            await same(() => list(page), [["step/1", exact(1742)]]);
            // every column of the heat map, too
            await page.getByRole("tab", { name: "Heat map" }).click();
            const rows = () =>
                page
                    .locator("[data-testid=keys] .key-row")
                    .evaluateAll((all) =>
                        all.map((row) => [row.getAttribute("title"), row.querySelector(".num")!.textContent!]),
                    );
            const total = () => page.locator("[data-testid=keys] .what b").textContent();
            await same(total, exact(1742));
            await page.getByRole("radio", { name: "by node" }).click();
            await same(total, exact(1742));
            await same(rows, [
                [`${a.name}, step/1`, compact(1009)],
                [`${b.name}, step/1`, compact(733)],
            ]);
            assert.equal(await page.locator(".heat-nodes figure").count(), 2);
            await picture(page, "nodes-real");

            await b.end();
            await like(() => state(b).textContent(), /node gone/);
            await a.call("etui:paced(211), ok");
            await page.getByRole("tab", { name: "List" }).click();
            await same(async () => (await list(page))[1], ["step/1", exact(1220)]);
            await same(async () => (await list(page))[3], ["step/1", exact(733)]);
            assert.equal(await page.locator("[data-testid=status]").getAttribute("data-phase"), "running");
            await click(page, ".stop");
            await page.waitForSelector("[data-phase=stopped]");
            await a.clean();
            await close();
        } finally {
            await server?.end();
            for (const node of both) await node.end();
        }
    };
    return [{ name, run }];
}
