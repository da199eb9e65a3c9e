// survive.ts - what a page does when its connection, its server or its node is gone for a while, and when it is loaded again: what is said at
// each moment, and that nothing is lost and nothing comes twice. Against the made-up server, then against real ones.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Message } from "../../src/model/protocol.ts";
import { DEFAULT_VIEW, write } from "../../src/model/url.ts";
import { HELLO, started, T0 } from "../fake/world.ts";
import { Browsers, type Case, chromiumPath, click, like, type Open, picture, same, until } from "./browser.ts";
import { type FakeServer, type Stage, stage } from "./fake.ts";
import { ErlangNode, freePort, Server } from "./node.ts";
import { Real } from "./real.ts";
import { skip } from "./results.ts";
import { agg, column, run } from "./views.ts";

const COUNT = agg(0, "@n", "count", ["string"]);
const OTHER: Message = { ...HELLO, type: "hello", server: "b".repeat(32) } as Message;

export function surviveViews(browsers: Browsers, server: FakeServer): Case[] {
    const on = (name: string, body: (s: Stage) => Promise<void>, open: Open = {}): Case => ({
        name,
        async run() {
            const s = await stage(browsers, server, "/", open);
            try {
                await s.page.locator("[data-testid=scripts] button").first().click();
                await run(
                    s,
                    [COUNT],
                    column(1, { id: 0, keys: [[0, "map/2"]], add: [[0, 7]] }),
                    column(2, { id: 0, add: [[0, 10]] }),
                );
                await body(s);
            } catch (e) {
                await picture(s.page, `failed-${name.replace(/\W+/g, "-")}`).catch(() => {});
                await s.close().catch(() => {});
                throw e;
            }
            await s.close();
        },
    });
    const state = (s: Stage) => s.page.locator("[data-testid=status]").getAttribute("data-state");
    const banner = (s: Stage, id: string) => s.page.locator(`[data-testid=${id}]`).textContent();
    const starts = (s: Stage, from: number) => s.said.slice(from).filter((m) => m.type === "start");

    return [
        on("a lost connection: the page comes back to its trace, and starts nothing", async (s) => {
            const page = (await s.says("start")).page as string;
            assert.match(page, /^[0-9a-f]{32}$/);
            const from = s.said.length;
            await s.socket!.close({ code: 1001 });
            const m = await s.says("rejoin", from);
            assert.deepEqual([m.page, m.trace, m.n, m.news], [page, 12, 2, 0]);
            s.send(
                { ...started(T0), id: m.id, aggregations: [COUNT] },
                {
                    type: "history",
                    columns: [
                        {
                            n: 3,
                            t: T0 + 3000,
                            dt: 1000,
                            aggregations: [{ id: 0, keys: [[1, "new/0"]], add: [[1, 3]] }],
                        },
                    ],
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
                                [0, "map/2"],
                                [1, "new/0"],
                            ],
                            now: [
                                [0, 17],
                                [1, 3],
                            ],
                        },
                    ],
                },
                column(4, { id: 0, add: [[1, 2]] }),
            );
            await same(() => state(s), "running");
            await like(async () => s.page.locator(".view").textContent(), /map\/2.*17/);
            await like(async () => s.page.locator(".view").textContent(), /new\/0.*5/);
            assert.equal(starts(s, from).length, 0);
            await same(async () => await s.page.locator("[data-testid=gap], [data-testid=life]").count(), 0);
        }),

        on("loaded again while a trace runs: its step and the first page are two", async (s) => {
            const { page } = s;
            const from = s.said.length;
            await page.reload();
            const m = await s.says("rejoin", from);
            s.send(
                { ...started(T0), id: m.id, aggregations: [COUNT] },
                {
                    type: "state",
                    n: 2,
                    t: T0 + 2000,
                    skipped: 0,
                    aggregations: [{ id: 0, keys: [[0, "map/2"]], now: [[0, 17]] }],
                },
            );
            await same(() => state(s), "running");
            await page.getByRole("tab", { name: "Time series" }).click();
            const steps = page.getByRole("navigation", { name: "steps" });
            await steps.getByRole("button", { name: "start", exact: true }).click();
            await page.getByTestId("first").waitFor();
            await same(() => steps.locator("[aria-current=step]").textContent(), "start");
            await page.goBack();
            await page.getByRole("tab", { name: "Time series", selected: true }).waitFor();
        }),

        on("a trace that has not waited: told, and gone on with at a click", async (s) => {
            let from = s.said.length;
            await s.socket!.close({ code: 1001 });
            let m = await s.says("rejoin", from);
            s.send({ type: "failed", id: m.id, tag: "WEB_LIMIT", text: "the trace has ended", hint: null });
            await like(
                () => banner(s, "stopped"),
                /without a connection for \d+ s, and the trace has not waited longer/,
            );
            await same(() => state(s), "stopped");
            await like(async () => s.page.locator(".view").textContent(), /map\/2.*17/);
            assert.equal(starts(s, from).length, 0, "nothing starts by itself");
            from = s.said.length;
            await s.page.getByRole("button", { name: "go on in this map" }).click();
            m = await s.says("start", from);
            s.send(
                { ...started(T0 + 12_000), id: m.id, trace: 13, aggregations: [COUNT] },
                { type: "state", n: 0, t: T0 + 12_000, skipped: 0, aggregations: [{ id: 0, keys: [], now: [] }] },
                column(13, {
                    id: 0,
                    keys: [
                        [0, "other/1"],
                        [1, "map/2"],
                    ],
                    add: [
                        [0, 1],
                        [1, 3],
                    ],
                }),
            );
            await like(() => banner(s, "gap"), /not traced: 10 s missing/);
            await like(async () => s.page.locator(".view").textContent(), /map\/2.*20/);
        }),

        on("a restarted server: the script starts again by itself, once, and the map goes on", async (s) => {
            const from = s.said.length;
            s.hello = OTHER;
            await s.socket!.close({ code: 1001 });
            const m = await s.says("start", from);
            assert.equal(m.page, (await s.says("start")).page);
            s.send(
                { ...started(T0 + 5200), id: m.id, trace: 1, aggregations: [COUNT] },
                { type: "state", n: 0, t: T0 + 5200, skipped: 0, aggregations: [{ id: 0, keys: [], now: [] }] },
                {
                    ...column(6, {
                        id: 0,
                        keys: [
                            [0, "other/1"],
                            [1, "map/2"],
                        ],
                        add: [
                            [0, 1],
                            [1, 3],
                        ],
                    }),
                    n: 1,
                } as Message,
            );
            await like(() => banner(s, "gap"), /server restarted: 3\.2 s missing/);
            await same(() => state(s), "running");
            await like(async () => s.page.locator(".view").textContent(), /map\/2.*20/);
            await s.page.getByRole("tab", { name: "Time series" }).click();
            await s.page.getByRole("button", { name: "gap at 12:00:02: server restarted: 3.2 s missing" }).waitFor();
            assert.equal(starts(s, from).length, 1);
            assert.equal(s.said.slice(from).filter((x) => x.type === "rejoin").length, 0);
            await s.page.locator("[data-testid=gap] button").click();
            await same(async () => await s.page.locator("[data-testid=gap]").count(), 0);
        }),

        on("a node that is gone: waited for, told, and not waited for by who stops", async (s) => {
            const lost = {
                type: "stopped",
                trace: 12,
                reason: "lost",
                text: "old@host is gone",
                ms: 2000,
                output: "",
            } as const;
            const from = s.said.length;
            s.send(lost);
            const m = await s.says("start", from); // the made-up node is there
            s.send({ type: "failed", id: m.id, tag: "", text: "no probes matched", hint: null });
            await same(() => state(s), "node");
            await like(() => banner(s, "life"), /node is gone.*starts again by itself.*no probes matched/);
            await like(async () => s.page.title(), /^✖ /);
            await picture(s.page, "survive-node");
            await click(s.page, ".stop");
            await same(() => state(s), "stopped");
            await like(async () => s.page.locator(".view").textContent(), /map\/2.*17/);
        }),

        on(
            "a server that does not admit the page any more: a banner, and the data stay",
            async (s) => {
                server.refuses = true;
                try {
                    await s.socket!.close({ code: 1001 });
                    await same(() => state(s), "refused");
                    await like(() => banner(s, "life"), /does not admit.*the address that erltrace serve printed/);
                    await like(async () => s.page.locator(".view").textContent(), /map\/2.*17/);
                    assert.ok(await s.page.locator(".run, .stop").first().isVisible());
                    await picture(s.page, "survive-refused");
                } finally {
                    server.refuses = false;
                }
            },
            { dark: true },
        ),
    ];
}

