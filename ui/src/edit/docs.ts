// docs.ts - what a word of a script means: probes of the node, words of D, options, and the script's own names.
import { D_OPTIONS } from "../model/words.ts";
import type { ProbeItem } from "./lists.ts";
import { describedAt, isOf } from "./place.ts";
import { COMMON_PROBES, type Token, tokens, WORDS } from "./tokens.ts";

export interface Doc {
    from: number;
    to: number;
    title: string;
    lines: string[];
}

const type = (t: string): string => t.replace(/\s+$/, "");
const argument = (a: ProbeItem["args"][number], i: number): string => `arg${i}  ${type(a.type)} ${a.name}: ${a.text}`;

/** What a probe is, and its arguments, one a line. */
export const probeLines = (p: ProbeItem): string[] => [p.text, ...p.args.map(argument)];

function ofProbe(description: string, probes: ProbeItem[]): { title: string; lines: string[] } | null {
    const parts = description.split(":");
    const name = parts.pop() ?? "";
    const common = COMMON_PROBES.find(([label]) => label === name);
    const known = probes.find((p) => p.name === name && isOf(parts[0] ?? "", p.provider));
    if (known) return { title: name, lines: probeLines(known) };
    if (common) return { title: name, lines: [common[1]] };
    const every = /^(tick|profile|wall)-(\w+)$/.exec(name);
    if (every)
        return {
            title: name,
            lines: [
                every[1] === "tick"
                    ? `once in each ${every[2]}`
                    : every[1] === "profile"
                      ? `what runs, at the rate ${every[2]} of processor time`
                      : `what runs, waits for a processor or sleeps in the system, at the rate ${every[2]}`,
            ],
        };
    if (name === "") return { title: description, lines: ["every probe of what is described"] };
    return null;
}

/** The first statement that gives a name its value, or its declaration. */
function ownName(text: string, all: Token[], at: Token, whole: string): string[] {
    const code = all
        .filter((t) => t.kind !== "comment" && t.kind !== "string")
        .map((t) => ({ t, s: text.slice(t.from, t.to) }));
    const plain = whole.replace(/^(self|this)->|^@/, "");
    for (let i = 0; i < code.length; i++) {
        const { t, s } = code[i]!;
        if (s !== plain && s !== whole) continue;
        const scoped = /(self|this)\s*->\s*$/.exec(text.slice(0, t.from))?.[1];
        if ((scoped ?? "") !== (/^(self|this)->/.exec(whole)?.[1] ?? "") && t.kind !== "labelName") continue;
        const line = text.slice(0, t.from).split("\n").length;
        const statement = text
            .slice(text.slice(0, t.from).search(/[^;{}]*$/), t.from)
            .replace(/^\s*#.*$/gm, "")
            .trimStart()
            .concat(/^[^;{}]*/.exec(text.slice(t.from))![0].trimEnd());
        if (
            /^(\[[^\]]*\])?\s*(=(?!=)|\+\+|--|[-+*/%|&^]=)/.test(text.slice(t.to).trimStart()) ||
            /^(self|this|inline)?\s*(unsigned\s+)?(int|char|long|short|string|u?int\d+_t|void)\b/.test(statement)
        )
            return [t.from === at.from ? "first set here" : `line ${line}: ${statement}`];
    }
    return ["a name of this script"];
}

/** What is known of the word at an offset; null: nothing. */
export function docAt(text: string, pos: number, probes: ProbeItem[]): Doc | null {
    const all = tokens(text);
    const words = all.filter((x) => x.kind !== null && x.kind !== "punctuation" && x.kind !== "operator");
    const t = words.find((x) => x.from <= pos && pos < x.to) ?? words.find((x) => x.to === pos);
    if (!t) return null;
    const word = text.slice(t.from, t.to);
    const doc = (title: string, lines: string[]): Doc => ({ from: t.from, to: t.to, title, lines });
    if (t.kind === "tagName") {
        const about = ofProbe(word, probes);
        return about ? doc(about.title, about.lines) : null;
    }
    if (t.kind === "meta") {
        const name = /option\s+(\w+)/.exec(word)?.[1];
        const option = D_OPTIONS.find(([label]) => label.replace(/=.*/, "") === name);
        if (!option) return null;
        const standard = /=(.+)/.exec(option[0])?.[1];
        return doc(name!, [option[1], ...(standard ? [`standard: ${standard}`] : [])]);
    }
    if (t.kind === "macroName")
        return doc(word, [/^\$\$?\d+$/.test(word) ? "an argument of the script, from its field above" : "a macro"]);
    const arg = /^arg(\d)$/.exec(word);
    if (arg) {
        const [provider, name] = describedAt(text.slice(0, t.from)) ?? ["", ""];
        const probe = probes.find((p) => p.name === name && isOf(provider, p.provider));
        const a = probe?.args[Number(arg[1])];
        return doc(word, [a ? `${type(a.type)} ${a.name}: ${a.text}` : "an argument of the probe"]);
    }
    const known = WORDS.find((w) => w.label === word && w.detail !== "");
    if (known && t.kind !== "variableName" && t.kind !== "propertyName")
        return doc(known.call ? `${word}()` : word, [
            known.detail,
            ...(known.elsewhere ? ["nodes do not have it"] : []),
        ]);
    if (t.kind === "labelName" || t.kind === "variableName") {
        const scope = /(self|this)\s*->\s*$/.exec(text.slice(0, t.from))?.[1];
        const whole = scope ? `${scope}->${word}` : word;
        return doc(whole, ownName(text, all, t, whole));
    }
    return null;
}
