// text.tsx - what a script prints: the console, and the records behind it as a table.
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { recordsCsv, traceJson } from "../model/export.ts";
import { exact } from "../model/format.ts";
import type { RecordRow, Trace } from "../model/trace.ts";
import { save } from "./canvas.tsx";
import { Menu, Pause, Rows, Search } from "./widgets.tsx";

/** Joins texts into lines: a text without a newline ends in the middle of a line. */
export function consoleLines(records: readonly RecordRow[]): string[] {
    const lines = records
        .map((r) => r.text)
        .join("")
        .split("\n");
    if (lines[lines.length - 1] === "") lines.pop();
    return lines;
}

function usePause(flip: () => void): void {
    useLayoutEffect(() => {
        addEventListener("erltrace:pause", flip);
        return () => removeEventListener("erltrace:pause", flip);
    });
}

export function Console({ trace }: { trace: Trace }) {
    const [search, setSearch] = useState("");
    const [held, setHeld] = useState<number | null>(null); // lines that are shown
    const version = trace.recordCount;
    const output = trace.stopped?.output ?? "";
    const all = useMemo(() => [...consoleLines(trace.records), ...(output.trim() ? output.replace(/\n$/, "").split("\n") : [])], [version, output]);
    const shown = useMemo(() => {
        const lines = held === null ? all : all.slice(0, held);
        const s = search.trim().toLowerCase();
        return s ? lines.filter((l) => l.toLowerCase().includes(s)) : lines;
    }, [all, held, search]);
    usePause(() => setHeld(held === null ? all.length : null));
    return (
        <div class="console">
            <div class="toolbar">
                <Search value={search} placeholder="search lines" onInput={setSearch} main />
                <span class="muted">
                    {exact(shown.length)} {shown.length === 1 ? "line" : "lines"}
                    {trace.recordsSkipped > 0 && `, ${exact(trace.recordsSkipped)} records left out`}
                </span>
                <span class="grow" />
                <Pause held={held !== null} over={trace.stopped !== null} onChange={(on) => setHeld(on ? all.length : null)} />
                <Menu
                    label="export"
                    items={[
                        ["text", () => save("erltrace.txt", all.join("\n") + "\n", "text/plain")],
                        ["JSON of everything", () => save("erltrace.json", traceJson(trace), "application/json")],
                    ]}
                />
            </div>
            <Rows label="output" role="log" rows={shown} height={19} class="console-rows" follow empty={search ? "no such line" : "nothing printed yet"} row={(l, i) => <div key={i} class="console-line">{l || "\u00a0"}</div>} />
        </div>
    );
}

export function Records({ trace }: { trace: Trace }) {
    const [search, setSearch] = useState("");
    const [held, setHeld] = useState<number | null>(null); // the last record shown
    const version = trace.recordCount;
    const shown = useMemo(() => {
        const s = search.trim().toLowerCase();
        const rows = held === null ? trace.records : trace.records.filter((r) => r.seq <= held);
        return s ? rows.filter((r) => `${r.probe} ${r.text} ${r.node}`.toLowerCase().includes(s)) : rows.slice();
    }, [version, held, search]);
    usePause(() => setHeld(held === null ? trace.recordCount : null));
    return (
        <div class="records">
            <div class="toolbar">
                <Search value={search} placeholder="search records" onInput={setSearch} main />
                <span class="muted">
                    {exact(shown.length)} of {exact(trace.recordCount)}
                    {trace.recordsSkipped > 0 && `, ${exact(trace.recordsSkipped)} left out`}
                </span>
                <span class="grow" />
                <Pause held={held !== null} over={trace.stopped !== null} onChange={(on) => setHeld(on ? trace.recordCount : null)} />
                <Menu
                    label="export"
                    items={[
                        ["CSV", () => save("erltrace-records.csv", recordsCsv(shown), "text/csv")],
                        ["JSON of everything", () => save("erltrace.json", traceJson(trace), "application/json")],
                    ]}
                />
            </div>
            <Rows
                label="records"
                rows={shown}
                height={22}
                class="records-rows"
                follow
                empty={search ? "no such record" : "no records yet"}
                head={
                    <div class="record-row head" role="row">
                        <span role="columnheader">time, s</span>
                        <span role="columnheader">CPU</span>
                        <span role="columnheader">probe</span>
                        <span role="columnheader">values</span>
                        <span role="columnheader">text</span>
                    </div>
                }
                row={(r) => (
                    <div class="record-row" role="row" key={r.seq} title={r.text}>
                        <span role="cell" class="num">{(r.at / 1000).toFixed(6)}</span>
                        <span role="cell" class="num">{r.cpu}</span>
                        <span role="cell" class="probe">{r.probe}</span>
                        <span role="cell" class="values">{r.values.map((v) => (Array.isArray(v) ? v.join(" ← ") : String(v))).join("  ")}</span>
                        <span role="cell" class="said">{r.text.trim().replace(/\s*\n\s*/g, " ⏎ ")}</span>
                    </div>
                )}
            />
        </div>
    );
}