const STEPS = `#pragma D option quiet
erlang*:etui:step/1:entry
{
    @steps[probefunc] = count();
}
`;

/** A network of its own for a browser: a cable to this host, which can be cut so that nothing arrives, and nobody is told. */
class Net {
    private readonly name = `ett${process.pid}`;
    readonly address = `198.18.${process.pid % 250}.1`;
    private readonly folder = mkdtempSync(join(tmpdir(), "erltrace-net-"));
    browsers: Browsers | null = null;

    static possible(): boolean {
        return process.getuid?.() === 0 && spawnSync("ip", ["netns", "list"]).status === 0;
    }

    private ip(...words: string[]): void {
        const r = spawnSync("ip", words);
        if (r.status !== 0) throw new Error(`ip ${words.join(" ")}: ${r.stderr?.toString()}`);
    }

    up(): void {
        const inside = ["netns", "exec", this.name, "ip"];
        this.ip("netns", "add", this.name);
        this.ip("link", "add", this.name, "type", "veth", "peer", "name", "eth0", "netns", this.name);
        this.ip("addr", "add", `${this.address}/30`, "dev", this.name);
        this.ip("link", "set", this.name, "up");
        this.ip(...inside, "addr", "add", `${this.address.replace(/1$/, "2")}/30`, "dev", "eth0");
        for (const dev of ["lo", "eth0"]) this.ip(...inside, "link", "set", dev, "up");
        const start = join(this.folder, "chromium");
        writeFileSync(start, `#!/bin/sh\nexec ip netns exec ${this.name} ${chromiumPath()} "$@"\n`);
        chmodSync(start, 0o755);
        this.browsers = new Browsers(start);
    }

