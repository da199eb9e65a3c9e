// What the tests of the page report of themselves.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pointsOf } from "./browser/plain.ts";
import { type Case, finding, InVain, loose, pageErrors, runAll, skip, Unable, uses } from "./browser/results.ts";

const ENDS: [name: string, run: () => unknown, verdict: string, why: string | null, text: RegExp | null][] = [
    ["nothing is wrong", () => {}, "pass", null, null],
    ["it cannot be run here", () => skip("no network"), "skip", null, /^no network$/],
    ["a wrong value", () => assert.equal(1, 2), "fail", "assertion", /AssertionError.*\n.*\n*1 !== 2/],
    ["after that nothing is loose", () => assert.equal(1, 2), "fail", "assertion", /^AssertionError[\s\S]*1 !== 2/],
    [
        "a wrong value that load may explain",
        () => (loose("a sample"), assert.equal(1, 2)),
        "fail",
        "assertion",
        /^load may change it: a sample\n/,
    ],
    [
        "another error in such a test",
        () => (loose("a sample"), uses("a@h"), JSON.parse("{")),
        "fail",
        "assertion",
        /SyntaxError/,
    ],
    ["loose without a reason", () => loose(" "), "fail", "assertion", /without a reason/],
    ["a wait", () => Promise.reject(new InVain("no answer")), "fail", "timeout", /no answer/],
    [
        "a wait of Playwright's",
        () => Promise.reject(Object.assign(new Error("60000ms exceeded"), { name: "TimeoutError" })),
        "fail",
        "timeout",
        /exceeded/,
    ],
    [
        "a wait for what a page cannot do any more",
        () => (pageErrors().push("x is not a function"), Promise.reject(new InVain("no answer"))),
        "fail",
        "finding",
        /no answer[\s\S]*\nx is not a function$/,
    ],
    ["something that nobody expects", () => finding("the node a@h has died"), "fail", "finding", /a@h has died$/],
    ["no browser", () => Promise.reject(new Unable("no browser")), "fail", "machine", /^could not run: no browser$/],
    [
        "no space",
        () => Promise.reject(Object.assign(new Error("write"), { code: "ENOSPC" })),
        "fail",
        "machine",
        /write/,
    ],
];

test("each test reports one line, with the class of its failure", async () => {
    const folder = mkdtempSync(join(tmpdir(), "erltrace-results-"));
    const before = process.env.TEST_RESULTS;
    try {
        process.env.TEST_RESULTS = join(folder, "results");
        const cases = ENDS.map(([name, run]): Case => ({ name, run: async () => void (await run()) }));
        assert.deepEqual(await runAll(cases), [1, 11]);
        const lines = readFileSync(process.env.TEST_RESULTS, "utf8").trim().split("\n");
        assert.equal(lines.length, ENDS.length);
        for (const [i, [name, , verdict, why, text]] of ENDS.entries()) {
            const said = JSON.parse(lines[i]!) as Record<string, unknown>;
            assert.deepEqual([said.suite, said.test, said.verdict, said.class], ["ui", name, verdict, why]);
            if (text) assert.match(said.text as string, text);
            else assert.equal(said.text, null);
            assert.equal(said.node, name.startsWith("another") ? "a@h" : null);
        }
    } finally {
        if (before === undefined) delete process.env.TEST_RESULTS;
        else process.env.TEST_RESULTS = before;
        rmSync(folder, { recursive: true, force: true });
    }
});

test("a report in the Test Anything Protocol: names, what was skipped, and why one failed", () => {
    const report = `TAP version 13
# Subtest: a
ok 1 - a \\# b
  ---
  duration_ms: 3.5
  ...
# Subtest: c
not ok 2 - c
  ---
  duration_ms: 1
  error: |-
    why not
  ...
ok 3 - later # SKIP no way
1..3
`;
    assert.deepEqual(
        [...pointsOf(report)].map(([name, { ok, skip, text }]) => [
            name,
            ok,
            skip,
            /error: \|-\n +(.*)/.exec(text)?.[1],
        ]),
        [
            ["a # b", true, null, undefined],
            ["c", false, null, "why not"],
            ["later", true, "no way", undefined],
        ],
    );
});
