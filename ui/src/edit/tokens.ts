// tokens.ts - the words of D, and what divides a text into tokens. Colouring, completion and documentation share one table; the colours of
// the text before CodeMirror is loaded, and those in CodeMirror, share one tokenizer.
import { D_WORDS } from "../model/words.ts";

export interface Word {
    label: string;
    kind: "keyword" | "variable" | "function" | "aggregation" | "type" | "option";
    detail: string;
    /** What is inserted after the name when it is completed. */
    call?: string;
    /** Not available in nodes: coloured, but not offered. */
    elsewhere?: boolean;
}

const words = (kind: Word["kind"], rows: [string, string, string?][]): Word[] =>
    rows.map(([label, detail, call]) => ({ label, kind, detail, ...(call === undefined ? {} : { call }) }));

export const WORDS: Word[] = [
    ...D_WORDS.map(([kind, label, detail, call, here]) => ({
        label,
        kind,
        detail,
        ...(call === "" ? {} : { call }),
        ...(here ? {} : { elsewhere: true }),
    })),
    ...words("variable", [
        ["arg0", "first argument"],
        ["arg1", "second argument"],
        ["arg2", "third argument"],
        ["arg3", "fourth argument"],
        ["arg4", "fifth argument"],
        ["args", "typed arguments"],
        ["self", "variables of the process: self->x"],
        ["this", "variables of the clause: this->x"],
    ]),
    ...words("function", [
        ["stringof", "as a string", "("],
        ["sizeof", "bytes of a type", "("],
    ]),
    ...words("keyword", [
        ["inline", "a named expression"],
        ["translator", "makes one type of another"],
        ["provider", "declares probes"],
        ["record", "the fields of an Erlang record"],
        ["xlate", "translates"],
        ["typedef", "names a type"],
        ["struct", ""],
        ["union", ""],
        ["enum", ""],
        ["if", ""],
        ["else", ""],
    ]),
    ...words("type", [
        ["int", ""],
        ["uint64_t", ""],
        ["int64_t", ""],
        ["uint32_t", ""],
        ["int32_t", ""],
        ["char", ""],
        ["long", ""],
        ["short", ""],
        ["unsigned", ""],
        ["string", ""],
        ["void", ""],
        ["const", ""],
        ["uintptr_t", ""],
    ]),
];

/** The probes that every script has, besides those of the node. */
export const COMMON_PROBES: [string, string][] = [
    ["BEGIN", "before all others"],
    ["END", "after all others"],
    ["ERROR", "a clause had a fault"],
    ["tick-1sec", "each second, once"],
    ["tick-100ms", "ten times a second"],
    ["profile-997", "what runs, 997 times a second"],
    ["wall-97", "what schedulers do that are not idle, running or asleep"],
];

const KIND = new Map(WORDS.map((w) => [w.label, w.kind]));
const TOKEN: Record<Word["kind"], string> = {
    aggregation: "labelName",
    function: "name.standard",
    variable: "atom",
    keyword: "keyword",
    type: "typeName",
    option: "meta",
};

/** Where a tokenizer is in a line: CodeMirror's StringStream, or Line. */
interface Source {
    pos: number;
    sol(): boolean;
    eatSpace(): boolean;
    match(pattern: string | RegExp, consume?: boolean): boolean | RegExpMatchArray | null;
    skipTo(c: string): unknown;
    skipToEnd(): void;
    // biome-ignore lint/suspicious/noConfusingVoidType: so it is in CodeMirror
    next(): string | undefined | void;
}

export interface State {
    comment: boolean;
    depth: number; // of braces: outside them probes are described
}

// In a probe description: words, colons, globs.
const DESCRIPTION = /^[\w*?[\]!.$-]*(:[\w*?[\]!.$/@+-]*)+/;

export function token(stream: Source, state: State): string | null {
    if (state.comment) {
        if (stream.skipTo("*/")) {
            stream.pos += 2;
            state.comment = false;
        } else stream.skipToEnd();
        return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.sol() && stream.match(/^#.*/)) return "meta";
    if (stream.match("/*")) {
        state.comment = true;
        return "comment";
    }
    if (stream.match("//")) {
        stream.skipToEnd();
        return "comment";
    }
    if (
        state.depth === 0 &&
        (stream.match(DESCRIPTION) || stream.match(/^(BEGIN|END|ERROR|(tick|profile|wall)-\w+)\b/))
    )
        return "tagName";
    if (stream.match(/^"(\\.|[^"\\])*"?/) || stream.match(/^'(\\.|[^'\\])+'?/)) return "string";
    if (stream.match(/^(0[xX][\da-fA-F]+|\d+\.\d+|\d+)([uUlL]+|[a-z]+)?/)) return "number";
    if (stream.match(/^@\w*/)) return "labelName";
    if (stream.match(/^\$\$?\w+/)) return "macroName";
    if (stream.match(/^arg\d\b/)) return "atom";
    if (stream.match(/^\.?#(?:\w+|'(?:\\.|[^'\\])+')/)) return "typeName"; // argv[0].#order
    if (stream.match(/^\.(?:[A-Za-z_]\w*|'(?:\\.|[^'\\])+')/)) return "propertyName";
    const name = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (name) {
        const kind = KIND.get(name[0]);
        if (kind === "aggregation" || kind === "function")
            return stream.match(/^\s*\(/, false) ? TOKEN[kind] : "variableName";
        return kind ? TOKEN[kind] : "variableName";
    }
    const c = stream.next();
    if (c === "{") state.depth++;
    else if (c === "}") state.depth = Math.max(0, state.depth - 1);
    return c && "{}()[];,".includes(c) ? "punctuation" : "operator";
}

class Line implements Source {
    pos = 0;
    constructor(readonly text: string) {}
    sol = () => this.pos === 0;
    eatSpace() {
        const from = this.pos;
        while (/\s/.test(this.text[this.pos] ?? "")) this.pos++;
        return this.pos > from;
    }
    match(pattern: string | RegExp, consume = true) {
        const rest = this.text.slice(this.pos);
        const found = typeof pattern === "string" ? (rest.startsWith(pattern) ? [pattern] : null) : pattern.exec(rest);
        if (!found || ("index" in found && found.index !== 0)) return null;
        if (consume) this.pos += found[0]!.length;
        return found as RegExpMatchArray;
    }
    skipTo(c: string) {
        const at = this.text.indexOf(c, this.pos);
        if (at >= 0) this.pos = at;
        return at >= 0;
    }
    skipToEnd() {
        this.pos = this.text.length;
    }
    next(): string | undefined {
        return this.text[this.pos++];
    }
}

export interface Token {
    from: number;
    to: number;
    /** The class of its colour; null: none of its own. */
    kind: string | null;
    /** Of the braces around it. */
    depth: number;
}

/** All of a text, in order; ends of lines are between tokens. */
export function tokens(text: string): Token[] {
    const out: Token[] = [];
    const state: State = { comment: false, depth: 0 };
    let start = 0;
    for (const line of text.split("\n")) {
        const stream = new Line(line);
        while (stream.pos < line.length) {
            const from = start + stream.pos;
            const kind = token(stream, state);
            out.push({ from, to: start + stream.pos, kind, depth: state.depth });
        }
        start += line.length + 1;
    }
    return out;
}
