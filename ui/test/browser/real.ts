// real.ts - the page against `erltrace serve` and a real node, whose workload has known numbers and known times.
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { addHist, bucketsOf, type Hist, percentile } from "../../src/model/buckets.ts";
import { compact, exact, value } from "../../src/model/format.ts";
import { liveWidth } from "../../src/model/heattime.ts";
import { NO_PLACE } from "../../src/model/look.ts";
import { DEFAULT_VIEW, type View, write } from "../../src/model/url.ts";
import { engineOf, said } from "../fake/engine.ts";
import {
    type Browsers,
    type Case,
    click,
    download,
    enter,
    like,
    type Open,
    picture,
    same,
    textsOf,
    until,
} from "./browser.ts";
import { backs, type Columns, HeatMapOnScreen, lasted } from "./map.ts";
import { ErlangNode, Server } from "./node.ts";
import { realViews } from "./real_views.ts";

/** How long each call takes, by function. */
const BANDS = `#pragma D option quiet

erlang*:etui:one/1:entry, erlang*:etui:ten/1:entry, erlang*:etui:hundred/1:entry
{
    self->began = timestamp;
}

erlang*:etui:one/1:return, erlang*:etui:ten/1:return, erlang*:etui:hundred/1:return
/self->began/
{
    @took[probefunc] = quantize(timestamp - self->began);
    @calls[probefunc] = count();
    self->began = 0;
}
`;

const CALLS = `#pragma D option quiet
erlang*:etw:work/1:entry
{
    @calls[probemod, probefunc] = count();
    @last = max(timestamp);
}
`;

const TEN_MINUTES = 600_000;
const quantize = engineOf("quantize", []);
const buckets = bucketsOf("quantize", said("quantize", []));

const plain = (t: string) => t.replace(/[\u202f\s]+/g, " ").trim();

export class Real {
    node!: ErlangNode;
    server!: Server;

    private contexts: BrowserContext[] = [];

    constructor(readonly browsers: Browsers) {}

    /** Closes what a test has left open. */
    async tidy(): Promise<void> {
        for (const c of this.contexts.splice(0)) await c.close().catch(() => {});
    }

    async start(): Promise<void> {
        this.node = await ErlangNode.start();
        await this.node.call("code:ensure_loaded(etui)"); // of modules that are not loaded nothing is known
        this.server = await Server.start(this.node.name);
    }

    async end(): Promise<void> {
        await this.server?.end();
        await this.node?.end();
    }

    /** Kills the browser, as the kernel does when there is no memory. */
    async kill(): Promise<void> {
        await this.browsers.kill();
    }

    /** A page with a script in place. */
    async open(
        script: string,
        view: Partial<View> = {},
        more: { server?: Server; open?: Open } = {},
    ): Promise<{ page: Page; close: () => Promise<void> }> {
        return this.openAt(
            write({ node: this.node.name, name: "", script, args: [], view: { ...DEFAULT_VIEW, ...view } }),
            more.open,
            more.server,
        );
    }

    /** A page at an address, which is told by what is behind its `#`. */
    async openAt(
        hash: string,
        open: Open = {},
        server = this.server,
    ): Promise<{ page: Page; close: () => Promise<void> }> {
        const made = await this.browsers.context(open);
        this.contexts.push(made.context);
        const page = await made.context.newPage();
        await page.goto(server.at("/", hash));
        await page.waitForSelector(".head");
        return {
            page,
            close: async () => {
                await made.context.close();
                if (made.errors.length > 0) throw new Error(`in the page: ${made.errors.join("\n")}`);
            },
        };
    }

    async run(page: Page): Promise<void> {
        await until("a connection", () => page.locator(".run").isEnabled());
        await click(page, ".run");
        const phase = () => page.locator("[data-testid=status]").getAttribute("data-phase");
        await until("the trace to run or fail", async () => /running|failed|stopped/.test((await phase()) ?? ""));
        if ((await phase()) === "failed")
            throw new Error(
                `did not start: ${(await page.locator(".empty, .banner").allTextContents()).join(" ")} ${(await page.locator("[data-testid=problems]").allTextContents()).join(" ")}`,
            );
    }
}

const texts = (page: Page, selector: string) => textsOf(page.locator(selector));

const exported = async (page: Page, item: string): Promise<string> => (await download(page, item)).data.toString();

