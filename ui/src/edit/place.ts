// place.ts - positions in a D text: what can be completed there, and the places that diagnostics name.

export type Place =
    | { kind: "provider"; from: number; text: string } // before any colon
    | { kind: "module"; from: number; text: string; provider: string }
    | { kind: "function"; from: number; text: string; provider: string; module: string }
    | { kind: "name"; from: number; text: string; provider: string; module: string; func: string }
    | { kind: "option"; from: number; text: string }
    | { kind: "member"; from: number; text: string; of: string } // self-> this->
    | { kind: "record"; from: number; text: string } // x.#
    | { kind: "field"; from: number; text: string; of: string } // x.#order.
    | { kind: "aggregation"; from: number; text: string }
    | { kind: "word"; from: number; text: string; probe: string | null; provider: string } // of that probe
    | null;

/** Blanks comments and strings, so that the rest can be searched by characters; lengths stay. */
export function bare(text: string): string {
    return text.replace(/\/\*[\s\S]*?(\*\/|$)|\/\/[^\n]*|"(\\.|[^"\\\n])*"?/g, (m) => m.replace(/[^\n]/g, " "));
}

/** What comes before `pos`. */
export function placeOf(text: string, pos: number): Place {
    const before = bare(text.slice(0, pos));
    if (
        /["]|\/\*|\/\//.test(text.slice(0, pos)) &&
        before.length > 0 &&
        before[before.length - 1] === " " &&
        text[pos - 1] !== " "
    )
        return null; // in a comment or string
    const lineStart = before.lastIndexOf("\n") + 1;
    const line = before.slice(lineStart);
    const pragma = /^\s*#pragma\s+D\s+option\s+(\S*)$/.exec(line);
    if (pragma) return { kind: "option", from: pos - pragma[1]!.length, text: pragma[1]! };
    if (/^\s*#/.test(line)) return null;

    let depth = 0;
    for (const c of before) depth += c === "{" ? 1 : c === "}" ? -1 : 0;
    const clauseStart =
        Math.max(before.lastIndexOf("}"), before.lastIndexOf(";", depth > 0 ? before.lastIndexOf("{") : undefined)) + 1;
    if (depth <= 0) {
        const head = before.slice(clauseStart);
        // a predicate begins with a slash that stands alone after a description
        const predicate = /(^|[\s,])\/(?![\w])|\n\s*\//.test(head);
        const word = /[\w*?[\]!.$:/@+-]*$/.exec(before)![0];
        if (
            !predicate &&
            !/^\s*(inline|typedef|struct|union|enum|translator|provider|record|string|int|self|this)\b/.test(head)
        ) {
            const parts = word.split(":");
            const last = parts[parts.length - 1]!;
            const from = pos - last.length;
            const [provider = "", module = "", func = ""] = parts;
            switch (parts.length) {
                case 1:
                    return { kind: "provider", from, text: last };
                case 2:
                    return { kind: "module", from, text: last, provider };
                case 3:
                    return { kind: "function", from, text: last, provider, module };
                case 4:
                    return { kind: "name", from, text: last, provider, module, func };
                default:
                    return null;
            }
        }
    }
    const member = /\b(self|this)\s*->\s*(\w*)$/.exec(before);
    if (member) return { kind: "member", from: pos - member[2]!.length, text: member[2]!, of: member[1]! };
    const field = /#(\w+|'[^'\n]*')\.(\w*)$/.exec(before);
    if (field) return { kind: "field", from: pos - field[2]!.length, text: field[2]!, of: field[1]! };
    const record = /[\w\]).]#(\w*)$/.exec(before);
    if (record) return { kind: "record", from: pos - record[1]!.length, text: record[1]! };
    if (/[\w\])]\.\w*$/.test(before) && !/\b\d+\.\w*$/.test(before)) return null; // a key of a map, a member
    const agg = /@\w*$/.exec(before);
    if (agg) return { kind: "aggregation", from: pos - agg[0].length, text: agg[0] };
    const word = /\w*$/.exec(before)![0];
    if (/^\d/.test(word)) return null;
    const [provider, probe] = describedAt(before) ?? ["", null];
    return { kind: "word", from: pos - word.length, text: word, probe, provider };
}

/** Provider and name of the (last) probe of the clause at the end of this text, which has no comments or strings. */
export function describedAt(before: string): [string, string] | null {
    const open = before.lastIndexOf("{");
    const head = open >= 0 && before.indexOf("}", open) < 0 ? before.slice(0, open) : before;
    const all = [
        ...head
            .slice(head.lastIndexOf("}") + 1)
            .matchAll(
                /([\w*?.$-]*):[\w*?.$/-]*:[\w*?.$/-]*:([\w-]+)|(?:^|[\s,;])(BEGIN|END|(?:tick|profile|wall)-\w+)/g,
            ),
    ];
    const last = all[all.length - 1];
    return last ? [last[1] ?? "", (last[2] ?? last[3])!] : null;
}

/** The name alone. */
export const probeAt = (before: string): string | null => describedAt(before)?.[1] ?? null;

/** Whether what a description calls its provider is this one: erlang* is erlang. */
export const isOf = (described: string, provider: string): boolean =>
    described === "" || described.replace(/[*$\d].*$/, "") === provider;

/** Names of the members of self or this, or of aggregations, that a text uses. */
export function names(text: string, of: "self" | "this" | "@"): string[] {
    const found =
        of === "@" ? bare(text).matchAll(/@(\w+)/g) : bare(text).matchAll(new RegExp(`\\b${of}\\s*->\\s*(\\w+)`, "g"));
    return [...new Set([...found].map((m) => m[1]!))].sort();
}

/** The records that a text defines, by name, and their fields. */
export function records(text: string): Map<string, string[]> {
    const found = bare(text).matchAll(/\brecord\s+(\w+|'[^'\n]*')\s*\{([^{}]*)\}/g);
    return new Map(
        [...found].map((m) => [
            m[1]!,
            m[2]!
                .split(",")
                .map((f) => f.trim())
                .filter((f) => f !== ""),
        ]),
    );
}

/**
 * The range that a diagnostic marks, as offsets: line and column count from 1, column and length are in bytes of UTF-8. Marks at least one
 * character, also after the end of a line; null if there is no such place.
 */
export function span(text: string, line: number, column: number, length: number): { from: number; to: number } | null {
    if (line < 1) return null;
    let start = 0;
    for (let i = 1; i < line; i++) {
        const nl = text.indexOf("\n", start);
        if (nl < 0) return { from: Math.max(0, text.length - 1), to: text.length };
        start = nl + 1;
    }
    const nl = text.indexOf("\n", start);
    const source = text.slice(start, nl < 0 ? text.length : nl);
    const chars = (bytes: number) => {
        let n = 0;
        let at = 0;
        for (const c of source) {
            if (n >= bytes) break;
            const p = c.codePointAt(0)!;
            n += p < 0x80 ? 1 : p < 0x800 ? 2 : p < 0x10000 ? 3 : 4;
            at += c.length;
        }
        return at;
    };
    let from = start + chars(Math.max(0, column - 1));
    let to = start + chars(Math.max(0, column - 1) + Math.max(1, length));
    if (to <= from) {
        to = Math.min(text.length, from + 1);
        if (to === from) from = Math.max(start, from - 1);
    }
    return { from, to };
}
