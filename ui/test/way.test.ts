// way.test.ts - what can be asked next of a key, and the steps of the way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LIVE_MAPS, type LiveMap, say } from "../src/model/live.ts";
import { nextOf, quoted, thingsIn, thingsOf } from "../src/model/next.ts";
import type { Change, Started } from "../src/model/protocol.ts";
import { Trace } from "../src/model/trace.ts";
import { DEFAULT_VIEW, NO_PLACE } from "../src/model/url.ts";
import { STEPS, type Step, Way } from "../src/model/way.ts";
import { engineOf, said } from "./fake/engine.ts";

const names = (means: (string | null)[] | null, parts: (string | number | string[])[]) =>
    thingsOf(means, parts).map((t) => `${t.means} ${t.text}${t.line ? ` at ${t.line}` : ""}`);

test("what a key names, by what the server says of its parts, or by its text", () => {
    assert.deepEqual(names(["process", "mfa"], ["shop", "shop:order/2"]), ["process shop", "mfa shop:order/2"]);
    assert.deepEqual(names(["module", "function"], ["shop", "order/2"]), ["module shop", "mfa shop:order/2"]);
    assert.deepEqual(names(["function", "module"], ["a b/1", "Elixir.My.Shop"]), [
        "mfa Elixir.My.Shop:a b/1",
        "module Elixir.My.Shop",
    ]);
    assert.deepEqual(names(["process", "process"], ["shop", "shop"]), ["process shop"], "the same twice");
    assert.deepEqual(names([null, "process"], ["slice, us", "shop"]), ["process shop"]);
    assert.deepEqual(names(null, ["<0.87.0>", "lists:map/2", "some text", 17]), ["pid <0.87.0>", "mfa lists:map/2"]);
    assert.deepEqual(names(null, [["shop:line/2 (shop.erl:71)", "shop:invoice/4"]]), [
        "mfa shop:line/2 at shop.erl:71",
    ]);
    assert.deepEqual(names(["process", "mfa", "mfa"], ["- no process", "", "<exiting>"]), [], "what names nothing");
    assert.deepEqual(names(["something new"], ["x"]), [], "a meaning that this page does not know");
});

test("the names in a line of text", () => {
    assert.deepEqual(
        thingsIn("shop 12 us <0.1.0> shop:order/2 -> 'a b':c/1 12:30:15 x/2").map((t) => t.text),
        ["<0.1.0>", "shop:order/2", "'a b':c/1"],
    );
});