export function real(r: Real): Case[] {
    const on = (name: string, body: (r: Real) => Promise<void>): Case => ({
        name: `real node: ${name}`,
        async run() {
            try {
                await body(r);
            } finally {
                await r.tidy();
            }
            await r.node.clean(); // what each test must prove itself is proved there
        },
    });
    return [
        on("the printed address lets in, another does not", async () => {
            const u = new URL(r.server.url);
            assert.equal((await fetch(`${u.origin}/`)).status, 200); // the page itself is no secret
            await same(async () => (await fetch(`${u.origin}/api/state`)).status, 403);
            const { page, close } = await r.open("BEGIN { exit(0); }");
            assert.ok(!page.url().includes("token"), "the token does not stay in the address");
            await until(
                "a node",
                async () => (await page.locator("select[aria-label=node]").inputValue()) === r.node.name,
            );
            await until("scripts", async () =>
                (await texts(page, "[data-testid=scripts] .card-name")).some((t) => t.startsWith("latency.d")),
            );
            await close();
        }),

        on("another server of this host gets nothing from the browser", async () => {
            // As any user of the host may listen at a port of it, and bring this browser to open a page there.
            const heard: IncomingHttpHeaders[] = [];
            const evil = createServer((req, res) => {
                heard.push(req.headers);
                res.writeHead(200, { "content-type": "text/html" });
                res.end("<!doctype html><title>evil</title>");
            });
            await new Promise<void>((done) => evil.listen(0, "127.0.0.1", done));
            const u = new URL(r.server.url);
            const { page, close } = await r.open("BEGIN { exit(0); }");
            try {
                await until("a connection", () => page.locator(".run").isEnabled());
                const there = await page.context().newPage();
                await there.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
                const token = /token=(\w+)/.exec(r.server.url)![1]!;
                const held = await there.evaluate(() =>
                    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
                );
                assert.ok(heard.length > 0 && !JSON.stringify([heard, held]).includes(token), "the token");
                // What it has heard, it tries; and what a page can do by itself.
                for (const h of heard)
                    await same(
                        async () =>
                            (await fetch(`${u.origin}/api/state`, { headers: h.cookie ? { cookie: h.cookie } : {} }))
                                .status,
                        403,
                    );
                await same(
                    () =>
                        there.evaluate(
                            (o) =>
                                fetch(`${o}/api/state`, { credentials: "include" }).then(
                                    () => "read",
                                    () => "no",
                                ),
                            u.origin,
                        ),
                    "no",
                );
                await same(
                    () =>
                        there.evaluate(
                            (o) =>
                                new Promise((done) => {
                                    const s = new WebSocket(`${o.replace("http", "ws")}/ws`, "erltrace.1");
                                    s.onopen = () => done("open");
                                    s.onerror = () => done("no");
                                }),
                            u.origin,
                        ),
                    "no",
                );
                await there.close();
                // Another page of the same server needs no token: it is known to this browser.
                const second = await page.context().newPage();
                await second.goto(`${u.origin}/`);
                await until("scripts", async () =>
                    (await texts(second, "[data-testid=scripts] .card-name")).some((t) => t.startsWith("latency.d")),
                );
                await second.close();
            } finally {
                evil.closeAllConnections();
                evil.close();
            }
            await close();
        }),

        on("/heatmap and /list open with a script in place", async () => {
            const { page, close } = await r.open("BEGIN { exit(0); }");
            for (const [path, script, tab] of [
                ["/heatmap", "latency.d", "Heat map"],
                ["/list", "functions.d", "List"],
            ] as const) {
                await page.goto(r.server.at(path));
                await until(`${script} in place`, async () => (await texts(page, ".script-name"))[0] === script);
                await r.run(page);
                await page.getByRole("tab", { name: tab, selected: true }).waitFor();
                await click(page, ".stop");
                await page.waitForSelector("[data-phase=stopped]");
            }
            await close();
        }),

        on("calls of 1, 10 and 100 ms show as three bands with their shares", async () => {
            const { page, close } = await r.openAt(
                write({
                    node: r.node.name,
                    name: "",
                    script: BANDS,
                    args: [],
                    view: { ...DEFAULT_VIEW, view: "heatmap", column: 1000 },
                    look: { ...NO_PLACE, width: TEN_MINUTES }, // however long it takes here, all of it stays in view
                }),
            );
            await r.run(page);
            await r.node.call("erlang:put(load, etui:sleepers(24, 12)), ok");
            const seen = async () =>
                Number(
                    (
                        /^([\d\s\u202f]+) in/.exec((await texts(page, "[data-testid=keys] .what"))[0] ?? "")?.[1] ?? ""
                    ).replace(/\D/g, ""),
                );
            await until("the first calls", seen); // live, while they are made
            const told = (await r.node.call("etui:told(erlang:erase(load))")) as number[][];
            const [all, ones, tens, hundreds] = [5760, 4032, 1440, 288];
            await until("all calls", async () => (await seen()) === all);
            await click(page, ".pause");
            await page.waitForSelector(".held");
            await picture(page, "real-heatmap");

            // The shares of the functions are exact. A machine that does much else makes sleeps longer, at most as much as the server has
            // measured itself; none is shorter than it was asked for.
            await same(() => texts(page, "[data-testid=keys] .key-row .name"), ["one/1", "ten/1", "hundred/1"]);
            await same(
                () => texts(page, "[data-testid=keys] .key-row .num:nth-of-type(2)"),
                [ones, tens, hundreds].map(compact),
            );
            // where each call lies, as the page knows it: by function, the histogram
            const everything = async () =>
                JSON.parse(await exported(page, "JSON of everything")) as { aggregations: { columns: Columns }[] };
            const known = (await everything()).aggregations[0]!.columns.flatMap((c) => c.added);
            const histOf = (name: string): Hist => {
                const hist: Hist = new Map();
                for (const [key, b, n] of known) if (key === name) hist.set(b, (hist.get(b) ?? 0) + n);
                return hist;
            };
            // so many are as long as the buckets from `low` on say, ns: powers of two
            const longer = (hist: Hist, low: number) =>
                [...hist].reduce((sum, [b, n]) => sum + (b >= quantize.of(low) ? n : 0), 0);
            const functions = [
                ["one/1", ones, 2 ** 19],
                ["ten/1", tens, 2 ** 23],
                ["hundred/1", hundreds, 2 ** 26],
            ] as const;
            for (const [f, [name, calls, shortest]] of functions.entries()) {
                const hist = histOf(name);
                assert.equal(longer(hist, 1), calls);
                assert.equal(longer(hist, shortest), calls, `${name} never takes less`);
                // The server measures around each call, so for none of them less than the trace has: no call is in a higher band than it says.
                const [, middle, high] = told[f]!;
                for (const [from, most] of [
                    [2 ** 23, middle! + high!],
                    [2 ** 26, high!],
                ] as const)
                    assert.ok(
                        longer(hist, from) <= most,
                        `${name}: ${longer(hist, from)} calls of ${from} ns or more, the server says ${most}`,
                    );
                const row = page.locator("[data-testid=keys] .key-row", { hasText: name });
                assert.equal(
                    (await row.locator(".num").allTextContents())[1],
                    value(percentile(hist, buckets, 0.5), "ns"),
                    `the median of ${name}`,
                );
            }
            // the cells of the map are those calls: of all functions, and of one alone
            const cells = async (): Promise<Hist> => {
                const hist: Hist = new Map();
                for (const line of (await exported(page, "CSV of cells")).trim().split("\r\n").slice(2)) {
                    const [from, , n] = line.split(",").slice(-3).map(Number) as [number, number, number];
                    hist.set(quantize.of(from), (hist.get(quantize.of(from)) ?? 0) + n);
                }
                return hist;
            };
            const sorted = (h: Hist) => [...h].sort((x, y) => x[0] - y[0]);
            const whole: Hist = new Map();
            for (const [name] of functions) addHist(whole, histOf(name));
            assert.deepEqual(sorted(await cells()), sorted(whole));
            for (const [name] of functions) {
                await click(page, page.locator("[data-testid=keys] .key-row", { hasText: name }));
                await until("the filter", async () => /shows 1 of 3/.test((await texts(page, ".what"))[0]!));
                assert.deepEqual(sorted(await cells()), sorted(histOf(name)), name);
                await click(page, page.getByRole("button", { name: "show all" }));
                await until("all keys", async () => !/shows 1 of 3/.test((await texts(page, ".what"))[0]!));
            }
            await page.getByRole("tab", { name: "List" }).click();
            await page.getByLabel("aggregation", { exact: true }).selectOption("@calls");
            await same(
                async () => await texts(page, ".list-row:not(.title):not(.total) .name"),
                ["one/1", "ten/1", "hundred/1"],
            );
            await same(
                async () => (await texts(page, ".list-row .strong")).map(plain),
                [ones, tens, hundreds].map((n) => plain(exact(n))),
            );
            await same(async () => await texts(page, ".list-row:not(.total) .share b"), ["70.0 %", "25.0 %", "5.0 %"]);
            await until("what it costs", async () => (await page.locator("[data-testid=cost]").count()) === 1);
            await click(page, ".stop");
            await page.waitForSelector("[data-phase=stopped]");
            await r.node.clean();
            // now all stands: a cell of the slowest band has the slowest calls only, and a rectangle about it tells them from the rest
            await page.getByRole("tab", { name: "Heat map" }).click();
            const timed = (await everything()).aggregations[0]!.columns;
            const columns = timed.map((c) => c.added);
            const info = {
                id: 0,
                name: "@took",
                function: "quantize",
                keys: ["string"],
                normal: 1,
                buckets: said("quantize", []),
            };
            const numbers = columns.flat().map(([, b]) => b);
            // the cell with most of the calls of hundred/1, in whichever band they are here
            const hundred = histOf("hundred/1");
            const [band] = [...hundred].sort((x, y) => y[1] - x[1])[0]!;
            const count = (added: Columns[number]["added"]) =>
                added.filter(([, b]) => b === band).reduce((sum, [, , n]) => sum + n, 0);
            const best = columns.reduce((at, c, i) => (count(c) > count(columns[at]!) ? i : at), 0);
            const back = backs(timed)[best]!;
            const span = liveWidth(lasted(timed), TEN_MINUTES, 1000) / 1000;
            await page.getByRole("button", { name: /latest/ }).click(); // the pause holds in all views
            const map = await HeatMapOnScreen.of(page, {
                info,
                used: [Math.min(...numbers), Math.max(...numbers)],
                span,
            });
            await same(async () => plain((await map.hover(back, band)).count!), plain(exact(count(columns[best]!))));
            await map.click(back, band);
            await page.waitForSelector("[data-testid=cell]");
            const inCell = columns[best]!.filter(([, b]) => b === band);
            await same(
                async () => (await texts(page, "[data-testid=cell] .key-row .name")).sort(),
                inCell.map(([key]) => key).sort(),
            );
            await map.drag([Math.min(lasted(timed) / 1000, span - 1), band], [backs(timed).at(-1)!, band]); // from the empty place before the first column
            await page.waitForSelector("[data-testid=compare]");
            // first the function whose share inside is most above its share of the rest: hundred/1, unless the machine made others as slow
            const inside = functions.map(([name]) => histOf(name).get(band) ?? 0);
            const outside = functions.map(([, calls], f) => calls - inside[f]!);
            const share = (of: number[], f: number) => of[f]! / of.reduce((sum, n) => sum + n, 0);
            const most = (f: number) => share(inside, f) - share(outside, f);
            await same(
                async () => await texts(page, ".compare-row .name"),
                functions.map((_, f) => f).sort((f, g) => most(g) - most(f)).map((f) => functions[f]![0]), // biome-ignore format: one line
            );
            await close();
        }),

        ...realViews(on),

        on("exact counts in the list, also for who comes later", async () => {
            const { page, close } = await r.open(CALLS, { view: "list" });
            await r.run(page);
            await r.node.call("erlang:put(w, etw:worker()), ok");
            await r.node.call("etw:calls(erlang:get(w), 10007)");
            const value = async (p: Page) => plain((await texts(p, "[data-testid=total] .num")).pop() ?? "");
            await until("10 007 calls", async () => (await value(page)) === "10 007");
            await same(async () => await texts(page, ".list-row:not(.title):not(.total) .name"), ["▾etw", "work/1"]);
            // a second page on the same script shares the trace, and sees what was before
            const second = await r.open(CALLS, { view: "list" });
            await r.run(second.page);
            await until("the same in the second page", async () => (await value(second.page)) === "10 007");
            await until("two viewers", async () => /2 viewers/.test((await texts(page, "[data-testid=status]"))[0]!));
            await r.node.call("etw:calls(erlang:get(w), 5)");
            await until(
                "5 more",
                async () => (await value(page)) === "10 012" && (await value(second.page)) === "10 012",
            );
            // the first goes, the second still sees
            await close();
            await r.node.call("etw:calls(erlang:get(w), 1)");
            await until("1 more", async () => (await value(second.page)) === "10 013");
            await second.page.getByRole("tab", { name: "Time series" }).click();
            await until("a line", async () =>
                (await texts(second.page, ".series-legend .name")).includes("etw, work/1"),
            );
            await second.page.getByRole("tab", { name: "Flame graph" }).click();
            await second.page.waitForSelector("[data-testid=flame]");
            await like(async () => await exported(second.page, "folded stacks"), /^etw;work\/1 10013\n$/);
            // the tab goes, and with it the trace
            await second.close();
            await r.node.clean();
        }),

        on("errors of the compiler at their place, completion from the node", async () => {
            const { page, close } = await r.open("BEGIN { x = timestmp; }\n");
            await until(
                "the mark",
                async () => (await texts(page, ".editor .cm-lintRange-error")).join("") === "timestmp",
            );
            await like(async () => (await texts(page, "[data-testid=problems]"))[0]!, /D_IDENT_UNDEF/);
            const content = await enter(page);
            await page.keyboard.press("Control+a");
            await page.keyboard.type("erlang*:etu");
            await page.locator(".editor .cm-tooltip-autocomplete li", { hasText: "etui" }).first().click();
            await page.locator(".editor .cm-tooltip-autocomplete li", { hasText: "hundred/1" }).first().click();
            await page.keyboard.type("ret");
            await page.locator(".editor .cm-tooltip-autocomplete li", { hasText: "return" }).first().click();
            await until("the description", async () =>
                ((await content.textContent()) ?? "").includes("erlang*:etui:hundred/1:return"),
            );
            await close();
        }),

        on("console and records; a script that ends by itself", async () => {
            const { page, close } = await r.open(
                '#pragma D option quiet\nBEGIN { n = 0; }\ntick-100ms { n++; printf("turn %d of 7\\n", n); }\ntick-100ms /n == 7/ { exit(3); }\n',
            );
            await r.run(page);
            await until("the end", async () =>
                /ended the trace.*exit\(3\)/.test((await texts(page, "[data-testid=stopped]"))[0] ?? ""),
            );
            await same(
                async () => await texts(page, ".console-line"),
                [1, 2, 3, 4, 5, 6, 7].map((i) => `turn ${i} of 7`),
            );
            await page.getByRole("tab", { name: "Records" }).click();
            await until(
                "records",
                async () => (await texts(page, ".record-row:not(.head) .values")).join() === "1,2,3,4,5,6,7",
            );
            await like(async () => (await texts(page, ".record-row:not(.head) .probe"))[0]!, /tick-100ms/);
            await close();
        }),

        on("faults of a script are shown", async () => {
            const { page, close } = await r.open(
                "#pragma D option quiet\nBEGIN { zero = 0; }\ntick-100ms { @x = sum(1 / zero); }\ntick-100ms { @n = count(); }\n",
                { view: "list" },
            );
            await r.run(page);
            await until("the banner", async () =>
                /errors in the script.*divide/.test((await texts(page, "[data-testid=faults]"))[0] ?? ""),
            );
            await close();
            await r.node.clean();
        }),

        on("drops cannot be overlooked", async () => {
            const { page, close } = await r.open(
                '#pragma D option quiet\n#pragma D option bufsize=16k\nerlang*:etw:work/1:entry { printf("%s %s %s\\n", copyinstr(arg0), copyinstr(arg1), probefunc); }\n',
            );
            await r.run(page);
            await r.node.call("erlang:put(d, etw:worker()), ok");
            await r.node.call("etw:calls(erlang:get(d), 20000)");
            await until("the banner", async () =>
                /^[\d\s\u202f]+ records .*lost: .*Less is shown than happened/.test(
                    (await texts(page, "[data-testid=drops]"))[0] ?? "",
                ),
            );
            await until("what was not dropped", async () =>
                (await texts(page, ".console-line")).some((l) => /etw:work\/1/.test(l)),
            );
            await close();
            await r.node.clean();
        }),

        on("a node that is no more", async () => {
            const other = await r.open("BEGIN { exit(0); }");
            await other.page.goto(
                r.server.at(
                    "/",
                    write({
                        node: "nobody@nowhere",
                        name: "",
                        script: "tick-1sec { @ = count(); }\nerlang*:::process-spawn { @a = count(); }",
                        args: [],
                        view: DEFAULT_VIEW,
                    }),
                ),
            );
            await other.page.reload();
            await until("a connection", () => other.page.locator(".run").isEnabled());
            await click(other.page, ".run");
            await other.page.waitForSelector("[data-phase=failed]");
            await until("why", async () => /did not start/.test((await texts(other.page, ".empty"))[0] ?? ""));
            await other.close();
        }),

        on("whether terms are shown, and why a script that looks into them is refused", async () => {
            const node = await ErlangNode.start("terms");
            const servers = [await Server.start(node.name), await Server.start(node.name, "-x", "terms=off")];
            const script = (body: string) =>
                write({ node: node.name, name: "", script: body, args: [], view: DEFAULT_VIEW });
            const plain_ = script("erlang*:etw:work/1:entry { @[probefunc] = count(); }");
            const looking = script("erlang*:etw:work/1:entry { @[term_text(argv[0])] = count(); }");
            const start = async (page: Page, phase: string) => {
                await until("a connection", () => page.locator(".run").isEnabled());
                await click(page, ".run");
                await page.waitForSelector(`[data-phase=${phase}]`);
            };
            const says = async (page: Page, what: string, why: RegExp) => {
                await until(
                    "whether terms are shown",
                    async () => (await texts(page, "[data-testid=terms]")).join() === what,
                );
                assert.match((await page.locator("[data-testid=terms]").getAttribute("title")) ?? "", why);
            };
            const refused = async (page: Page, why: RegExp) => {
                await start(page, "failed");
                await until("why", async () => why.test(plain((await texts(page, ".empty"))[0] ?? "")));
            };
            try {
                const [free, off] = [await r.openAt(plain_, {}, servers[0]), await r.openAt(looking, {}, servers[1])];
                assert.deepEqual(
                    await texts(free.page, "[data-testid=terms]"),
                    [],
                    "a page that only opens asks nothing of the node",
                );
                await start(free.page, "running");
                await says(free.page, "terms shown", /visible to scripts$/);
                await refused(
                    off.page,
                    /^The script may not look into terms ?It uses argv\[\]\. On etuiterms\S+ terms are hidden by this server's option terms=off.*leave out argv\[\]/,
                );
                await says(off.page, "terms hidden", /option terms=off/);
                await free.close();
                await node.call('application:set_env(erltrace, redact, "*password*")');
                const some = await r.openAt(plain_, {}, servers[0]);
                await start(some.page, "running");
                await says(some.page, "terms partly hidden", /but for values of keys \*password\*/);
                await some.close();
                await node.call("application:set_env(erltrace, terms, off)");
                const operator = await r.openAt(looking, {}, servers[0]);
                await refused(
                    operator.page,
                    /^The script may not look into terms ?It uses argv\[\],?\. On etuiterms\S+ terms are hidden by .*erltrace/,
                );
                await says(operator.page, "terms hidden", /hidden by/);
            } finally {
                for (const s of servers) await s.end();
                await node.end();
            }
        }),

        on(
            "placing probes takes long: the page says how far it is, a page that comes later too, and Stop ends it",
            async () => {
                const node = await ErlangNode.start("slow");
                const server = await Server.start(node.name);
                try {
                    await node.call("etw:tiny(200, 1)");
                    await node.call("etw:held(4)");
                    const script = "erlang*:etn_*:f0:entry { @ = count(); }";
                    const at = write({ node: node.name, name: "", script, args: [], view: DEFAULT_VIEW });
                    const [first, second] = [await r.openAt(at, {}, server), await r.openAt(at, {}, server)];
                    const placing = async (page: Page) =>
                        /^Placing probes \d+ of 200 functions on etuislow/.test(
                            plain((await texts(page, "[data-testid=placing]"))[0] ?? ""),
                        );
                    for (const { page } of [first, second]) {
                        await until("a connection", () => page.locator(".run").isEnabled());
                        await click(page, ".run");
                        await until("how far it is", () => placing(page));
                    }
                    await first.close();
                    await click(second.page, ".stop");
                    await second.page.waitForSelector("[data-phase=idle]");
                    await node.clean();
                    assert.deepEqual(await texts(second.page, ".banner"), []);
                    await second.close();
                } finally {
                    await server.end();
                    await node.end();
                }
            },
        ),

        on("the browser is killed: the node is clean", async () => {
            const { page } = await r.open(CALLS, { view: "list" });
            await r.run(page);
            await until(
                "the trace in the node",
                async () => ((await r.node.call("etw:traced()")) as string[]).length > 0,
            );
            await r.kill();
            await r.node.clean();
        }),

        on("the server is killed: the node is clean, and the page says so", async () => {
            const second = await Server.start(r.node.name);
            const { page, close } = await r.open(CALLS, { view: "list" }, { server: second });
            await r.run(page);
            await until(
                "the trace in the node",
                async () => ((await r.node.call("etw:traced()")) as string[]).length > 0,
            );
            await second.end("SIGKILL");
            await r.node.clean();
            await like(async () => (await texts(page, "[data-testid=life]"))[0], /The server is gone/);
            await close();
        }),
    ];
}
