// access.ts - the page for those who use it without a mouse, or with other eyes: axe-core's rules (WCAG 2.2 A and AA, and its best
// practices) on every view in both themes, and a way through it with the keyboard alone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { cost, shop, started, T0 } from "../fake/world.ts";
import { type Browsers, type Case, click, like, type Open, openExport, ROOT, same, until, written } from "./browser.ts";
import { type FakeServer, type Stage, stage } from "./fake.ts";

export const AXE = readFileSync(join(ROOT, "ui", "node_modules", "axe-core", "axe.min.js"), "utf8");

interface Violation {
    id: string;
    help: string;
    nodes: { html: string; target: unknown[]; any: { message: string }[]; all: { message: string }[] }[];
}

/** What is wrong with what is seen now, a line for each place; by all rules, or by those that are named. */
export async function violations(page: Page, rules: string[] | null): Promise<string[]> {
    const found = await page.evaluate(async (rules) => {
        const axe = (window as unknown as { axe: { run: (o: object) => Promise<{ violations: Violation[] }> } }).axe;
        return (await axe.run({ resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) })).violations;
    }, rules);
    // the editor's scroller has its text field inside, which axe does not see to have the focus
    const known = (v: Violation, html: string) =>
        v.id === "scrollable-region-focusable" && html.includes("cm-scroller");
    return found.flatMap((v) =>
        v.nodes
            .filter((n) => !known(v, n.html))
            .map(
                (n) =>
                    `${v.id}: ${v.help}: ${[...n.any, ...n.all].map((c) => c.message).join("; ")} in ${n.html.slice(0, 160)}`,
            ),
    );
}

/** Runs the shop, with something in every view. */
async function play(s: Stage): Promise<void> {
    await click(s.page, ".run");
    const start = await s.says("start");
    const next = shop(T0 - 60_000);
    s.send(
        { ...started(T0 - 60_000), id: start.id, script: start.script as string },
        { type: "state", n: 0, t: T0 - 60_000, skipped: 0, aggregations: [] },
    );
    for (let n = 1; n <= 60; n++) s.send(next(n));
    s.send(cost(39, 84211), {
        type: "records",
        probes: [[3, "erlang1:::tick-1sec", "shop@host"]],
        rows: [
            [3, 1000.125, 0, "one\n", [1]],
            [3, 2000.125, 1, "two\n", [2]],
        ],
        skipped: 0,
    });
    await s.page.waitForSelector(".cost");
}

