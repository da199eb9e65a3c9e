// kernel.ts - the page against a server that may trace the kernel: without a node, and with one. Skipped where this machine's kernel cannot be traced.
//
// A script finds what a test does by a path that nothing else names.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { DEFAULT_VIEW, type View, write } from "../../src/model/url.ts";
import { type Case, click, download, enter, like, same, textsOf, until } from "./browser.ts";
import { Server, TOOL } from "./node.ts";
import type { Real } from "./real.ts";
import { skip } from "./results.ts";

const NOWHERE = "/nonexistent/et-ui";
const AT_LINK = `syscall::readlink:entry /copyinstr(arg0) == "${NOWHERE}"`;
const LINKS = 97;

/** System calls of this process. */
function links(): void {
    for (let i = 0; i < LINKS; i++) assert.throws(() => readlinkSync(NOWHERE), /ENOENT/);
}

function needsKernel(): void {
    const run = spawnSync(TOOL, ["--kernel", "-q", "-n", "BEGIN { exit(0); } syscall:::entry { }"], {
        encoding: "utf8",
    });
    // What a machine may lack (test/lib/places.py); what else it says is a failure of the tests.
    const lacking = /^.*\[KERNEL_(BPF|BTF|BUILD|LACKS|LIBBPF|PRIVILEGE|STATIC)\].*/m.exec(run.stderr);
    if (run.status !== 0 && lacking) skip(lacking[0]);
}

export function realKernel(r: Real): Case[] {
    const on = (name: string, body: (r: Real) => Promise<void>): Case => ({
        name: `real kernel: ${name}`,
        async run() {
            try {
                await body(r);
            } finally {
                await r.tidy();
            }
            await r.node.clean();
        },
    });
    /** With a server for that. */
    const served = async (body: (server: Server) => Promise<void>): Promise<void> => {
        needsKernel();
        const server = await Server.start(r.node.name, "--kernel");
        try {
            await body(server);
        } finally {
            await server.end();
        }
    };
    const open = (server: Server, node: string, script: string, view: Partial<View> = {}) =>
        r.openAt(write({ node, name: "", script, args: [], view: { ...DEFAULT_VIEW, ...view } }), {}, server);
    return [
        on("a script without a node, in the list, the heat map and the flame graph", () =>
            served(async (server) => {
                const { page, close } = await open(
                    server,
                    "",
                    `#pragma D option quiet
                    ${AT_LINK}/ { @c[probefunc] = count(); @q[probefunc] = quantize(7); @s[ustack(4)] = count(); printf("link\\n"); }\n`,
                    { view: "list", agg: "@c" },
                );
                await same(
                    () => textsOf(page.locator("select[aria-label=node] option:checked")),
                    ["no node (the server's host)"],
                );
                await r.run(page);
                links();
                const sums = () => textsOf(page.locator(".list-row .strong"));
                await until("the calls", async () => (await sums()).join() === String(LINKS));
                await click(page, ".stop");
                await page.waitForSelector("[data-phase=stopped]");
                await same(() => textsOf(page.locator(".list-row:not(.title):not(.total) .name")), ["readlink"]);

                await page.getByRole("tab", { name: "Heat map", exact: true }).click();
                await same(() => textsOf(page.locator("[data-testid=keys] .key-row .name")), ["readlink"]);
                await same(
                    () => textsOf(page.locator("[data-testid=keys] .key-row .num:nth-of-type(2)")),
                    [String(LINKS)],
                );

                await page.getByRole("tab", { name: "Flame graph", exact: true }).click();
                const folded = (await download(page, "folded stacks")).data.toString().trim().split("\n");
                assert.equal(
                    folded.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0),
                    LINKS,
                );
                for (const line of folded)
                    assert.match(line, /(readlink|0x)[^;]* \d+$/, `the innermost frame: ${line}`);

                await page.getByRole("tab", { name: "Console", exact: true }).click();
                await same(async () => (await textsOf(page.locator(".console-line")))[0], "link");
                await close();
            }),
        ),

        on("a node and the kernel in one script", () =>
            served(async (server) => {
                const { page, close } = await open(
                    server,
                    r.node.name,
                    `erlang$target:etui:step/1:entry { seen = 1; @c[probefunc] = count(); } ${AT_LINK} && seen/ { @c[probefunc] = count(); }\n`,
                    { view: "list" },
                );
                await r.run(page);
                await r.node.call("etui:paced(20)");
                links();
                await until("the calls", async () => {
                    const sums = await textsOf(page.locator(".list-row .strong"));
                    return sums.sort().join() === ["20", String(LINKS)].sort().join();
                });
                await same(
                    async () => (await textsOf(page.locator(".list-row:not(.title):not(.total) .name"))).sort(),
                    ["readlink", "step/1"],
                );
                await click(page, ".stop");
                await page.waitForSelector("[data-phase=stopped]");
                await close();
            }),
        ),

        on("probes of the kernel are completed and explained, ready scripts are marked", () =>
            served(async (server) => {
                const { page, close } = await open(server, "", "BEGIN { exit(0); }\n");
                const content = await enter(page);
                const item = (text: string) =>
                    page.locator(".editor .cm-tooltip-autocomplete li", { hasText: text }).first();
                await page.keyboard.press("Control+a");
                await page.keyboard.type("sysc");
                await item("syscall:").click();
                await page.keyboard.type(":readlinka");
                await item("readlinkat").click();
                await page.keyboard.type("ent");
                await item("entry").click();
                await until("the description", async () =>
                    ((await content.textContent()) ?? "").includes("syscall::readlinkat:entry"),
                );
                await page.keyboard.press("Control+a");
                await page.keyboard.type("sdt:::sched_swi");
                await item("sched_switch").click();
                await until("a tracepoint", async () =>
                    ((await content.textContent()) ?? "").includes("sdt:::sched_switch"),
                );
                const marked = page
                    .locator("[data-testid=scripts] li", { hasText: "erlsys.d" })
                    .locator("em", { hasText: "kernel" });
                await marked.waitFor();
                await close();
            }),
        ),

        on("a server that was not started for it refuses, and says what would help", async () => {
            const { page, close } = await r.open(`${AT_LINK}/ { @ = count(); }\n`);
            await assert.rejects(r.run(page), /did not start/);
            await like(
                async () => (await textsOf(page.locator("[data-testid=problems]")))[0],
                /syscall.*\(--kernel\)/s,
            );
            await close();
        }),
    ];
}