test("scripts name what they are about, whatever its characters are", () => {
    const script = (means: "mfa" | "function" | "module" | "process" | "pid" | "table", text: string) =>
        nextOf({ means, text })[0]!.script;
    assert.match(script("mfa", "shop:order/2"), /^erlang\*:shop:order\/2:return$/m);
    assert.match(script("mfa", "shop:'a:b/c'/2"), /^erlang\*:shop:'a:b\/c'\/2:return$/m);
    assert.match(script("mfa", "shop:it's/0"), /^erlang\*:shop:'it\\'s'\/0:return$/m);
    assert.match(script("mfa", "'Elixir.My.Shop':'f*'/1"), /^erlang\*:Elixir\.My\.Shop:'f\*'\/1:return$/m);
    assert.match(script("function", "order/2"), /^erlang\*::order\/2:return$/m);
    assert.match(script("module", "my module"), /^erlang\*:'my module'::entry$/m);
    assert.match(script("process", 'a "b"\\'), /^\/erlname == "a \\"b\\"\\\\"\/$/m);
    assert.match(script("pid", "<0.1.0>"), /^\/erlpid == "<0.1.0>"\/$/m);
    assert.match(script("table", "t"), /^\/copyinstr\(arg1\) == "t"\/$/m);
    assert.equal(quoted("a\nb\t"), '"a\\nb\\t"');
    assert.match(
        script("process", "x */ y").split("\n")[0]!,
        /^\/\* [^*]*\* \/ y[^*]*\*\/$/,
        "the comment ends where it should",
    );
});

test("what is slow is what the cell says, else a millisecond", () => {
    const slow = (over: number) =>
        nextOf({ means: "mfa", text: "shop:order/2" }, over).find(
            (n) => n.script.includes("elapsed >") && n.view === "console",
        )!;
    assert.match(slow(4_194_304).script, /elapsed > 4194304\b/);
    assert.match(slow(4_194_304).title, /above 4\.19 ms/);
    assert.match(slow(0).script, /elapsed > 1000000\b/);
});

test("every title of a menu is there once", () => {
    for (const means of ["process", "pid", "mfa", "function", "module", "table"] as const) {
        const all = nextOf({ means, text: means === "mfa" ? "a:b/1" : "x/1" });
        assert.equal(new Set(all.map((n) => n.title)).size, all.length);
        assert.equal(new Set(all.map((n) => n.name + n.agg)).size, all.length);
    }
});

const started = (script: string): Started => ({
    type: "started",
    id: 1,
    trace: 1,
    shared: false,
    node: "n@h",
    name: "",
    script,
    args: [],
    options: {},
    view: null,
    t: 0,
    interval: 1000,
    prints: false,
    destructive: false,
    enabled: { probes: 1, text: null },
    aggregations: [{ id: 0, name: "@", function: "count", keys: ["int"], normal: 1, buckets: null }],
});

function step(script: string, cells = 0): Step {
    const trace = new Trace(started(script));
    trace.results({
        type: "results",
        n: 1,
        t: 1000,
        dt: 1000,
        aggregations: [
            {
                id: 0,
                keys: Array.from({ length: cells }, (_, i) => [i, i] as [number, number]),
                add: Array.from({ length: cells }, (_, i) => [i, 1]),
            },
        ],
    });
    const look = { ...NO_PLACE, chosen: null };
    return {
        name: script,
        script,
        args: [],
        options: {},
        node: "n@h",
        also: [],
        view: DEFAULT_VIEW,
        trace,
        look,
        address: script,
    };
}

test("steps: a new one follows the one that is shown; the same again replaces it", () => {
    const way = new Way();
    for (const s of ["a", "b", "c"]) way.add(step(s));
    way.add(step("c"));
    assert.deepEqual(
        way.steps.map((s) => s.script),
        ["a", "b", "c"],
    );
    way.at = 0;
    way.add(step("d"));
    assert.deepEqual(
        way.steps.map((s) => s.script),
        ["a", "d"],
    );
    assert.equal(way.step!.script, "d");
    way.at = -1;
    way.add(step("e"));
    assert.deepEqual(
        way.steps.map((s) => s.script),
        ["e"],
    );
    for (let i = 0; i < 2 * STEPS; i++) way.add(step(`s${i}`));
    assert.equal(way.steps.length, STEPS);
    assert.equal(way.at, STEPS - 1);
});

test("steps: each keeps its number, by which it is found", () => {
    const way = new Way(7);
    assert.deepEqual([way.id, way.find(0), way.find(8)], [0, -1, null]);
    for (const s of ["a", "b", "b", "c"]) way.add(step(s));
    assert.deepEqual([way.id, way.idOf(0), way.idOf(1), way.idOf(-1)], [10, 8, 9, 0]);
    way.at = 0;
    way.add(step("d"));
    assert.deepEqual([way.find(8), way.find(9), way.find(10), way.find(11)], [0, null, null, 1]);
});

test("steps: the data farthest from what is shown go first", () => {
    const way = new Way();
    for (const s of ["a", "b", "c"]) way.add(step(s, 100));
    way.bound(250);
    assert.deepEqual(
        way.steps.map((s) => s.trace !== null),
        [false, true, true],
    );
    way.bound(10);
    assert.deepEqual(
        way.steps.map((s) => s.trace !== null),
        [false, false, true],
        "what is shown stays",
    );
});

/** A trace of a small map with one reading a second. */
function small(id: string, aggregations: Started["aggregations"], ...readings: Change[][]): [LiveMap, Trace] {
    const map = LIVE_MAPS.find((m) => m.id === id)!;
    const trace = new Trace({ ...started(map.script), aggregations });
    readings.forEach((c, i) => {
        trace.results({ type: "results", n: i + 1, t: 1000 * (i + 1), dt: 1000, aggregations: c });
    });
    return [map, trace];
}

test("a small map says what is slow and who, of the last seconds", () => {
    const wait: Started["aggregations"] = [
        {
            id: 0,
            name: "@wait_ns",
            function: "quantize",
            keys: ["string"],
            means: ["process"],
            normal: 1,
            buckets: said("quantize", []),
        },
    ];
    const b = (value: number) => engineOf("quantize", []).of(value);
    const [map, trace] = small("wait", wait, [
        {
            id: 0,
            keys: [
                [0, "fast"],
                [1, "slow"],
            ],
            add: [
                [0, b(1000), 1000],
                [1, b(4_194_304), 20],
            ],
        },
    ]);
    const seen = say(map, trace);
    assert.match(seen.text, /^p99 .* ms, slowest:$/);
    assert.deepEqual([seen.key, seen.things], ["slow", [{ means: "process", text: "slow" }]]);
    // what was slow long ago is not said again
    for (let n = 2; n < 15; n++)
        trace.results({
            type: "results",
            n,
            t: 1000 * n,
            dt: 1000,
            aggregations: [{ id: 0, add: [[0, b(1000), 10]] }],
        });
    assert.equal(say(map, trace).key, "fast");
    trace.results({ type: "results", n: 40, t: 40_000, dt: 1000, aggregations: [] });
    assert.equal(say(map, trace).text, "nothing in the last 10 s");
});

test("a small map of samples says which process ran most, whatever its stacks were", () => {
    const [map, trace] = small(
        "busy",
        [
            {
                id: 0,
                name: "@samples",
                function: "count",
                keys: ["string", "stack"],
                means: ["process", null],
                normal: 1,
                buckets: null,
            },
        ],
        [
            {
                id: 0,
                keys: [
                    [0, "a", ["x:y/1"]],
                    [1, "a", ["x:z/1"]],
                    [2, "b", ["x:y/1"]],
                ],
                add: [
                    [0, 3],
                    [1, 3],
                    [2, 4],
                ],
            },
        ],
    );
    const seen = say(map, trace);
    assert.deepEqual([seen.text, seen.key], ["60 % of what ran, most:", "a"]);
    assert.deepEqual(seen.things, [{ means: "process", text: "a" }]);
});
