// editor.test.ts - the editor's model: tokens, documentation, options, what a script matches, advice for all that the product reports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { docAt } from "../src/edit/docs.ts";
import type { ProbeItem } from "../src/edit/lists.ts";
import { tokens } from "../src/edit/tokens.ts";
import { button, DROPS, ENDED, FAULTS, ofTag } from "../src/model/advice.ts";
import { dear, estimate, estimates, narrowed, problems, total } from "../src/model/matched.ts";
import { inForce, nanoseconds, OPTION_FIELDS, raised, wrong } from "../src/model/options.ts";
import type { Diagnostic, Matched } from "../src/model/protocol.ts";
import { DEFAULT_VIEW, read, write } from "../src/model/url.ts";

const top = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const text = (path: string) => readFileSync(join(top, path), "utf8");
const rows = (path: string, word: string) =>
    [...text(path).matchAll(new RegExp(`^${word}\\(\\d+, (\\w+),`, "gm"))].map((m) => m[1]!);

test("editor: the light tokens are whole, in order, and coloured", () => {
    const d = '/* a\nb */ BEGIN { @x = quantize(12); s = "t"; } // end\n';
    const all = tokens(d);
    let at = 0;
    for (const t of all) {
        assert.match(d.slice(at, t.from), /^\n*$/);
        assert.ok(t.to > t.from);
        at = t.to;
    }
    const kinds = all.filter((t) => t.kind).map((t) => [d.slice(t.from, t.to), t.kind]);
    for (const want of [
        ["/*", "comment"],
        [" a", "comment"],
        ["b */", "comment"],
        ["BEGIN", "tagName"],
        ["@x", "labelName"],
        ["quantize", "labelName"],
        ["12", "number"],
        ['"t"', "string"],
        ["// end", "comment"],
    ])
        assert.ok(
            kinds.some((k) => k[0] === want[0] && k[1] === want[1]),
            want.join(),
        );
});

const SPAWN: ProbeItem = {
    name: "process-spawn",
    provider: "erlang",
    text: "a process is made",
    section: "Processes",
    args: [{ type: "char *", name: "p", text: "the new process as text" }],
};

test("editor: words are explained", () => {
    const d =
        "#pragma D option strsize=1k\nint n;\nerlang*:::process-spawn { self->t = timestamp; @c[copyinstr(arg0)] = count(); n++; trace(self->t); }";
    const at = (word: string, nth = 0) => {
        let i = d.indexOf(word);
        while (nth-- > 0) i = d.indexOf(word, i + 1);
        return docAt(d, i + 1, [SPAWN]);
    };
    assert.deepEqual(at("process-spawn")?.lines, [SPAWN.text, "arg0  char * p: the new process as text"]);
    assert.match(at("timestamp")!.lines[0]!, /monotonic/);
    assert.match(at("arg0")!.lines[0]!, /new process/);
    assert.match(at("count")!.lines[0]!, /number of calls/);
    assert.equal(at("#pragma")!.title, "strsize");
    assert.deepEqual(at("n++")!.lines, ["line 2: int n"]);
    assert.match(at("t)", 2)?.lines[0] ?? "", /line 3: self->t = timestamp|name of this script/);
    assert.equal(at("{"), null);
});

test("editor: options are taken as the server takes them", () => {
    const field = (name: string) => OPTION_FIELDS.find((f) => f.name === name)!;
    const cases: [string, string, RegExp | ""][] = [
        ["aggrate", "100ms", ""],
        ["aggrate", "10hz", ""],
        ["aggrate", "99ms", /at least 100ms/],
        ["aggrate", "2m", /at most 60s/],
        ["aggrate", "1x", /time/],
        ["strsize", "1k", ""],
        ["strsize", "1", /at least 2/],
        ["strsize", "2m", /at most 1m/],
        ["maxload", "off", ""],
        ["maxload", "101", /at most 100/],
        ["bufsize", "4mb", /k, m, g/],
        ["bufsize", "", ""],
    ];
    for (const [name, value, want] of cases) {
        const is = wrong(field(name), value);
        if (want === "") assert.equal(is, "", `${name}=${value}`);
        else assert.match(is, want, `${name}=${value}`);
    }
    assert.equal(nanoseconds("1500ms"), 1.5e9);
    assert.equal(nanoseconds("soon"), null);
    const a = { node: null, name: "x", script: null, args: [], options: { aggrate: "100ms" }, view: DEFAULT_VIEW };
    assert.deepEqual(read(write(a)).options, { aggrate: "100ms" });
    assert.equal(read("opt=__proto__").options, undefined);
});

test("editor: more of a size, in its field or where the script sets it", () => {
    assert.deepEqual(raised("aggsize", 4, "BEGIN {}", {}), {
        value: "16m",
        script: "BEGIN {}",
        options: { aggsize: "16m" },
    });
    const own = "#pragma D option bufsize=64k\nBEGIN {}";
    assert.equal(inForce("bufsize", own, { bufsize: "1m" }), "64k");
    assert.deepEqual(raised("bufsize", 4, own, {}), { value: "256k", script: own.replace("64k", "256k"), options: {} });
    assert.equal(raised("nspec", 4, "", { nspec: "16" }), null, "at its limit");
});

const matched = (...m: [string | null, number, number][]): Matched => ({
    type: "matched",
    id: 1,
    node: "n",
    matches: m.map(([name, functions, modules], i) => ({
        line: i + 1,
        column: 1,
        length: 17,
        name,
        probes: functions || 1,
        functions,
        modules,
    })),
    functions: 8037,
    modules: 410,
    diagnostics: [],
});

