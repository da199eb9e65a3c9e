// export.ts - results as files: CSV for tables, JSON for everything.
import type { Bounds } from "./buckets.ts";
import type { Item } from "./list.ts";
import type { Line } from "./series.ts";
import { ALL, keyText, type Aggregation, type Column, type RecordRow, type Trace } from "./trace.ts";

// RFC 4180; a text that a spreadsheet would take for a formula is prefixed with an apostrophe.
function field(v: unknown): string {
    if (typeof v === "number") return Number.isFinite(v) ? String(v) : "";
    let s = String(v ?? "");
    if (/^[=+\-@\t\r]/.test(s) && Number.isNaN(Number(s))) s = `'${s}`;
    return /[",\n\r]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
}

export const csv = (rows: unknown[][]): string => rows.map((r) => r.map(field).join(",") + "\r\n").join("");

const time = (t: number): string => new Date(t).toISOString();

/** One line for each cell: time, bucket, count, over all keys. */
export function heatCsv(agg: Aggregation, columns: readonly Column[]): string {
    const rows: unknown[][] = [["time", "from", "to", "count"]];
    for (const c of columns)
        for (const [b, n] of [...(c.merged.get(agg.id) ?? [])].sort((x, y) => x[0] - y[0])) {
            const s: Bounds = agg.buckets!.bounds(b)!;
            rows.push([time(c.t), s.from, s.to, n]);
        }
    return csv(rows);
}

/** The leaves of a list, one line each. */
export function listCsv(agg: Aggregation, root: Item): string {
    const rows: unknown[][] = [["key", agg.hist ? "count" : agg.fn, "per second", ...(agg.hist ? ["p50", "p99"] : [])]];
    const visit = (item: Item, above: string[]): void => {
        const path = [...above, item.label];
        if (item.leaf) rows.push([path.join(", "), item.value, item.rate, ...(agg.hist ? [item.p50, item.p99] : [])]);
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

export const recordsCsv = (records: readonly RecordRow[]): string =>
    csv([["ms", "probe", "node", "cpu", "text", "values"], ...records.map((r) => [r.at, r.probe, r.node, r.cpu, r.text, JSON.stringify(r.values)])]);

/** Everything that is known of a trace. */
export function traceJson(t: Trace): string {
    const aggregations = [...t.aggregations.values()].map((a) => ({
        name: a.name,
        function: a.fn,
        normal: a.normal,
        keys: [...a.rows()].map(([key, value]) => ({
            key: a.parts(key),
            value: value instanceof Map ? null : a.shown(value),
            buckets:
                value instanceof Map
                    ? [...value]
                          .sort((x, y) => x[0] - y[0])
                          .map(([b, n]) => {
                              const s = a.buckets!.bounds(b)!;
                              return { from: Number.isFinite(s.from) ? s.from : null, to: Number.isFinite(s.to) ? s.to : null, count: n };
                          })
                    : undefined,
        })),
        columns: t.columns.map((c) => {
            const cells = c.cells.get(a.id);
            return {
                t: c.t,
                dt: c.dt,
                added: cells ? Array.from(cells.keys, (key, i) => [keyText(a.parts(key)), ...(cells.bucket ? [cells.bucket[i]] : []), cells.a[i], ...(cells.b ? [cells.b[i]] : [])]) : [],
            };
        }),
    }));
    const { node, name, script, args, t: began } = t.info;
    return JSON.stringify({ node, name, script, args, began: time(began), stopped: t.stopped, aggregations, records: t.records }, null, 1);
}
