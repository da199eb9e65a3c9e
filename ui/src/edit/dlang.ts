// dlang.ts - the words of D, and a stream parser that colours them. Colouring and completion share one table.
import { StreamLanguage, type StringStream } from "@codemirror/language";
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
    ...D_WORDS.map(([kind, label, detail, call, here]) => ({ label, kind, detail, ...(call === "" ? {} : { call }), ...(here ? {} : { elsewhere: true }) })),
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

interface State {
    comment: boolean;
    depth: number; // of braces: outside them probes are described
}

// In a probe description: words, colons, globs.
const DESCRIPTION = /^[\w*?[\]!.$-]*(:[\w*?[\]!.$/@+-]*)+/;

function token(stream: StringStream, state: State): string | null {
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
    if (state.depth === 0 && (stream.match(DESCRIPTION) || stream.match(/^(BEGIN|END|ERROR|(tick|profile)-\w+)\b/))) return "tagName";
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
        if (kind === "aggregation" || kind === "function") return stream.match(/^\s*\(/, false) ? TOKEN[kind] : "variableName";
        return kind ? TOKEN[kind] : "variableName";
    }
    const c = stream.next();
    if (c === "{") state.depth++;
    else if (c === "}") state.depth = Math.max(0, state.depth - 1);
    return c && "{}()[];,".includes(c) ? "punctuation" : "operator";
}

export const dLanguage = StreamLanguage.define<State>({
    name: "d",
    startState: () => ({ comment: false, depth: 0 }),
    token,
    languageData: {
        commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
        closeBrackets: { brackets: ["(", "[", "{", '"'] },
        indentOnInput: /^\s*[{}]$/,
    },
    indent(state, after, cx) {
        return (after.startsWith("}") ? state.depth - 1 : state.depth) * cx.unit;
    },
});
