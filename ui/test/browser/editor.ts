// editor.ts - tests of the editor and of what is said of a run, against the made-up server: what is loaded when, errors of probes, documentation,
// options, the question before a dear run, banners that help.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { warning } from "../../src/model/protocol.ts";
import { started, T0 } from "../fake/world.ts";
import {
    type Browsers,
    type Case,
    click,
    DIST,
    enter,
    firstPaint,
    hold,
    like,
    picture,
    same,
    until,
    written,
} from "./browser.ts";
import { type FakeServer, type Stage, stage } from "./fake.ts";
import { agg } from "./views.ts";

export function editor(browsers: Browsers, server: FakeServer): Case[] {
    const on = (name: string, path: string, body: (s: Stage) => Promise<void>): Case => ({
        name,
        run: async () => {
            const s = await stage(browsers, server, path);
            try {
                await body(s);
            } finally {
                await s.close();
            }
        },
    });
    const loaded = (s: Stage) => s.page.evaluate(() => performance.getEntriesByType("resource").map((e) => e.name));
    const script = "erlang*:shop::entry { @[probefunc] = count(); }";
    /** Writes a script, and answers its check. */
    const matches = async (s: Stage, functions: number, modules: number, diagnostics: object[] = []) => {
        const from = s.said.length;
        await enter(s.page);
        await s.page.keyboard.press("Control+a");
        await s.page.keyboard.insertText(script);
        const check = await until("the check", () =>
            s.said.slice(from).find((m) => m.type === "check" && m.script === script),
        );
        s.send({
            type: "matched",
            id: check.id as number,
            node: check.node as string,
            matches: [{ line: 1, column: 1, length: 19, name: "entry", probes: functions, functions, modules }],
            functions: 8037,
            modules: 410,
            diagnostics: diagnostics as never,
        });
        return check;
    };
    const estimate = (s: Stage) => s.page.locator("[data-testid=estimate]").textContent();

    return [
        on(
            "editor: first paint needs at most 150 KB; CodeMirror comes when the editor is entered",
            "/list",
            async (s) => {
                await until("the script", async () => /\$1::entry/.test((await written(s.page)) ?? ""));
                const { bytes, first } = await firstPaint(s.page);
                assert.ok(bytes <= 150 * 1024, `${bytes} bytes: ${first.join(" ")}`);
                assert.ok(
                    first.length >= 2 && first.length < readdirSync(join(DIST, "assets")).length,
                    first.join(" "),
                );
                assert.ok(!first.some((p) => p.includes("/code-")), "not CodeMirror");
                // the text is in colour already, at the place that it will have
                const word = s.page.locator(".plain .tok-tagName").first();
                const [colour, box] = [
                    await word.evaluate((e) => getComputedStyle(e).color),
                    (await word.boundingBox())!,
                ];
                const content = await enter(s.page);
                assert.ok(
                    (await loaded(s)).some((p) => p.includes("/assets/code-")),
                    "now it is there",
                );
                const after = content.locator("span", { hasText: "::entry" }).first();
                assert.equal(await after.evaluate((e) => getComputedStyle(e).color), colour);
                const there = (await after.boundingBox())!;
                assert.ok(
                    Math.abs(there.x - box.x) <= 1.5 && Math.abs(there.y - box.y) <= 1.5,
                    JSON.stringify([box, there]),
                );
            },
        ),

        on("editor: what is typed before CodeMirror is there stays, and the cursor with it", "/", async (s) => {
            await s.page.route(/\/code-/, async (r) => {
                await until("typing", async () => (await written(s.page))?.includes("BEGIN {"));
                await r.continue();
            });
            await s.page.locator(".editor textarea").focus();
            await s.page.keyboard.type("BEGIN { ");
            await s.page.locator(".cm-editor.cm-focused").waitFor();
            await s.page.keyboard.type("exit(0);");
            await like(() => written(s.page), /BEGIN \{ exit\(0\);/);
        }),

        on("editor: probes that the node does not have are marked while one writes", "/", async (s) => {
            const check = await matches(s, 0, 0, [
                {
                    severity: "error",
                    tag: "D_PDESC_ZERO",
                    text: "probe description erlang*:shop::entry does not match any probes",
                    hint: "did you mean 'shop_sup'?",
                    file: "script.d",
                    line: 1,
                    column: 1,
                    length: 19,
                    source: script,
                    rendered: "",
                },
            ]);
            assert.equal(check.node, "shop@host", "the node is asked about");
            await until(
                "the mark",
                async () =>
                    (await s.page.locator(".editor .cm-lintRange-error").allTextContents()).join("") ===
                    "erlang*:shop::entry",
            );
            await like(() => s.page.locator("[data-testid=problems]").textContent(), /did you mean 'shop_sup'/);
            // the answer of the compiler alone, which is late, takes nothing away
            s.send({ type: "checked", id: check.id as number, diagnostics: [] });
            s.send({ type: "viewers", viewers: 1 });
            await like(() => s.page.locator("[data-testid=problems]").textContent(), /does not match/);
        }),

        on(
            "editor: each of several nodes is asked, and the one that lacks a probe is named",
            "/#node=shop%40one&node=shop%40two",
            async (s) => {
                const check = await matches(s, 41, 1);
                assert.equal(check.node, "shop@one");
                const from = s.said.indexOf(check as never) + 1;
                const other = await s.says("check", from);
                assert.deepEqual([other.node, other.script], ["shop@two", script]);
                const place = { line: 1, column: 1, length: 19 };
                s.send({
                    type: "matched",
                    id: other.id,
                    node: "shop@two",
                    matches: [{ ...place, name: null, probes: 0, functions: 0, modules: 0 }],
                    functions: 8037,
                    modules: 410,
                    diagnostics: [
                        {
                            ...place,
                            severity: "error",
                            tag: "D_PDESC_ZERO",
                            text: "it matches no probe",
                            hint: null,
                            file: "script.d",
                            source: script,
                            rendered: "",
                        },
                    ],
                });
                await like(
                    () => s.page.locator("[data-testid=problems]").textContent(),
                    /shop@two: it matches no probe/,
                );
                await like(() => estimate(s), /^shop@one: 41 of 8\s037 functions.* · shop@two: nothing$/);
                assert.equal(s.said.slice(from).filter((m) => m.type === "check").length, 1);
            },
        ),

        on(
            "editor: what is answered of an earlier text, argument or option is not shown of the one of now",
            "/",
            async (s) => {
                const check = await matches(s, 3100, 40);
                await like(() => estimate(s), /3\s100 of 8\s037 functions/);
                const late = (id: number, functions: number) =>
                    s.send({
                        type: "matched",
                        id,
                        node: "shop@host",
                        matches: [{ line: 1, column: 1, length: 19, name: "entry", probes: 1, functions, modules: 1 }],
                        functions: 8037,
                        modules: 410,
                        diagnostics: [],
                    });
                const over = await hold(s.page, 400);
                await s.page.keyboard.press("End");
                await s.page.keyboard.insertText(" ");
                await until("the change", async () => (await written(s.page))?.endsWith(" "));
                late(check.id, 17);
                s.send({ type: "diagnostics", diagnostics: [warning("all has come")] });
                await s.page.getByText("all has come").waitFor();
                assert.equal(await estimate(s), "");
                const from = s.said.length;
                await over();
                late((await s.says("check", from)).id, 5);
                await like(() => estimate(s), /^5 of 8\s037 functions/);
                await s.page.getByRole("button", { name: "options" }).click();
                await s.page.getByLabel("length of strings").fill("64");
                await same(() => estimate(s), "");
            },
        ),

        on("editor: documentation of a word, by pointer and by keyboard", "/", async (s) => {
            const content = await enter(s.page);
            await s.page.keyboard.insertText("BEGIN { x = timestamp; }");
            await content.locator("span", { hasText: "timestamp" }).last().hover();
            const doc = s.page.locator("[data-testid=doc]");
            await like(() => doc.textContent(), /timestamp.*monotonic/);
            assert.equal(await doc.getAttribute("role"), "tooltip");
            await s.page.mouse.move(1, 1);
            await doc.waitFor({ state: "detached" });
            await s.page.keyboard.press("Home");
            await s.page.keyboard.press("Control+i");
            await like(() => doc.textContent(), /BEGIN.*before all others/);
            await like(() => s.page.locator(".cm-announced").textContent(), /before all others/);
            await s.page.keyboard.press("Escape");
            await doc.waitFor({ state: "detached" });
        }),

        on("editor: options are fields with limits; they are in the address and in the start", "/", async (s) => {
            await s.page.locator("[data-testid=scripts] button").first().click();
            const fold = s.page.getByRole("button", { name: "options" });
            await fold.click();
            const width = s.page.getByLabel("column width");
            await width.fill("5ms");
            await like(() => s.page.locator(".option.wrong").textContent(), /at least 100ms/);
            assert.equal(await width.getAttribute("aria-invalid"), "true");
            let from = s.said.length;
            await s.page.keyboard.press("Control+Enter");
            await width.fill("100ms");
            await s.page.getByLabel("length of strings").fill("64");
            await same(() => s.page.locator(".option.wrong").count(), 0);
            await same(async () => /opt=aggrate%3D100ms&opt=strsize%3D64/.test(s.page.url()), true);
            await s.page.keyboard.press("Control+Enter");
            const start = await s.says("start", from);
            assert.deepEqual(start.options, { aggrate: "100ms", strsize: "64" }, "and nothing was started before");
            await s.page.reload();
            await like(() => fold.textContent(), /options/);
            await same(() => s.page.getByLabel("column width").inputValue(), "100ms");
            from = s.said.length;
        }),

        on("editor: a dear run is asked about, and can be narrowed to a module", "/", async (s) => {
            await matches(s, 3100, 40);
            await like(() => estimate(s), /3\s100 of 8\s037 functions, in 40 modules/);
            let from = s.said.length;
            await s.page.keyboard.press("Control+Enter");
            const bar = s.page.locator("[data-testid=confirm]");
            await like(() => bar.textContent(), /3\s100 functions of 40 modules, 39 %/);
            await picture(s.page, "editor-confirm");
            assert.ok(!s.said.slice(from).some((m) => m.type === "start"), "nothing has started");
            await bar.getByLabel("narrow to module").fill("shop_sup");
            await bar.getByRole("button", { name: "narrow and run" }).click();
            const start = await s.says("start", from);
            assert.match(start.script as string, /^erlang\*:shop_sup::entry/);
            s.send({ type: "failed", id: start.id as number, tag: "NODE_DOWN", text: "no", hint: null });
            await s.page.waitForSelector("[data-phase=failed]");
            await matches(s, 3100, 40);
            from = s.said.length;
            await s.page.keyboard.press("Control+Enter");
            await bar.getByRole("button", { name: "run anyway" }).click();
            assert.equal((await s.says("start", from)).script, script);
        }),

        on("editor: banners say how much was lost, and their button mends it", "/", async (s) => {
            await matches(s, 12, 1);
            let from = s.said.length;
            await s.page.keyboard.press("Control+Enter");
            const start = await s.says("start", from);
            await like(() => s.page.locator("[data-testid=placing]").textContent(), /Starting.*shop@host/);
            s.send({ ...started(T0), id: start.id, script, aggregations: [agg(0, "@", "count", ["string"])] });
            s.send({
                type: "drops",
                drops: [
                    { kind: "AGGREGATION", count: 3, total: 3, node: "shop@host", cpu: 1, text: "3 aggregation drops" },
                    { kind: "AGGREGATION", count: 9, total: 9, node: "shop@host", cpu: 2, text: "9 aggregation drops" },
                ],
            });
            const drops = s.page.locator("[data-testid=drops]");
            await like(() => drops.textContent(), /12 values.*not counted.*since.*More memory/);
            await picture(s.page, "editor-drops");
            from = s.said.length;
            await click(s.page, "[data-testid=drops] .remedy");
            const again = await s.says("start", from);
            assert.deepEqual(again.options, { aggsize: "16m" });
        }),
    ];
}
