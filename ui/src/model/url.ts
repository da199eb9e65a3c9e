// url.ts - what is in the address: script and view. It follows the #, so that it never reaches a server or its logs.
//
// An unchanged ready-made script is there by its name, any other script as base64url of its text. Only what differs from the default is
// written. An address sets up the page; it never starts anything.
import type { ScaleKind } from "./colour.ts";
import { FLAME_MODES, type FlameMode } from "./flame.ts";
import { UNITS, type Unit } from "./format.ts";
import type { YScale } from "./heat.ts";
import { COLUMNS } from "./heattime.ts";
import { SORT_BY, type SortBy } from "./list.ts";
import { NO_PLACE, type Place } from "./look.ts";
import type { Measure } from "./series.ts";

export const VIEWS = ["heatmap", "list", "series", "flame", "console", "records"] as const;
export type ViewName = (typeof VIEWS)[number];

/** How results are shown. */
export interface View {
    view: ViewName | ""; // "": whichever suits
    agg: string; // by name; "": the first that suits
    unit: Unit | "auto";
    y: YScale;
    scale: ScaleKind;
    percentiles: number[];
    measure: Measure;
    nested: boolean;
    reverse: boolean; // flame graph: from the innermost frames
    icicle: boolean; // flame graph: root at the top
    stacked: boolean; // time series
    total: boolean; // time series: with the line over all keys
    flame: FlameMode;
    zoom: string[]; // flame graph: the names of the frames from the root to the zoomed one
    /** What is searched for, by view. */
    search: Partial<Record<ViewName, string>>;
    sort: { by: SortBy; down: boolean }; // list
    fn: string; // flame graph: the function whose callers are shown; "": the first
    apart: boolean; // several nodes: the node is a part of keys
    small: boolean; // several nodes: a heat map for each
    hue: boolean; // heat map: a hue per key
    column: number; // heat map: the width of a column, ms; 0: as readings come
}

export const DEFAULT_VIEW: View = {
    view: "",
    agg: "",
    unit: "auto",
    y: "log",
    scale: "log",
    percentiles: [50],
    measure: "rate",
    nested: true,
    reverse: false,
    icicle: false,
    stacked: false,
    total: false,
    flame: "heavy",
    zoom: [],
    fn: "",
    apart: true,
    small: true,
    search: {},
    sort: { by: "value", down: true },
    hue: false,
    column: 0,
};

/** The most nodes that are traced at once. */
export const MOST_NODES = 16;

export interface Address {
    node: string | null;
    also?: string[]; // nodes besides it
    name: string; // of a ready-made script, or the name that the user gave
    script: string | null; // null: the ready-made one's
    args: string[];
    options?: Record<string, string>; // of the run
    view: View;
    look?: Place;
}

const sortText = (s: View["sort"]): string => `${s.down ? "-" : ""}${s.by}`;
const SORTS = SORT_BY.flatMap((by) => [true, false].map((down) => ({ by, down })));

export { NO_PLACE } from "./look.ts";

const DEEPEST = 1000; // frames
const FLAGS = ["nested", "reverse", "icicle", "stacked", "total", "apart", "small", "hue"] as const;
const MOST_KEYS = 100;
/** How much the views can show while they show the latest, ms. */
export const WIDTHS = [10_000, 30_000, 60_000, 120_000, 300_000, 600_000];

