// url.ts - what is in the address: script and view. It follows the #, so that it never reaches a server or its logs.
//
// An unchanged ready-made script is there by its name, any other script as base64url of its text. Only what differs from the default is
// written. An address sets up the page; it never starts anything.
import type { ScaleKind } from "./colour.ts";
import { UNITS, type Unit } from "./format.ts";
import type { YScale } from "./heat.ts";
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
};

export interface Address {
    node: string | null;
    name: string; // of a ready-made script, or the name that the user gave
    script: string | null; // null: the ready-made one's
    args: string[];
    view: View;
}

const encode = (s: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(s))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
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
    if (a.node !== null) p.set("node", a.node);
    if (a.name) p.set("name", a.name);
    if (a.script !== null) p.set("script", encode(a.script));
    for (const arg of a.args) p.append("arg", arg);
    const v = a.view;
    const d = DEFAULT_VIEW;
    if (v.view) p.set("view", v.view);
    if (v.agg) p.set("agg", v.agg);
    for (const k of ["unit", "y", "scale", "measure"] as const) if (v[k] !== d[k]) p.set(k, v[k]);
    for (const k of ["nested", "reverse", "icicle", "stacked"] as const) if (v[k] !== d[k]) p.set(k, v[k] ? "1" : "0");
    if (v.percentiles.join() !== d.percentiles.join()) p.set("p", v.percentiles.join(","));
    return p.toString();
}

/** Reads what write() has written; parts that make no sense are ignored. */
export function read(hash: string): Address {
    const p = new URLSearchParams(hash.replace(/^#/, ""));
    const one = <T extends string>(k: string, of: readonly T[], otherwise: T): T => {
        const v = p.get(k) as T;
        return of.includes(v) ? v : otherwise;
    };
    const flag = (k: "nested" | "reverse" | "icicle" | "stacked") => (p.has(k) ? p.get(k) === "1" : DEFAULT_VIEW[k]);
    const d = DEFAULT_VIEW;
    const script = p.get("script");
    return {
        node: p.get("node"),
        name: p.get("name") ?? "",
        script: script === null ? null : decode(script),
        args: p.getAll("arg").slice(0, 32),
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
            percentiles: p.has("p") ? p.get("p")!.split(",").map(Number).filter((q) => q > 0 && q < 100).slice(0, 5) : d.percentiles,
        },
    };
}
