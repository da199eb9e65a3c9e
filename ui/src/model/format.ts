// format.ts - numbers for people: counts, values with a unit, times, shares.

import { D_FUNCTIONS } from "./words.ts";

export type Unit = "" | "ns" | "us" | "ms" | "s" | "bytes" | "words";
export const UNITS: Unit[] = ["", "ns", "us", "ms", "s", "bytes", "words"];

/** Formats n with at most three significant digits below 1000, without a fraction from there on. */
function short(n: number): string {
    const a = Math.abs(n);
    if (a >= 100 || Number.isInteger(n)) return String(Math.round(n));
    return n.toFixed(a >= 10 ? 1 : 2).replace(/\.?0+$/, "");
}

/** A count, exact, with thin spaces between groups: 1 234 567. */
export function exact(n: number): string {
    if (!Number.isFinite(n)) return n > 0 ? "∞" : n < 0 ? "−∞" : "–";
    if (!Number.isInteger(n)) return short(n);
    const s = String(Math.abs(n)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
    return n < 0 ? `−${s}` : s;
}

/** A count with what is counted: "1 call", "2 calls", "3 processes". */
export const counted = (n: number, one: string, many = `${one}s`): string => `${exact(n)} ${n === 1 ? one : many}`;

/** A count for narrow places: 12.3k, 4.56M. */
export function compact(n: number): string {
    if (!Number.isFinite(n)) return n > 0 ? "∞" : n < 0 ? "−∞" : "–";
    const a = Math.abs(n);
    for (const [size, name] of [
        [1e15, "P"],
        [1e12, "T"],
        [1e9, "G"],
        [1e6, "M"],
        [1e4, "k"],
    ] as const)
        if (a >= size) {
            const unit = size === 1e4 ? 1e3 : size;
            return `${short(n / unit)}${name}`.replace("-", "−");
        }
    return short(n).replace("-", "−");
}

const TIME: [number, string][] = [
    [1e9 * 3600, "h"],
    [1e9 * 60, "min"],
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
];
const IN_NS: Partial<Record<Unit, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** A value in its unit: 1.02 ms, 4 KiB, 12.3k. */
export function value(n: number, unit: Unit): string {
    if (!Number.isFinite(n)) return compact(n);
    const scale = IN_NS[unit];
    if (scale !== undefined) {
        const ns = n * scale;
        for (const [size, name] of TIME)
            if (Math.abs(ns) >= size) return `${short(ns / size)} ${name}`.replace("-", "−");
        return ns === 0 ? "0" : `${short(ns)} ns`;
    }
    if (unit === "bytes") {
        for (const [size, name] of [
            [2 ** 40, "TiB"],
            [2 ** 30, "GiB"],
            [2 ** 20, "MiB"],
            [2 ** 10, "KiB"],
        ] as const)
            if (Math.abs(n) >= size) return `${short(n / size)} ${name}`.replace("-", "−");
        return `${short(n)} B`;
    }
    return compact(n);
}

/** A value for people that is a lower bound, if `is`: ≥4 009. */
export const atLeast = (text: string, is: boolean): string => (is && !text.startsWith("≥") ? `≥${text}` : text);

/** A range of integers for people: "1.02 – 2.05 µs", "5", "≥ 1 s". Bounds are inclusive. */
export function range(from: number, to: number, unit: Unit): string {
    if (from === to) return value(from, unit);
    if (to === Infinity) return `≥ ${value(from, unit)}`;
    if (from === -Infinity) return `< ${value(to + 1, unit)}`;
    return `${value(from, unit)} – ${value(to + 1, unit)}`;
}

export function percent(share: number): string {
    if (!Number.isFinite(share)) return "–";
    const p = share * 100;
    if (p !== 0 && Math.abs(p) < 0.1) return "<0.1 %";
    return `${p >= 99.95 ? "100" : p >= 10 ? p.toFixed(1) : p.toFixed(p >= 1 ? 1 : 2)} %`;
}

const two = (n: number) => String(n).padStart(2, "0");

/** The wall-clock time of seconds since the epoch. */
export function clock(seconds: number): string {
    const d = new Date(seconds * 1000);
    return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const day = (d: Date): string => `${d.getDate()} ${MONTHS[d.getMonth()]} ${d.getFullYear()}`;

/** A span of time, of ms since the epoch: "26 Nov 2026, 13:05:00 to 13:15:00". */
export function dates(from: number, to: number): string {
    const [a, b] = [day(new Date(from)), day(new Date(to))];
    return `${a}, ${clock(from / 1000)} to ${b === a ? "" : `${b}, `}${clock(to / 1000)}`;
}

/** The wall-clock time of ms since the epoch: with tenths of a second where columns, `width` ms wide, are narrower than one. */
export const moment = (t: number, width: number): string =>
    clock(t / 1000) + (width < 1000 ? `.${Math.floor((t % 1000) / 100)}` : "");

/** A duration: 0:07, 12:30, 1:02:03. */
export function duration(seconds: number): string {
    const s = Math.max(0, Math.floor(seconds));
    const h = Math.floor(s / 3600);
    const m = Math.floor(s / 60) % 60;
    return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

/** How long ago, for a state that lasts: "4 s", "2:05". */
export const ago = (ms: number): string => (ms < 60_000 ? `${Math.floor(ms / 1000)} s` : duration(ms / 1000));

/**
 * The likely unit of an aggregation's values: what its name or its keys say ("ns", "latency, us"), otherwise what the script passes to the
 * aggregating function: differences of timestamps are nanoseconds, unless divided.
 */
export function guessUnit(name: string, firstKey: string, script: string): Unit {
    const said = /(?:^|[^a-z])(ns|us|µs|ms|bytes|words)(?:$|[^a-z])/i.exec(`${name.replace(/_/g, " ")} ${firstKey}`);
    if (said) return said[1]!.toLowerCase().replace("µ", "u") as Unit;
    const bare = name.replace(/[^\w@]/g, "");
    const uses = new RegExp(
        `${bare}\\s*(?:\\[[^\\]]*\\])?\\s*=\\s*(?:${Object.keys(D_FUNCTIONS).join("|")})\\s*\\(([^;]*)`,
        "g",
    );
    for (const use of script.matchAll(uses)) {
        const what = use[1]!;
        if (!/timestamp|elapsed/.test(what)) continue;
        const by = /\/\s*(1000000000|1000000|1000)\b/.exec(what);
        return by ? ({ "1000": "us", "1000000": "ms", "1000000000": "s" } as Record<string, Unit>)[by[1]!]! : "ns";
    }
    return "";
}

/** The unit after a script has divided with normalize(): nanoseconds by a million are milliseconds. */
export function divided(unit: Unit, by: number): Unit {
    const times: Unit[] = ["ns", "us", "ms", "s"];
    const at = times.indexOf(unit);
    const steps = Math.log10(by) / 3;
    return at >= 0 && Number.isInteger(steps) ? (times[at + steps] ?? "") : by === 1 ? unit : "";
}