const encode = (s: string): string =>
    btoa(String.fromCharCode(...new TextEncoder().encode(s)))
        .replace(/\+/g, "-")
        .replace(/\//g, "_")
        .replace(/=+$/, "");
function decode(s: string): string | null {
    try {
        const bytes = Uint8Array.from(atob(s.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
        return null;
    }
}

/** The part after the #. */
export function write(a: Address): string {
    const p = new URLSearchParams();
    if (a.node !== null) for (const node of [a.node, ...(a.also ?? [])]) p.append("node", node);
    if (a.name) p.set("name", a.name);
    if (a.script !== null) p.set("script", encode(a.script));
    for (const arg of a.args) p.append("arg", arg);
    for (const [name, value] of Object.entries(a.options ?? {})) p.append("opt", `${name}=${value}`);
    const v = a.view;
    const d = DEFAULT_VIEW;
    if (v.view) p.set("view", v.view);
    if (v.agg) p.set("agg", v.agg);
    for (const k of ["unit", "y", "scale", "measure", "flame", "fn"] as const) if (v[k] !== d[k]) p.set(k, v[k]);
    for (const k of FLAGS) if (v[k] !== d[k]) p.set(k, v[k] ? "1" : "0");
    for (const view of VIEWS) if (v.search[view]) p.set(`q-${view}`, v.search[view]);
    const sort = sortText(v.sort);
    if (sort !== sortText(d.sort)) p.set("sort", sort);
    for (const name of v.zoom) p.append("zoom", name);
    const { range, width, keys, zoom } = a.look ?? NO_PLACE;
    if (range) p.set("time", `${Math.round(range.from)}-${Math.round(range.to)}`);
    if (width !== NO_PLACE.width) p.set("width", String(width));
    for (const key of keys) p.append("key", key);
    if (zoom) p.set("values", `${zoom.from}:${zoom.to}`);
    if (v.column !== d.column) p.set("column", String(v.column));
    if (v.percentiles.join() !== d.percentiles.join()) p.set("p", v.percentiles.join(","));
    return p.toString();
}

function options(all: string[]): { options?: Record<string, string> } {
    const found = all.slice(0, 32).flatMap((o) => {
        const m = /^(\w+)=(\w+)$/.exec(o);
        return m ? [[m[1]!, m[2]!] as const] : [];
    });
    return found.length > 0 ? { options: Object.fromEntries(found) } : {};
}

/** Reads what write() has written; parts that make no sense are ignored. */
export function read(hash: string): Address & { look: Place } {
    const p = new URLSearchParams(hash.replace(/^#/, ""));
    const one = <T extends string>(k: string, of: readonly T[], otherwise: T): T => {
        const v = p.get(k) as T;
        return of.includes(v) ? v : otherwise;
    };
    const flag = (k: (typeof FLAGS)[number]) => (p.has(k) ? p.get(k) === "1" : DEFAULT_VIEW[k]);
    const pair = (k: string, sep: string) => {
        const [from, to] = (p.get(k) ?? "").split(sep).map(Number);
        return from !== undefined && to !== undefined && from <= to ? { from, to } : null;
    };
    const d = DEFAULT_VIEW;
    const script = p.get("script");
    const also = p.getAll("node").slice(1, MOST_NODES);
    return {
        node: p.get("node"),
        ...(also.length > 0 ? { also } : {}),
        name: p.get("name") ?? "",
        script: script === null ? null : decode(script),
        args: p.getAll("arg").slice(0, 32),
        ...options(p.getAll("opt")),
        view: {
            view: one<ViewName | "">("view", ["", ...VIEWS], ""),
            agg: p.get("agg") ?? "",
            unit: one<Unit | "auto">("unit", ["auto", ...UNITS], d.unit),
            y: one<YScale>("y", ["log", "linear"], d.y),
            scale: one<ScaleKind>("scale", ["log", "rank", "linear"], d.scale),
            measure: one<Measure>("measure", ["rate", "p50", "p90", "p99"], d.measure),
            nested: flag("nested"),
            reverse: flag("reverse"),
            icicle: flag("icicle"),
            stacked: flag("stacked"),
            total: flag("total"),
            flame: one<FlameMode>("flame", FLAME_MODES, d.flame),
            zoom: p.getAll("zoom").slice(0, DEEPEST),
            fn: p.get("fn") ?? "",
            apart: flag("apart"),
            small: flag("small"),
            search: Object.fromEntries(
                VIEWS.map((view) => [view, p.get(`q-${view}`) ?? ""]).filter(([, text]) => text),
            ),
            sort: SORTS.find((s) => sortText(s) === p.get("sort")) ?? d.sort,
            hue: flag("hue"),
            column: COLUMNS.find((w) => String(w) === p.get("column")) ?? d.column,
            percentiles: p.has("p")
                ? p
                      .get("p")!
                      .split(",")
                      .map(Number)
                      .filter((q) => q > 0 && q < 100)
                      .slice(0, 5)
                : d.percentiles,
        },
        look: {
            range: pair("time", "-"),
            width: WIDTHS.includes(Number(p.get("width"))) ? Number(p.get("width")) : NO_PLACE.width,
            keys: p.getAll("key").slice(0, MOST_KEYS),
            zoom: pair("values", ":"),
        },
    };
}
