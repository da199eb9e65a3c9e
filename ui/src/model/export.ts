// export.ts - results as files: CSV for tables, JSON for everything.
import type { Bounds } from "./buckets.ts";
import type { Item } from "./list.ts";
import type { Line } from "./series.ts";
import { type Aggregation, ALL, type Column, keyText, type RecordRow, type Trace } from "./trace.ts";

// RFC 4180; a text that a spreadsheet would take for a formula is prefixed with an apostrophe.
function field(v: unknown): string {
    if (typeof v === "number") return Number.isFinite(v) ? String(v) : "";
    let s = String(v ?? "");
    if (/^[=+\-@\t\r]/.test(s) && Number.isNaN(Number(s))) s = `'${s}`;
    return /[",\n\r]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
}

export const csv = (rows: unknown[][]): string => rows.map((r) => `${r.map(field).join(",")}\r\n`).join("");

const time = (t: number): string => new Date(t).toISOString();

/** In one line what is shown of a trace: script, aggregation, node, times, and the keys if not all. */
export function about(
    trace: Trace,
    agg: Aggregation | null,
    columns: readonly Column[],
    filter: ReadonlySet<number> | null,
): string {
    const { name, args, node, t } = trace.info;
    const first = columns[0];
    const words = [
        [name, ...args, agg?.name ?? ""].filter(Boolean).join(" "),
        node,
        `${time(first ? first.t - first.dt : t)} to ${time(columns.at(-1)?.t ?? trace.t)}`,
        filter && agg ? `only ${[...filter].map((k) => keyText(agg.parts(k))).join("; ")}` : "",
    ];
    return words.filter(Boolean).join(", ").replace(/\s+/g, " ");
}

/** A table with a line above it that says what it shows. */
export const described = (about: string, table: string): string => `# ${about}\r\n${table}`;

/** A script for a narrow place: without comments and blanks, in at most `most` lines of `wide` characters. */
export function shortScript(script: string, wide: number, most: number): string[] {
    const text = script
        .replace(/^#!.*\n/, "")
        .replace(/\/\*[\s\S]*?\*\//g, " ")
        .replace(/^#pragma.*$/gm, " ")
        .replace(/\s+/g, " ")
        .trim();
    const lines: string[] = [];
    let rest = text;
    while (rest && lines.length < most) {
        let cut = rest.length <= wide ? rest.length : rest.lastIndexOf(" ", wide);
        if (cut < wide / 2) cut = wide;
        lines.push(rest.slice(0, cut));
        rest = rest.slice(cut).trim();
    }
    if (rest) lines[most - 1] = `${lines[most - 1]!.slice(0, wide - 2)} …`;
    return lines;
}

/** One line for each time, key and bucket; if there are lower bounds, also whether the key has some. filter: the keys that are written; null: all. */
export function heatCsv(agg: Aggregation, columns: readonly Column[], filter: ReadonlySet<number> | null): string {
    const least = agg.atLeast.size > 0;
    const rows: unknown[][] = [["time", "key", "from", "to", "count", ...(least ? ["at least"] : [])]];
    for (const c of columns) {
        const cells = c.cells.get(agg.id);
        if (!cells?.bucket) continue;
        const order = Array.from(cells.keys.keys())
            .filter((i) => !filter || filter.has(cells.keys[i]!))
            .sort((x, y) => cells.keys[x]! - cells.keys[y]! || cells.bucket![x]! - cells.bucket![y]!);
        for (const i of order) {
            const s: Bounds = agg.buckets!.bounds(cells.bucket[i]!)!;
            const key = cells.keys[i]!;
            const lower = key === ALL || agg.atLeast.has(key); // whose keys are not kept may be any
            rows.push([
                time(c.t),
                keyText(agg.parts(key)),
                s.from,
                s.to,
                cells.a[i],
                ...(least ? [String(lower)] : []),
            ]);
        }
    }
    return csv(rows);
}

/** The leaves of a list, one line each. */
export function listCsv(agg: Aggregation, root: Item): string {
    const least = agg.atLeast.size > 0; // some values are lower bounds
    const rows: unknown[][] = [
        [
            "key",
            agg.hist ? "count" : agg.fn,
            "per second",
            ...(agg.hist ? ["p50", "p99"] : []),
            ...(least ? ["at least"] : []),
        ],
    ];
    const visit = (item: Item, above: string[]): void => {
        const path = [...above, item.label];
        if (item.leaf)
            rows.push([
                path.join(", "),
                item.value,
                item.rate,
                ...(agg.hist ? [item.p50, item.p99] : []),
                ...(least ? [String(item.atLeast)] : []),
            ]);
        for (const c of item.children) visit(c, path);
    };
    for (const c of root.children) visit(c, []);
    return csv(rows);
}

export function seriesCsv(agg: Aggregation, columns: readonly Column[], lines: readonly Line[]): string {
    const rows: unknown[][] = [["time", ...lines.map((l) => (l.key === ALL ? "all" : keyText(agg.parts(l.key))))]];
    columns.forEach((c, i) => rows.push([time(c.t), ...lines.map((l) => l.values[i]!)]));
    return csv(rows);
}

export const recordsCsv = (trace: Trace, records: readonly RecordRow[]): string =>
    csv([
        ["time", "ms", "probe", "node", "cpu", "text", "values"],
        ...records.map((r) => [
            time(trace.info.t + r.at),
            r.at,
            r.probe,
            r.node,
            r.cpu,
            r.text,
            JSON.stringify(r.values),
        ]),
    ]);

function rangeOf(a: Aggregation, b: number): { from: number | null; to: number | null } | null {
    const s = a.buckets!.bounds(b);
    const closed = (n: number) => (Number.isFinite(n) ? n : null);
    return s && { from: closed(s.from), to: closed(s.to) };
}

/** Everything that is known of a trace, for other programs: with times, and buckets by their ranges. */
export function traceJson(t: Trace): string {
    const aggregations = [...t.aggregations.values()].map((a) => ({
        name: a.name,
        function: a.fn,
        normal: a.normal,
        buckets: a.buckets && Array.from({ length: a.buckets.count }, (_, b) => rangeOf(a, b)),
        keys: [...a.rows()].map(([key, value]) => ({
            key: a.parts(key),
            value: value instanceof Map ? null : a.shown(value),
            at_least: a.atLeast.has(key) || undefined,
            buckets:
                value instanceof Map
                    ? [...value]
                          .sort((x, y) => x[0] - y[0])
                          .map(([b, n]) => {
                              return { ...rangeOf(a, b), count: n };
                          })
                    : undefined,
        })),
        columns: t.columns.map((c) => {
            const cells = c.cells.get(a.id);
            return {
                time: time(c.t),
                t: c.t,
                dt: c.dt,
                added: cells
                    ? Array.from(cells.keys, (key, i) => [
                          keyText(a.parts(key)),
                          ...(cells.bucket ? [cells.bucket[i]] : []),
                          cells.a[i],
                          ...(cells.b ? [cells.b[i]] : []),
                      ])
                    : [],
            };
        }),
    }));
    const { node, name, script, args, options, t: began } = t.info;
    const records = t.records.map(({ at, seq: _, ...r }) => ({ time: time(began + at), ...r }));
    const notes = t.marking.notes.map((n) => ({ time: time(n.t), text: n.text }));
    return JSON.stringify(
        {
            node,
            name,
            script,
            args,
            options,
            began: time(began),
            until: time(t.t),
            stopped: t.stopped,
            aggregations,
            records,
            notes,
        },
        null,
        1,
    );
}