export function access(browsers: Browsers, server: FakeServer): Case[] {
    const on = (name: string, path: string, open: Open, body: (s: Stage) => Promise<void>): Case => ({
        name,
        async run() {
            const s = await stage(browsers, server, path, open);
            await until("the list of scripts", () => s.page.locator(".card-name").count());
            await body(s);
            await s.close();
        },
    });
    const all = (rules: string[] | null) => async (s: Stage) => {
        await s.page.evaluate(AXE);
        const found: string[] = [];
        const look = async (what: string) =>
            found.push(...(await violations(s.page, rules)).map((v) => `${what}: ${v}`));
        await look("start");
        await play(s);
        await s.page.waitForSelector("[data-testid=keys] .key-row");
        await look("heat map");
        await s.page.keyboard.press("ArrowUp");
        await s.page.waitForSelector("[data-testid=cell]");
        await openExport(s.page, /PNG/);
        await look("heat map, a cell and the menu");
        await s.page.keyboard.press("Escape");
        for (const name of ["List", "Time series", "Flame graph", "Console", "Records"]) {
            await s.page.getByRole("tab", { name, exact: true }).click();
            await s.page.getByRole("tab", { name, exact: true, selected: true }).waitFor();
            await look(name);
        }
        s.send(
            {
                type: "drops",
                drops: [
                    {
                        kind: "AGGREGATION",
                        count: 3,
                        total: 1204,
                        node: "shop@host",
                        cpu: 1,
                        text: "3 aggregation drops on CPU 1",
                    },
                ],
            },
            {
                type: "stopped",
                trace: 12,
                reason: "overload",
                text: "47 % of scheduler 1",
                hint: "trace fewer functions",
                ms: 60_000,
                output: "",
            },
        );
        await s.page.waitForSelector("[data-testid=stopped]");
        await s.page.keyboard.press("b");
        await s.page.getByRole("tab", { name: /Recent/ }).click();
        await look("stopped");
        await s.page.locator("body").press("?");
        await s.page.waitForSelector("dialog.help");
        await look("help");
        assert.equal(found.length, 0, found.join("\n"));
    };
    return [
        on("no rule of accessibility is broken, in light", "/heatmap", {}, all(null)),
        on(
            "no rule of accessibility is broken, in dark: only colours differ",
            "/heatmap",
            { dark: true },
            all(["color-contrast", "link-in-text-block"]),
        ),
        on("with the keyboard alone: a script, its run, the views, a cell, a scale, a file", "/", {}, async (s) => {
            const { page } = s;
            const active = () =>
                page.evaluate(
                    () =>
                        (document.activeElement as HTMLElement).textContent ||
                        document.activeElement!.getAttribute("aria-label"),
                );
            const press = async (...keys: string[]) => {
                for (const k of keys) await page.keyboard.press(k);
            };
            await press("/");
            await page.keyboard.type("latency");
            await same(() => page.locator("[data-testid=scripts] .card-name").count(), 1);
            await press("Tab", "Enter");
            await like(() => written(page), /shop::entry/);
            await press("r");
            const start = await s.says("start");
            const next = shop(T0 - 60_000);
            s.send({ ...started(T0 - 60_000), id: start.id, script: start.script as string });
            for (let n = 1; n <= 60; n++) s.send(next(n));
            await page.waitForSelector("[data-testid=keys] .key-row");
            // the map's keys need no focus
            await press("ArrowUp");
            await page.waitForSelector("[data-testid=cell]");
            await press("Escape", "ArrowLeft");
            await page.waitForSelector(".held");
            await press("0");
            await page.locator(".held").waitFor({ state: "detached" });
            // Tab comes to each group once, arrows go through it
            await page.getByRole("tab", { name: "Heat map" }).focus();
            await press("ArrowRight");
            await page.getByRole("tab", { name: "List", selected: true }).waitFor();
            assert.equal(await active(), "List");
            await press("Home");
            await page.getByRole("tab", { name: "Heat map", selected: true }).waitFor();
            await page
                .getByRole("radiogroup", { name: "y" })
                .getByRole("radio", { name: "log", checked: true })
                .focus();
            await press("ArrowRight");
            await like(async () => page.url(), /y=linear/);
            await press("Tab");
            assert.equal(await active(), "log");
            await press("ArrowDown", "ArrowDown");
            await like(async () => page.url(), /scale=linear/);
            // what is held with Space, a key of the map alone with Enter
            await page.locator("[data-testid=keys] .key-row").first().focus();
            await press("Enter");
            await like(() => page.locator("[data-testid=keys] .what").textContent(), /shows 1 of/);
            await page.getByRole("button", { name: /export/ }).focus();
            await press("Enter");
            await same(active, "PNG image");
            await press("ArrowDown", "ArrowDown");
            assert.equal(await active(), "CSV of cells");
            const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
            assert.match(file.suggestedFilename(), /\.csv$/);
            await like(active, /^export/);
            await press("s");
            await s.says("stop");
        }),
        on("who wants no movement sees none", "/heatmap", {}, async (s) => {
            await s.page.emulateMedia({ reducedMotion: "reduce" });
            await play(s);
            const moving = () =>
                s.page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running").length);
            await same(moving, 0);
            await s.page.emulateMedia({ reducedMotion: "no-preference" });
            await until("the dot of what runs", moving);
        }),
    ];
}
