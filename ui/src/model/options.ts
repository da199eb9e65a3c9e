// options.ts - the options that the page offers as fields: what they are for in its own words, and which values the server will take.
import { D_OPTIONS } from "./words.ts";

export interface OptionField {
    name: string;
    label: string;
    /** What it does, as the manual says. */
    text: string;
    type: string;
    standard: string;
    least: string;
    most: string;
}

/** In the order of the fields; the bounds of `aggrate` are those of the page's server. */
const FIELDS: [string, string, { least?: string; most?: string; standard?: string }?][] = [
    ["aggrate", "column width", { least: "100ms", most: "60s", standard: "1s" }],
    ["maxload", "most load, % of a scheduler"],
    ["eventbudget", "work per event"],
    ["bufsize", "buffer of records, bytes"],
    ["aggsize", "memory of aggregations, bytes"],
    ["dynvarsize", "memory of variables, bytes"],
    ["strsize", "length of strings"],
    ["longgc", "long collection from"],
    ["longschedule", "long run from"],
    ["longqueue", "long queue from, messages"],
    ["pollrate", "time between polls", { least: "10ms" }],
];

export const OPTION_FIELDS: OptionField[] = FIELDS.flatMap(([name, label, own]) => {
    const row = D_OPTIONS.find(([l]) => l.replace(/=.*/, "") === name);
    if (!row) return [];
    const [head, text, type, least, most] = row;
    return [{ name, label, text, type, standard: head.slice(name.length + 1), least, most, ...own }];
});

/** How long a trace runs before the page stops it: an option of the page, not of the language. */
export const FOR = "for";

const UNITS: Record<string, number> = {
    ns: 1,
    us: 1e3,
    ms: 1e6,
    s: 1e9,
    sec: 1e9,
    m: 6e10,
    min: 6e10,
    h: 3.6e12,
    d: 8.64e13,
};

/** A time or a rate in nanoseconds; null: it is neither. */
export function nanoseconds(text: string): number | null {
    const m = /^(\d+)\s*(ns|us|ms|s|sec|m|min|h|d|hz)?$/i.exec(text.trim());
    if (!m) return null;
    const unit = (m[2] ?? "hz").toLowerCase();
    const n = Number(m[1]);
    if (unit === "hz") return n > 0 ? 1e9 / n : 0;
    return n * UNITS[unit]!;
}

function size(text: string): number | null {
    const m = /^(\d+)([kmgt]?)$/i.exec(text.trim());
    return m ? Number(m[1]) * 1024 ** " kmgt".indexOf((m[2] || " ").toLowerCase()) : null;
}

/** A value as a number of its unit; null: it is none. */
function amount(type: string, text: string): number | null {
    if (type === "rate") return nanoseconds(text);
    if (type === "percent") return text === "off" ? 0 : /^\d+$/.test(text) ? Number(text) : null;
    return size(text);
}

const FORMS: Record<string, string> = {
    rate: "a time with its unit: 100ms, 1s",
    percent: "a number up to 100, or off",
};

/** What is wrong with a value; "": nothing. An empty field is the standard. */
export function wrong(f: OptionField, text: string): string {
    if (text === "") return "";
    const v = amount(f.type, text);
    if (v === null) return FORMS[f.type] ?? "a number, or one with k, m, g";
    const bound = (t: string) => (t === "" ? null : amount(f.type, t));
    const least = bound(f.least);
    const most = bound(f.most);
    if (least !== null && v < least && !(f.type === "percent" && text === "off")) return `at least ${f.least}`;
    if (most !== null && v > most) return `at most ${f.most}`;
    return "";
}

/** A size in the largest unit in which it is whole. */
export function sizeText(n: number): string {
    let i = 0;
    while (i < 3 && n >= 1024 && n % 1024 === 0) {
        n /= 1024;
        i++;
    }
    return `${n}${["", "k", "m", "g"][i]}`;
}

/** Where a script sets an option itself, which then counts. */
const pragma = (name: string) => new RegExp(`^(\\s*#pragma\\s+D\\s+option\\s+${name}=)(\\S+)`, "m");

/** The value that counts: the script's own, else the field's, else the standard. */
export function inForce(name: string, script: string, options: Record<string, string>): string {
    const standard = D_OPTIONS.find(([l]) => l.replace(/=.*/, "") === name)?.[0].slice(name.length + 1) ?? "";
    return pragma(name).exec(script)?.[2] ?? options[name] ?? standard;
}

/** Script and options with the size `name` multiplied; null: it is at its limit, or no size. */
export function raised(
    name: string,
    by: number,
    script: string,
    options: Record<string, string>,
): { value: string; script: string; options: Record<string, string> } | null {
    const row = D_OPTIONS.find(([l]) => l.replace(/=.*/, "") === name);
    const now = amount(row?.[2] ?? "size", inForce(name, script, options));
    if (!row || now === null || now <= 0) return null;
    const most = row[4] === "" ? Number.POSITIVE_INFINITY : amount(row[2], row[4])!;
    const next = Math.min(now * by, most);
    if (next <= now) return null;
    const value = row[2] === "percent" ? String(next) : sizeText(next);
    const own = pragma(name);
    return own.test(script)
        ? { value, script: script.replace(own, `$1${value}`), options }
        : { value, script, options: { ...options, [name]: value } };
}
