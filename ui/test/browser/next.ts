// next.ts - from a slow node to the line: the small maps of the first page, the menus that write the next script, and the way back.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Page, WebSocketRoute } from "playwright-core";
import { LIVE_MAPS } from "../../src/model/live.ts";
import { nextOf, type Thing } from "../../src/model/next.ts";
import { warning } from "../../src/model/protocol.ts";
import { DEFAULT_VIEW, read, write } from "../../src/model/url.ts";
import { cost, HELLO, started, T0 } from "../fake/world.ts";
import { AXE, violations } from "./access.ts";
import { type Browsers, type Case, download, like, picture, ROOT, same, until } from "./browser.ts";
import { type FakeServer, type Said, type Stage, stage } from "./fake.ts";
import { COOKIE, ErlangNode, freePort, Lines, Server, TOOL } from "./node.ts";
import type { Real } from "./real.ts";
import { agg, column, run } from "./views.ts";

/** Against the made-up server. */
export function next(browsers: Browsers, server: FakeServer): Case[] {
    const on = (name: string, body: (s: Stage) => Promise<void>): Case => ({
        name,
        async run() {
            const s = await stage(browsers, server, "/", {});
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
    const calls = (s: Stage, n: number, ...keys: string[]) =>
        run(
            s,
            [{ ...agg(0, "@", "count", ["string"]), means: ["mfa"] }],
            column(n, { id: 0, keys: keys.map((k, i) => [i, k] as [number, string]), add: keys.map((_, i) => [i, 7]) }),
        );
    const choosesCalls = async (page: Page) => {
        await page.getByPlaceholder("search scripts").fill("functions module");
        await page.locator("[data-testid=scripts] button").click();
    };
    /** A trace of calls runs, and Back leaves it for the first page. */
    const leavesCalls = async (s: Stage) => {
        await choosesCalls(s.page);
        await calls(s, 1, "shop:order/2");
        const from = s.said.length;
        await s.page.goBack();
        await s.says("stop", from);
        await s.page.getByTestId("first").waitFor();
    };
    return [
        on("a row has a menu that runs the next script; each step can be returned to", async (s) => {
            const { page } = s;
            await choosesCalls(page);
            await calls(s, 1, "shop:order/2", "shop:price/1");
            const row = page.locator(".list-row", { hasText: "shop:order/2" });
            await row.hover();
            await row.getByRole("button", { name: "what next for shop:order/2" }).click();
            const menu = page.getByRole("menu", { name: "look closer" });
            await menu.getByRole("group", { name: "function shop:order/2" }).waitFor();
            // Escape gives the focus back; the menu key opens it as well, arrows move in it
            await page.keyboard.press("Escape");
            await same(async () => await menu.count(), 0);
            await like(
                async () => await page.evaluate(() => document.activeElement?.getAttribute("aria-label")),
                /what next for shop:order\/2/,
            );
            await row.dispatchEvent("contextmenu", { bubbles: true, cancelable: true });
            await menu.waitFor();
            await page.keyboard.press("ArrowDown");
            const from = s.said.length;
            const wanted = nextOf({ means: "mfa", text: "shop:order/2" })[1]!;
            await like(
                async () => await page.evaluate(() => document.activeElement?.textContent),
                new RegExp(`^${wanted.title}$`),
            );
            await page.keyboard.press("Enter");
            const start = await s.says("start", from);
            assert.deepEqual([start.script, start.name, start.args], [wanted.script, wanted.name, []]);
            s.send(
                {
                    type: "started",
                    id: start.id,
                    trace: 13,
                    shared: false,
                    node: "shop@host",
                    name: wanted.name,
                    script: wanted.script,
                    args: [],
                    options: {},
                    view: null,
                    t: 1_760_000_000_000,
                    interval: 1000,
                    prints: false,
                    destructive: false,
                    enabled: { probes: 1, text: null },
                    aggregations: [agg(0, "@took_ns", "quantize", ["string"])],
                },
                { type: "state", n: 0, t: 1_760_000_000_000, skipped: 0, aggregations: [] },
            );
            await page.getByRole("tab", { name: "Heat map", selected: true }).waitFor();
            // back to the rows that were seen, while the other trace is told to stop; what it still says is not shown there
            const steps = page.getByRole("navigation", { name: "steps" });
            const back = s.said.length;
            await steps.getByRole("button", { name: "calls.d" }).click();
            await s.says("stop", back);
            await row.waitFor();
            s.send({ type: "results", n: 1, t: 1_760_000_001_000, dt: 1000, aggregations: [] });
            s.send({ type: "stopped", trace: 13, reason: "left", text: "" });
            await same(async () => await steps.locator("[aria-current=step]").textContent(), "calls.d lists");
            await row.waitFor();
            await steps.getByRole("button", { name: "start" }).click();
            await page.locator("[data-testid=first]").waitFor();
            await steps.getByRole("button", { name: wanted.name }).click();
            await page.getByRole("tab", { name: "Heat map", selected: true }).waitFor();
        }),
        on("Back and Forward go over the steps, as a click on each does, and over the views of each", async (s) => {
            const { page } = s;
            const at = () => page.locator("nav.way [aria-current=step]").textContent();
            const rows = () => page.locator(".list-row:not(.title):not(.total) .name").allTextContents();
            const tab = (name: string) => page.getByRole("tab", { name, selected: true }).waitFor();
            const ended = page.getByTestId("left");
            await choosesCalls(page);
            await calls(s, 1, "shop:order/2");
            await page.getByRole("tab", { name: "Time series" }).click();
            await page.getByRole("tab", { name: "List" }).click();
            // a menu's script, which does not start: Back shows the rows and their script again
            const follow = async () => {
                const from = s.said.length;
                await page.locator(".list-row", { hasText: "shop:order/2" }).first().click({ button: "right" });
                await page.getByRole("menuitem").first().click();
                return s.says("start", from);
            };
            const refused = await follow();
            s.send({ type: "failed", id: refused.id, tag: "X", text: "not on this node", hint: null });
            await page.locator("[data-phase=failed]").waitFor();
            await page.goBack();
            await page.locator("[data-phase=stopped]").waitFor();
            await same(at, "calls.d lists");
            await tab("List");
            // one that starts
            const start = await follow();
            s.send(
                {
                    ...started(T0),
                    id: start.id,
                    trace: 13,
                    name: start.name as string,
                    script: start.script as string,
                    aggregations: [agg(0, "@took_ns", "quantize", ["string"])],
                },
                { type: "state", n: 0, t: T0, skipped: 0, aggregations: [] },
            );
            await page.locator("[data-phase=running]").waitFor();
            await tab("Heat map");
            const name = `${start.name}`;
            await same(at, name);
            // Back: its trace is told to stop, and the user that it was; what it still says is kept at its step
            const from = s.said.length;
            await page.goBack();
            await s.says("stop", from);
            await same(at, "calls.d lists");
            await tab("List");
            await like(async () => (await ended.textContent()) ?? "", new RegExp(`^${name} has ended for this page`));
            s.send(column(1, { id: 0, keys: [[0, "late"]], add: [[0, 7, 1]] }), {
                type: "stopped",
                trace: 13,
                reason: "left",
                text: "",
            });
            // the views of the step, then the first page; nothing more is told to stop
            await page.goBack();
            await tab("Time series");
            await page.goBack();
            await tab("List");
            await page.goBack();
            await page.getByTestId("first").waitFor();
            await same(at, "start");
            assert.equal(s.said.slice(from).filter((m) => m.type === "stop").length, 1);
            // Forward
            await page.goForward();
            await same(at, "calls.d lists");
            await tab("List");
            await same(async () => await ended.count(), 0);
            await page.goForward();
            await tab("Time series");
            await page.goForward();
            await tab("List");
            await same(rows, ["shop:order/2⋯"]);
            await page.goForward();
            await same(at, name);
            await page.getByRole("tab", { name: "List" }).click();
            await same(rows, ["late"]);
            // a click on a step is the same way: Forward comes back from it
            await page.getByRole("button", { name: "start", exact: true }).click();
            await same(at, "start");
            await page.goForward();
            await same(at, "calls.d lists");
            // another tab of the browser, or the page loaded again, has no data of these steps, and says so
            await page.reload();
            await until("the list of scripts", () => s.page.locator(".card-name").count());
            await page.goForward();
            await page.goForward();
            await page.goForward();
            await like(
                async () => (await page.locator(".banner.warn").textContent()) ?? "",
                /data of this step are gone/,
            );
            assert.equal(read(new URL(page.url()).hash).name, name);
        }),
        on("what is said of a trace that was left is said at its step, and only there", async (s) => {
            const { page } = s;
            await leavesCalls(s);
            s.send(
                { type: "diagnostics", diagnostics: [warning("a buffer was made smaller")] },
                { ...cost(1, 1000), fired: 1000 },
                {
                    type: "drops",
                    drops: [{ kind: "AGGREGATION", count: 3, total: 3, node: "shop@host", cpu: 1, text: "3 drops" }],
                },
                { type: "stopped", trace: 12, reason: "left", text: "" },
            );
            await page.goForward();
            const said = page.getByRole("alert");
            const both = /^3 values of 1.000 events .*since .*Warning a buffer was made smaller/;
            await like(async () => (await said.allTextContents()).join(" "), both);
            await page.goBack();
            await page.getByTestId("first").waitFor();
            assert.equal(await said.count(), 0);
            // another trace of the same script has its own
            await page.goForward();
            await run(s, [agg(0, "@", "count", ["string"])]);
            await same(() => said.count(), 0);
        }),
        on("a step has the options that it was run with", async (s) => {
            const { page } = s;
            const name = () => read(new URL(page.url()).hash).name;
            await choosesCalls(page);
            await page.getByRole("button", { name: "options" }).click();
            const length = page.getByLabel("length of strings");
            await length.fill("64");
            await calls(s, 1, "shop:order/2");
            await page.getByTitle("show script and library (b)").click();
            await length.fill("128");
            await page.getByPlaceholder("search scripts").fill("births");
            await page.locator("[data-testid=scripts] button").click();
            await calls(s, 1, "shop:order/2");
            await page.goBack();
            await same(async () => name(), "calls.d");
            await same(() => length.inputValue(), "64");
            assert.deepEqual(read(new URL(page.url()).hash).options, { strsize: "64" });
            await page.goForward();
            await same(() => length.inputValue(), "128");
        }),
        on(
            "the end of a trace is its own, whatever is shown when it comes and whatever else was started",
            async (s) => {
                const { page } = s;
                const ended = page.getByTestId("stopped");
                // Back tells it to stop; its end comes when Forward has shown it again
                await leavesCalls(s);
                await page.goForward();
                await page.locator("[data-phase=stopped]").waitFor();
                s.send({ type: "stopped", trace: 12, reason: "exit", status: 3, text: "", output: "what END printed" });
                await like(() => ended.textContent(), /exit\(3\)/);
                // the answer to a start that was left is not about it
                const from = s.said.length;
                await page.locator(".list-row", { hasText: "shop:order/2" }).first().click({ button: "right" });
                await page.getByRole("menuitem").first().click();
                const start = await s.says("start", from);
                await page.goBack();
                await s.says("stop", from);
                await page.goBack();
                await page.getByTestId("first").waitFor();
                s.send({ type: "stopped", id: start.id, reason: "left" });
                await page.goForward();
                await like(() => ended.textContent(), /exit\(3\)/);
                await page.getByRole("tab", { name: "Console" }).click();
                await page.getByText("what END printed").waitFor();
            },
        ),
        on(
            "small maps: one is refused, one is stopped and goes on, one opens large with what it has seen",
            async (s) => {
                const { page } = s;
                const sockets: { ws: WebSocketRoute; said: Said[]; closed: boolean }[] = [];
                await page.routeWebSocket(/\/ws$/, (ws) => {
                    const socket = { ws, said: [] as Said[], closed: false };
                    sockets.push(socket);
                    ws.onMessage((text) => {
                        const m = JSON.parse(String(text)) as Said;
                        if (m.type === "ping") ws.send(JSON.stringify({ type: "pong", t: 0 }));
                        else socket.said.push(m);
                    });
                    ws.send(JSON.stringify(HELLO));
                    ws.onClose(() => void (socket.closed = true));
                });
                const opened = (script: RegExp, from = 0) =>
                    until(`a trace of ${script}`, () =>
                        sockets
                            .slice(from)
                            .flatMap((k) =>
                                k.said.filter((m) => m.type === "start").map((start) => ({ ...k, start, k })),
                            )
                            .find((k) => script.test(k.start.script as string)),
                    );
                const said = (id: string) => page.locator(`[data-testid=live-${id}] .live-said`).textContent();
                const starts = (k: { ws: WebSocketRoute; start: Said }, trace: number, a: ReturnType<typeof agg>) => {
                    const info = started(T0);
                    k.ws.send(
                        JSON.stringify({ ...info, id: k.start.id, trace, script: k.start.script, aggregations: [a] }),
                    );
                };
                const reading = (n: number, change: object) =>
                    JSON.stringify({ type: "results", n, t: T0 + 1000 * n, dt: 1000, aggregations: [change] });

                await page.getByRole("button", { name: "Watch shop@host" }).click();
                const queue = await opened(/run_queue/);
                queue.ws.send(
                    JSON.stringify({
                        type: "failed",
                        id: queue.start.id,
                        tag: "X",
                        text: "not on this node",
                        hint: null,
                    }),
                );
                await like(() => said("queue"), /^not on this node$/);

                const wait = await opened(/message-send/);
                assert.match(wait.start.script as string, /maxload=5\n/);
                starts(wait, 31, { ...agg(0, "@wait_ns", "quantize", ["string"]), means: ["process"] });
                wait.ws.send(reading(1, { id: 0, keys: [[0, "orders"]], add: [[0, 84, 7]] }));
                await like(() => said("wait"), /^p99 .*slowest:orders/);
                wait.ws.send(
                    JSON.stringify({ type: "stopped", trace: 31, reason: "overload", text: "too dear", hint: null }),
                );
                await like(() => said("wait"), /^stopped: it took more than 5 % of a scheduler/);
                const before = sockets.length;
                await page.getByRole("button", { name: "Go on, up to 40 %" }).click();
                assert.match((await opened(/message-send/, before)).start.script as string, /maxload=40\n/);

                const busy = await opened(/profile-97/);
                starts(busy, 33, { ...agg(0, "@samples", "count", ["string", "stack"]), means: ["process", null] });
                busy.ws.send(reading(1, { id: 0, keys: [[0, "orders", ["shop:sell/4"]]], add: [[0, 5]] }));
                await like(() => said("busy"), /^100 % of what ran, most:orders/);
                const from = s.said.length;
                await page.getByRole("button", { name: /Which processes are busy.* large/ }).click();
                const join = await s.says("join", from);
                assert.equal(join.trace, 33);
                s.send(
                    {
                        ...started(T0),
                        id: join.id,
                        trace: 33,
                        shared: true,
                        script: busy.start.script as string,
                        aggregations: [
                            { ...agg(0, "@samples", "count", ["string", "stack"]), means: ["process", null] },
                        ],
                    },
                    {
                        type: "state",
                        n: 1,
                        t: T0 + 1000,
                        skipped: 0,
                        aggregations: [{ id: 0, keys: [[0, "orders", ["shop:sell/4"]]], now: [[0, 5]] }],
                    },
                );
                await page.locator("[data-testid=flame]").waitFor();
                await until("the small maps to end", () => sockets.every((k) => k.closed));
                // the column of the small map is there with its keys
                await page.getByRole("tab", { name: "Time series" }).click();
                await page.locator("[data-testid=series]").waitFor();
                const all = JSON.parse((await download(page, "JSON of everything")).data.toString()) as {
                    aggregations: { columns: { added: unknown[][] }[] }[];
                };
                assert.deepEqual(
                    all.aggregations[0]!.columns.map((c) => c.added),
                    [[["orders, shop:sell/4", 5]]],
                );
            },
        ),
    ];
}

/** How long the small maps, and the last step, run before a picture is made of them. */
const SECONDS = process.env.PICTURE_SECONDS ? Math.min(60, Number(process.env.PICTURE_SECONDS)) : 0;

// Takes some milliseconds for one thing, as for no other.
const SLOW = "look_up(elderberries) -> 11 + slow(300000);\nlook_up(Thing) ->";
const PLANTED = "\nslow(0) -> 0;\nslow(N) -> slow(N - 1).\n";

/** A duration as the page writes it; NaN: it is none. */
function nanoseconds(text: string | null): number {
    const m = /([0-9.]+) (ns|µs|ms|s)/.exec(text ?? "");
    return m ? Number(m[1]) * { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[m[2] as "ns"] : Number.NaN;
}

/** A click as a user makes it, with a picture of what comes of it. */
class Clicks {
    n = 0;
    constructor(
        private readonly page: Page,
        private readonly name: string,
    ) {}
    async picture(): Promise<void> {
        for (const colorScheme of ["light", "dark"] as const) {
            await this.page.emulateMedia({ colorScheme });
            await this.page.locator(`html[data-theme=${colorScheme}]`).waitFor();
            await picture(this.page, `way-${this.name}-${this.n}-${colorScheme}`);
        }
    }
    async click(what: () => Promise<unknown>, then: () => Promise<unknown>): Promise<void> {
        await what();
        this.n++;
        await then();
        await this.picture();
    }
}

/** Where a frame of the flame graph is: what the tip says while the pointer goes over the graph. */
async function frame(page: Page, name: string): Promise<{ x: number; y: number }> {
    const tip = page.locator("[data-testid=tip] .tip-name");
    return until(`the frame ${name}`, async () => {
        const box = (await page.locator("[data-testid=flame]").boundingBox())!;
        // the root is at the bottom
        for (let y = Math.min(box.y + box.height, 810) - 8; y > Math.max(box.y, 100); y -= 12)
            for (let x = box.x + 4; x < box.x + box.width; x += box.width / 16) {
                await page.mouse.move(x, y);
                if ((await tip.count()) > 0 && (await tip.textContent({ timeout: 1000 }).catch(() => "")) === name)
                    return { x, y };
            }
        return null;
    });
}

const CACHE = process.env.ERLTRACE_CACHE ?? join(homedir(), ".cache", "erltrace");
/** The unpacked broker of `scripts/dev/deps rabbit`, if it is there. */
const RABBIT = (() => {
    const lib = join(CACHE, "rabbitmq", "usr", "lib", "rabbitmq", "lib");
    const found = existsSync(lib) ? readdirSync(lib).find((d) => d.startsWith("rabbitmq_server-")) : undefined;
    return found ? join(lib, found) : null;
})();

/** RabbitMQ in a folder of its own, and a node with its client. */
class Broker {
    private readonly home = mkdtempSync(join(tmpdir(), "et-rabbit-"));
    private readonly short = `rabbit${process.pid}`;
    private client: ErlangNode | null = null;
    name = "";

    async start(server: string): Promise<void> {
        const [port, dist] = [await freePort(), await freePort()];
        const file = (name: string) => join(this.home, name);
        writeFileSync(file(".erlang.cookie"), COOKIE, { mode: 0o400 });
        writeFileSync(file("rabbitmq.conf"), `listeners.tcp.default = 127.0.0.1:${port}\n`);
        writeFileSync(file("enabled_plugins"), "[].\n");
        const p = spawn(join(server, "sbin", "rabbitmq-server"), [], {
            cwd: this.home,
            env: {
                ...process.env,
                HOME: this.home,
                TMPDIR: this.home,
                RABBITMQ_HOME: server,
                RABBITMQ_NODENAME: this.short,
                RABBITMQ_MNESIA_BASE: file("mnesia"),
                RABBITMQ_LOG_BASE: file("log"),
                RABBITMQ_CONFIG_FILE: file("rabbitmq.conf"),
                RABBITMQ_ENABLED_PLUGINS_FILE: file("enabled_plugins"),
                RABBITMQ_CONF_ENV_FILE: "/dev/null",
                RABBITMQ_PID_FILE: file("pid"),
                RABBITMQ_DIST_PORT: String(dist),
            },
        });
        const out = new Lines(p.stdout);
        p.stderr.resume();
        await out.wait(/completed with/);
        const ebin = file("ebin");
        mkdirSync(ebin);
        const libs = join(server, "plugins");
        const made = spawnSync("erlc", ["-o", ebin, join(ROOT, "test", "lib", "etr.erl")], {
            env: { ...process.env, ERL_LIBS: libs },
            encoding: "utf8",
        });
        assert.equal(made.status, 0, made.stdout);
        this.client = await ErlangNode.start("c");
        this.name = this.client.name.replace(/^[^@]*/, this.short);
        await this.client.call(
            `begin [true = code:add_pathz(P) || P <- ["${ebin}" | filelib:wildcard("${libs}/*/ebin")]], etr:invoices(${port}, 3000) end`,
        );
    }

    async end(): Promise<void> {
        await this.client?.end();
        const pid = join(this.home, "pid");
        if (existsSync(pid)) process.kill(Number(readFileSync(pid, "utf8")), "SIGKILL");
        rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
    }
}

/** From the first page in four clicks to the arguments of a function; gives what its frame's menu says. */
async function fourClicks(r: Real, server: Server, node: string, name: string, slow: string): Promise<[Page, string]> {
    const { page } = await r.openAt(write({ node, name: "", script: null, args: [], view: DEFAULT_VIEW }), {}, server);
    const way = new Clicks(page, name);
    const watch = page.getByRole("button", { name: `Watch ${node}` });
    await watch.waitFor();
    await way.picture();
    await way.click(
        () => watch.click(),
        async () => {
            for (const id of ["wait", "queue", "collections"])
                await like(
                    async () => await page.locator(`[data-testid=live-${id}] .live-said`).textContent(),
                    /p99|stopped|nothing/,
                );
            await like(
                async () => await page.locator("[data-testid=live-busy] .live-said").textContent(),
                /% of what ran, most:./,
            );
            await like(
                async () => await page.locator("[data-testid=live-cost]").textContent(),
                /together .*% of a scheduler/,
            );
            await page.waitForTimeout(1000 * SECONDS); // for pictures
            await page.evaluate(AXE);
            assert.deepEqual(await violations(page, null), []);
            await page.setViewportSize({ width: 390, height: 844 });
            await same(() => page.evaluate(() => document.documentElement.scrollWidth), 390);
            await picture(page, `way-${name}-phone`);
            await page.setViewportSize({ width: 1360, height: 820 });
        },
    );
    await way.click(
        () => page.getByRole("button", { name: "Which processes are busy? Open it large" }).click(),
        () => page.locator("[data-testid=flame]").waitFor(),
    );
    const at = await frame(page, slow);
    let said = "";
    await way.click(
        () => page.mouse.click(at.x, at.y, { button: "right" }),
        async () => {
            said = (await page.locator(".next-menu").textContent()) ?? "";
            assert.deepEqual(await violations(page, null), []);
        },
    );
    await way.click(
        () => page.getByRole("menuitem", { name: "how long its calls take, by arguments" }).click(),
        async () => {
            await page.locator("[data-testid=keys] .key-row").first().waitFor();
            await page.waitForTimeout(1000 * SECONDS);
        },
    );
    assert.equal(way.n, 4);
    return [page, said];
}

/** With a real node. */
export function nextReal(r: Real): Case[] {
    return [
        {
            name: "real node: every script that a menu writes compiles, whatever the names are",
            async run() {
                const folder = mkdtempSync(join(tmpdir(), "et-odd-"));
                try {
                    const odd = [
                        "'a b'",
                        "'it\\'s'",
                        "'f*'",
                        "'x:y/z'",
                        "'U\"p'",
                        "'back\\\\slash'",
                        "'h\u00e9'",
                        "plain",
                    ];
                    writeFileSync(
                        join(folder, "odd.erl"),
                        `-module(odd).\n-export([${odd.map((f) => `${f}/1`).join(",")}]).\n${odd.map((f) => `${f}(X) -> X.`).join("\n")}\n`,
                    );
                    await r.node.call(
                        `begin {ok, odd} = compile:file("${join(folder, "odd.erl")}", [{outdir, "${folder}"}]), true = code:add_path("${folder}"), {module, odd} = code:load_file(odd), ok end`,
                    );
                    const compile = (script: string, about: string) => {
                        const done = spawnSync(TOOL, ["--node", r.node.name, "--cookie", COOKIE, "-e", "-n", script], {
                            cwd: ROOT,
                            encoding: "utf8",
                        });
                        assert.deepEqual([done.status, done.stderr], [0, ""], `${about}:\n${script}`);
                    };
                    const things: Thing[] = [
                        { means: "mfa", text: "odd:plain/1" },
                        { means: "process", text: 'a "b"\\\n\u00e9' },
                        { means: "pid", text: "<0.1.0>" },
                        { means: "module", text: "odd" },
                        { means: "table", text: 'ac_tab"' },
                    ];
                    for (const t of things) for (const n of nextOf(t, 5e6)) compile(n.script, `${t.text}: ${n.title}`);
                    for (const f of odd) {
                        const [first] = nextOf({ means: "mfa", text: `odd:${f}/1` });
                        compile(first!.script, f);
                        const bare = f.replace(/^'|'$/g, "").replace(/\\(.)/g, "$1");
                        compile(nextOf({ means: "function", text: `${bare}/1` })[0]!.script, bare);
                    }
                    for (const m of LIVE_MAPS) compile(m.script, m.title);
                } finally {
                    rmSync(folder, { recursive: true, force: true });
                    await r.node.call("begin code:purge(odd), code:delete(odd), ok end");
                }
            },
        },
        {
            name: "real node: in four clicks to the slow function of the shop, its line, and its argument",
            async run() {
                const folder = mkdtempSync(join(tmpdir(), "et-shop-"));
                const node = await ErlangNode.start("", SECONDS > 0 ? "shop" : `slowshop${process.pid}`);
                const server = await Server.start(node.name, "-x", "maxload=90");
                try {
                    const source =
                        readFileSync(join(ROOT, "demo", "shop.erl"), "utf8").replace("look_up(Thing) ->", SLOW) +
                        PLANTED;
                    writeFileSync(join(folder, "shop.erl"), source);
                    const line = source.split("\n").findIndex((l) => l.startsWith("look_up(elder")) + 1;
                    await node.call(
                        `begin {ok, shop, B} = compile:file("${join(folder, "shop.erl")}", [binary, deterministic]), {module, shop} = code:load_binary(shop, "shop.erl", B), ok end`,
                    );
                    await node.call("shop_sup:start()");
                    const [page, said] = await fourClicks(r, server, node.name, "shop", "shop:look_up/1");
                    assert.match(said, new RegExp(`shop:look_up/1 .*shop\\.erl:${line}`));
                    // its calls with this argument take a thousand times as long as those with another
                    const p50 = async (n: string) =>
                        nanoseconds(
                            await page.locator(".key-row", { hasText: n }).locator(".dim").first().textContent(),
                        );
                    const much = async () => (await p50("[elderberries]")) > 20 * (await p50("[apples]"));
                    await like(async () => String(await much()), /true/);
                } finally {
                    await r.tidy();
                    await server.end();
                    await node.end();
                    rmSync(folder, { recursive: true, force: true });
                }
            },
        },
        ...(RABBIT
            ? [
                  {
                      name: "real node: in four clicks to the slow exchange of RabbitMQ, and its line",
                      async run() {
                          const broker = new Broker();
                          let server: Server | null = null;
                          try {
                              await broker.start(RABBIT);
                              server = await Server.start(broker.name, "-x", "maxload=90");
                              const slow = "rabbit_router:match_bindings/2";
                              const [page, said] = await fourClicks(r, server, broker.name, "rabbit", slow);
                              assert.match(said, /match_bindings\/2 .*rabbit_router\.erl:\d+/);
                              await like(
                                  async () => await page.locator("[data-testid=keys] .key-row").first().textContent(),
                                  /exchange,<<"invoices">>/,
                              );
                          } finally {
                              await r.tidy();
                              await server?.end();
                              await broker.end();
                          }
                      },
                  },
              ]
            : []),
    ];
}