test("editor: what a run would place, and when it is dear", () => {
    assert.equal(
        estimate(matched(["entry", 41, 1], ["return", 41, 1], ["message-send", 0, 0])),
        "41 of 8\u202f037 functions, in 1 module: each call is an event; each message",
    );
    assert.equal(estimate(matched(["BEGIN", 0, 0], [null, 0, 0])), "");
    assert.deepEqual(total(matched(["entry", 8037, 410], ["entry", 100, 2])), { functions: 8037, modules: 410 });
    assert.equal(dear([matched(["entry", 999, 40])]), null);
    const d = dear([matched(["entry", 10, 1], ["entry", 3100, 40])])!;
    assert.match(d.text, /3\u202f110 functions of 41 modules, 39 %/);
    assert.equal(d.line, 2);
    const script = "é; erlang*:::entry { }";
    assert.equal(narrowed(script, { line: 1, column: 5, length: 15 }, "lists"), "é; erlang*:lists::entry { }");
    assert.equal(narrowed("lists::entry", { line: 1, column: 1, length: 12 }, "Elixir.A"), "erlang*:'Elixir.A'::entry");
    assert.equal(narrowed("BEGIN", { line: 1, column: 1, length: 5 }, "x"), null);
});

test("editor: what a script matches on several nodes, and which of them lack a probe", () => {
    const zero = (line: number, tag = "D_PDESC_ZERO") =>
        ({ severity: "error", tag, text: `none at ${line}`, hint: null, line, column: 1 }) as Diagnostic;
    const on = (node: string, functions: number, ...diagnostics: Diagnostic[]) => ({
        ...matched(["entry", functions, 1]),
        node,
        diagnostics,
    });
    const silent = { ...on("c", 0), matches: undefined, error: "no answer" } as unknown as Matched;
    const texts = (all: Matched[], chosen: number) => problems(all, chosen).map((d) => d.text);
    assert.deepEqual(texts([on("a", 1, zero(1))], 1), ["none at 1"]);
    const [a, b] = [
        on("a", 0, zero(1), zero(2), zero(4, "D_SYNTAX")),
        on("b", 41, zero(2), zero(3), zero(4, "D_SYNTAX")),
    ];
    assert.deepEqual(texts([a, b], 2), ["a: none at 1", "none at 2", "none at 4", "b: none at 3"]);
    // of a third nothing is known
    assert.deepEqual(texts([a, b, silent], 3), ["a: none at 1", "a, b: none at 2", "none at 4", "b: none at 3"]);
    assert.deepEqual(estimates([on("a", 41), on("b", 41), silent]), [
        "41 of 8\u202f037 functions, in 1 module: each call is an event",
    ]);
    assert.match(estimates([on("a", 41), on("b", 42)]).join(), /^a: 41 of .*,b: 42 of /);
    assert.match(
        dear([on("a", 41), on("b", 3100)])!.text,
        /^On b it places probes on 3\u202f100 functions of 1 module,/,
    );
});

test("editor: everything that the product can report has advice", () => {
    const drops = rows("guest/words/drops.list", "WORD_DROP");
    const faults = rows("guest/words/faults.list", "WORD_FAULT");
    assert.ok(drops.length >= 10 && faults.length >= 14);
    for (const d of drops) assert.ok(DROPS[d]?.advice && /[^s]$/.test(DROPS[d].noun), `drop ${d}, the noun of one`);
    for (const f of faults) assert.ok(FAULTS[f]?.advice, `fault ${f}`);
    assert.deepEqual(Object.keys(DROPS).sort(), [...drops].sort(), "and nothing else has");
    assert.deepEqual(Object.keys(FAULTS).sort(), [...faults].sort());
    const reasons = [
        ...text("c_src/web/trace_thread.c").matchAll(/reason = (?:.*\? )?"(\w+)"(?: : "(\w+)")?/g),
    ].flatMap((m) => [m[1]!, m[2]].filter((r) => r !== undefined));
    assert.ok(reasons.length >= 7);
    for (const r of reasons) assert.ok(ENDED[r], `reason ${r}`);
    // the tags of errors: by hand in C, and in the agent
    const sources = [
        "c_src/tier/vm_agent.c",
        "c_src/tier/vm.c",
        "c_src/tier/vm_read.c",
        "c_src/tier/nameskept.c",
        "c_src/wire/reach.c",
        "c_src/wire/conn.c",
        "c_src/wire/dist.c",
        "c_src/session/session.c",
        "c_src/session/match.c",
        "c_src/web/running.c",
        "c_src/web/viewer.c",
        "guest/agent/erltrace_agent.erl",
    ].map(text);
    const tags = new Set(
        sources.flatMap((s) => [...s.matchAll(/["']([A-Z]+[A-Z0-9]*_[A-Z0-9_]+)["']/g)].map((m) => m[1]!)),
    );
    assert.ok(tags.size > 20);
    for (const t of tags) if (!/^(ERLTRACE|ET)_/.test(t)) assert.ok(ofTag(t), `tag ${t}`);
    for (const a of [...Object.values(DROPS), ...Object.values(FAULTS), ...Object.values(ENDED)])
        if (a.remedy.do === "raise") assert.ok(button(a.remedy, "", {}), `${a.remedy.option} can be raised`);
});
