import assert from "node:assert/strict";
import { test } from "node:test";
import { describedAt, isOf, names, placeOf, probeAt, records, span } from "../src/edit/place.ts";

// A script with | where the cursor is.
const at = (s: string) => {
    const p = placeOf(s.replace("|", ""), s.indexOf("|"));
    return p && [p.kind, p.text];
};

test("what is to be completed at a place", () => {
    assert.deepEqual(at("erl|"), ["provider", "erl"]);
    assert.deepEqual(at("erlang*:li|"), ["module", "li"]);
    assert.deepEqual(at("erlang*:lists:ma|"), ["function", "ma"]);
    assert.deepEqual(at("erlang*:lists:map/2:en|"), ["name", "en"]);
    assert.deepEqual(at("erlang*:::process-sp|"), ["name", "process-sp"]);
    assert.deepEqual(at("BEGIN { x = 1; }\ntick|"), ["provider", "tick"]);
    assert.deepEqual(at("a:::b,\nerlang*:|"), ["module", ""]);
    assert.deepEqual(at("erlang*:::x\n/self->|"), ["member", ""]);
    assert.deepEqual(at("erlang*:::x\n/ar|"), ["word", "ar"]);
    assert.deepEqual(at("erlang*:::x { self->t|"), ["member", "t"]);
    assert.deepEqual(at("erlang*:::x { @la|"), ["aggregation", "@la"]);
    assert.deepEqual(at("erlang*:::x { @a = quan|"), ["word", "quan"]);
    assert.deepEqual(at("erlang*:::x { trace(argv[0].#ord|"), ["record", "ord"]);
    assert.deepEqual(at("erlang*:::x { trace(argv[0]#|"), ["record", ""]);
    assert.deepEqual(at("erlang*:::x { trace(argv[0].#order.pr|"), ["field", "pr"]);
    assert.deepEqual(at("erlang*:::x { trace(argv[0].ar|"), null);
    assert.deepEqual(at("record order { i|"), ["word", "i"]);
    assert.deepEqual(at("#pragma D option agg|"), ["option", "agg"]);
    assert.deepEqual(at("/* erl|"), null);
    assert.deepEqual(at('BEGIN { printf("arg|'), null);
});

test("names that a script uses, and the probe of a clause", () => {
    const text = "erlang*:::process-spawn /self->b/ { self->a = 1; @n[1] = count(); @n2 = sum(1); } // self->no";
    assert.deepEqual(names(text, "self"), ["a", "b"]);
    assert.deepEqual(names(text, "@"), ["n", "n2"]);
    assert.equal(probeAt("BEGIN { } erlang*:::process-spawn /arg0/ { x = "), "process-spawn");
    assert.equal(probeAt("tick-1sec { "), "tick-1sec");
    assert.deepEqual(describedAt("erlang*:::x { } syscall::read:entry { "), ["syscall", "entry"]);
    assert.ok(isOf("erlang*", "erlang") && isOf("", "sdt") && isOf("erlang$target", "erlang"));
    assert.ok(!isOf("erlang*", "syscall") && !isOf("sys*", "syscall"));
});

test("records that a script defines", () => {
    const text = "record order { id, price,\n items };\n/* record no { x } */ record 'a b' { 'c d' };";
    assert.deepEqual(
        [...records(text)],
        [
            ["order", ["id", "price", "items"]],
            ["'a b'", ["'c d'"]],
        ],
    );
});

test("places of diagnostics are bytes of UTF-8", () => {
    const text = 'a\n  "ü€😀" x\n';
    const mark = (line: number, column: number, length: number) => {
        const s = span(text, line, column, length);
        return s && text.slice(s.from, s.to);
    };
    assert.equal(mark(2, 3, 11), '"ü€😀"');
    assert.equal(mark(2, 15, 1), "x");
    assert.equal(mark(1, 1, 1), "a");
    assert.equal(mark(0, 0, 0), null);
    assert.equal(span(text, 99, 1, 1)!.to, text.length);
});