    /** What either side sends goes to a card that nobody has. */
    cut(): void {
        const nobody = ["lladdr", "02:00:00:00:00:99", "nud", "permanent"];
        this.ip("neigh", "replace", this.address.replace(/1$/, "2"), "dev", this.name, ...nobody);
        this.ip("netns", "exec", this.name, "ip", "neigh", "replace", this.address, "dev", "eth0", ...nobody);
    }

    heal(): void {
        this.ip("neigh", "del", this.address.replace(/1$/, "2"), "dev", this.name);
        this.ip("netns", "exec", this.name, "ip", "neigh", "del", this.address, "dev", "eth0");
    }

    async down(): Promise<void> {
        await this.browsers?.end();
        spawnSync("ip", ["netns", "del", this.name]);
        spawnSync("ip", ["link", "del", this.name]);
        rmSync(this.folder, { recursive: true, force: true });
    }
}

export function survive(r: Real): Case[] {
    const state = (page: Page) => page.locator("[data-testid=status]").getAttribute("data-state");
    const told = (page: Page, id: string) => page.locator(`[data-testid=${id}]`).textContent();
    const steps = (page: Page, n: number) =>
        like(
            async () => ((await page.locator(".view").textContent()) ?? "").replace(/[\u202f\u2009\s]/g, ""),
            new RegExp(`step/1.*?${n}100%`),
        );
    /** Calls step/1 so often, and waits until they are done. */
    const work = async (node: ErlangNode, n: number) => {
        await node.call(
            `(fun() -> M = monitor(process, etui:paced(${n})), receive {'DOWN', M, _, _, _} -> ok end end)()`,
        );
    };
    const on = (name: string, body: () => Promise<void>): Case => ({
        name: `real node: ${name}`,
        async run() {
            try {
                await body();
            } finally {
                await r.tidy();
            }
            await r.node.clean();
        },
    });
    /** Waits until the page itself says that so many seconds have gone by, or are left. */
    const seconds = (says: () => Promise<string | null>, what: RegExp, enough: (s: number) => boolean) =>
        until(String(what), async () => enough(Number(what.exec((await says()) ?? "")?.[1] ?? Number.NaN)));
    const list = { view: "list" } as const;

    return [
        on("a cut of eight seconds, and one that the trace does not wait for", async () => {
            if (!Net.possible()) skip("it needs root and `ip netns`");
            const net = new Net();
            const servers: Server[] = [];
            try {
                net.up();
                const far = new Real(net.browsers!);
                far.node = r.node;
                for (const keep of [600, 1]) {
                    const server = await Server.start(
                        r.node.name,
                        "--listen",
                        `${net.address}:0`,
                        "--insecure",
                        "--keep",
                        String(keep),
                    );
                    servers.push(server);
                    const { page, close } = await far.open(STEPS, list, { server });
                    await far.run(page);
                    await work(r.node, 700);
                    await steps(page, 700);
                    net.cut();
                    await same(() => state(page), "mute");
                    await like(
                        () => told(page, "life"),
                        /does not answer.*waits \d+ s more|By now the trace has ended/,
                    );
                    await work(r.node, 500);
                    if (keep === 600)
                        await seconds(
                            () => told(page, "life"),
                            /waits (\d+) s more/,
                            (s) => s <= 592,
                        );
                    else {
                        await like(() => told(page, "life"), /By now the trace has ended/);
                        await r.node.clean();
                    }
                    await picture(page, "survive-cut");
                    assert.equal(await page.locator(".stale").count(), 1, "old data do not pass for live data");
                    net.heal();
                    if (keep === 600) {
                        await same(() => state(page), "running");
                        await steps(page, 1200);
                        await same(async () => await page.locator("[data-testid=gap], [data-testid=life]").count(), 0);
                        await work(r.node, 300);
                        await steps(page, 1500);
                    } else {
                        await like(() => told(page, "stopped"), /without a connection for \d+ s/);
                        await steps(page, 700);
                        await page.getByRole("button", { name: "go on in this map" }).click();
                        await same(() => state(page), "running");
                        await work(r.node, 300);
                        await steps(page, 1000);
                        await like(() => told(page, "gap"), /not traced: \d/);
                    }
                    await close();
                    await far.tidy();
                }
            } finally {
                for (const s of servers) await s.end();
                await net.down();
            }
        }),

        on("loaded again, back and forward: the same trace, with all that was counted", async () => {
            const { page, close } = await r.open(STEPS, list);
            await r.run(page);
            await work(r.node, 700);
            await steps(page, 700);
            await page.reload();
            await same(() => state(page), "running");
            await steps(page, 700);
            await work(r.node, 300);
            await steps(page, 1000);
            await page.goto("about:blank");
            await page.goBack();
            await same(() => state(page), "running");
            await steps(page, 1000);
            await work(r.node, 200);
            await steps(page, 1200);
            await click(page, ".stop");
            await same(() => state(page), "stopped");
            await page.reload();
            await same(() => state(page), "idle"); // what was stopped does not begin again
            await close();
        }),

        on("a server that is ended, and killed, and started: the map goes on", async () => {
            const folder = mkdtempSync(join(tmpdir(), "erltrace-state-"));
            const before = process.env.XDG_STATE_HOME;
            process.env.XDG_STATE_HOME = folder;
            const port = await freePort();
            const start = () => Server.start(r.node.name, "--listen", `127.0.0.1:${port}`);
            let server = await start();
            try {
                const { page, close } = await r.open(STEPS, list, { server });
                await r.run(page);
                await work(r.node, 700);
                await steps(page, 700);
                let n = 700;
                for (const signal of ["SIGTERM", "SIGKILL"] as const) {
                    await server.end(signal);
                    await same(() => state(page), "gone");
                    await like(() => told(page, "life"), /server is gone.*starts again by itself/);
                    await like(async () => page.title(), /^✖ /);
                    await picture(page, `survive-gone-${signal}`);
                    server = await start();
                    await same(() => state(page), "running");
                    await work(r.node, 300);
                    n += 300;
                    await steps(page, n);
                }
                assert.equal(await page.locator("[data-testid=gap]").count(), 2);
                await like(
                    () => page.locator("[data-testid=gap]").first().textContent(),
                    /server restarted: [\d.]+ s missing/,
                );
                await close();
            } finally {
                await server.end();
                if (before === undefined) delete process.env.XDG_STATE_HOME;
                else process.env.XDG_STATE_HOME = before;
                rmSync(folder, { recursive: true, force: true });
            }
        }),

        on("several nodes: loaded again, the server started again, a node started again: all go on", async () => {
            const folder = mkdtempSync(join(tmpdir(), "erltrace-state-"));
            const before = process.env.XDG_STATE_HOME;
            process.env.XDG_STATE_HOME = folder;
            const port = await freePort();
            let other = await ErlangNode.start("other");
            const start = () => Server.start(r.node.name, "--node", other.name, "--listen", `127.0.0.1:${port}`);
            let server: Server | null = null;
            try {
                await other.call("code:ensure_loaded(etui)");
                server = await start();
                const view = { ...DEFAULT_VIEW, view: "list" as const, apart: false };
                const { page, close } = await r.openAt(
                    write({ node: r.node.name, also: [other.name], name: "", script: STEPS, args: [], view }),
                    {},
                    server,
                );
                const chip = (node: ErlangNode) => page.locator(`[data-testid=node][data-node="${node.name}"]`);
                const bothRun = async () => {
                    for (const n of [r.node, other]) await like(() => chip(n).textContent(), /running|no data/);
                };
                await r.run(page);
                await bothRun();
                await work(r.node, 300);
                await work(other, 200);
                await steps(page, 500);
                await page.reload();
                await bothRun();
                await steps(page, 500);
                await work(other, 100);
                await steps(page, 600);
                await server.end("SIGTERM");
                for (const n of [r.node, other]) await like(() => chip(n).textContent(), /server gone/);
                server = await start();
                await bothRun();
                await work(r.node, 100);
                await steps(page, 700);
                await other.end();
                await like(() => chip(other).textContent(), /node gone/);
                await work(r.node, 100);
                await steps(page, 800);
                other = await ErlangNode.start("other");
                await other.call("code:ensure_loaded(etui)");
                await bothRun();
                await work(other, 100);
                await steps(page, 900);
                const gaps = (await page.locator("[data-testid=gap]").allTextContents()).map((t) =>
                    t.replace(/: [\d.]+ s missing.*/s, ""),
                );
                assert.deepEqual(gaps.sort(), [
                    `${r.node.name}: server restarted`,
                    `${other.name}: node restarted`,
                    `${other.name}: server restarted`,
                ].sort()); // biome-ignore format: one line
                await close();
            } finally {
                await server?.end();
                await other.end();
                if (before === undefined) delete process.env.XDG_STATE_HOME;
                else process.env.XDG_STATE_HOME = before;
                rmSync(folder, { recursive: true, force: true });
            }
        }),

        on("a server that stands still for five seconds", async () => {
            const server = await Server.start(r.node.name, "-x", "lease=60s"); // a node ends what a server that stands still longer has placed
            try {
                const { page, close } = await r.open(STEPS, list, { server });
                await r.run(page);
                await work(r.node, 300);
                await steps(page, 300);
                server.p.kill("SIGSTOP");
                await same(() => state(page), "mute");
                await work(r.node, 500);
                await seconds(
                    () => page.locator("[data-testid=status]").textContent(),
                    /no answer for (\d+) s/,
                    (s) => s >= 4,
                );
                assert.equal(await state(page), "mute");
                server.p.kill("SIGCONT");
                await same(() => state(page), "running");
                await steps(page, 800);
                assert.equal(await page.locator("[data-testid=gap]").count(), 0);
                await close();
            } finally {
                server.p.kill("SIGCONT");
                await server.end();
            }
        }),

        on("a node that is killed, and started: told, waited for, and the map goes on", async () => {
            let node = await ErlangNode.start("again");
            const server = await Server.start(node.name);
            try {
                await node.call("code:ensure_loaded(etui)");
                const far = new Real(r.browsers);
                far.node = node;
                const { page, close } = await far.open(STEPS, list, { server });
                await far.run(page);
                await work(node, 700);
                await steps(page, 700);
                await node.end();
                await same(() => state(page), "node");
                await like(() => told(page, "life"), /node is gone.*starts again by itself/);
                node = await ErlangNode.start("again");
                await node.call("code:ensure_loaded(etui)");
                await same(() => state(page), "running");
                await like(() => told(page, "gap"), /node restarted: [\d.]+ s missing/);
                await work(node, 300);
                await steps(page, 1000);
                await close();
                await far.tidy();
            } finally {
                await server.end();
                await node.end();
            }
        }),
    ];
}
