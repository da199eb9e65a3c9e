// text.tsx - what a script prints: the console, and the records behind it as a table.
import { useMemo } from "preact/hooks";
import { app } from "../app.ts";
import { fileName } from "../keep.ts";
import { about, described, recordsCsv } from "../model/export.ts";
import { counted, exact } from "../model/format.ts";
import { thingsIn } from "../model/next.ts";
import type { RecordRow, Trace } from "../model/trace.ts";
import { save } from "./canvas.tsx";
import { Export } from "./export.tsx";
import { useSearch, useSpace } from "./looked.ts";
import { ask, NextButton } from "./next.tsx";
import { Pause, Rows, Search } from "./widgets.tsx";

/** Joins texts into lines: a text without a newline ends in the middle of a line. */
export function consoleLines(records: readonly RecordRow[]): string[] {
    const lines = records
        .map((r) => r.text)
        .join("")
        .split("\n");
    if (lines[lines.length - 1] === "") lines.pop();
    return lines;
}

/** The records of the time range that all views share, if there is one; Space holds. */
function useRecords(trace: Trace): { records: readonly RecordRow[]; held: boolean; pause: (on: boolean) => void } {
    const { look } = app;
    const { range } = look;
    const records = useMemo(() => {
        const at = (r: RecordRow) => trace.info.t + r.at;
        return range ? trace.records.filter((r) => at(r) > range.from && at(r) <= range.to) : trace.records;
    }, [trace.recordCount, range]);
    const pause = (on: boolean) => (on ? look.pause(trace) : look.resume());
    useSpace(() => pause(!range));
    return { records, held: range !== null, pause };
}

export function Console({ trace }: { trace: Trace }) {
    const [search, setSearch] = useSearch("console");
    const { records, held, pause } = useRecords(trace);
    const output = app.look.range ? "" : (trace.stopped?.output ?? ""); // what END prints, after all times
    const all = useMemo(
        () => [...consoleLines(records), ...(output.trim() ? output.replace(/\n$/, "").split("\n") : [])],
        [trace.recordCount, records, output],
    );
    const shown = useMemo(() => {
        const s = search.trim().toLowerCase();
        return s ? all.filter((l) => l.toLowerCase().includes(s)) : all;
    }, [all, search]);
    return (
        <div class="console">
            <div class="toolbar">
                <Search value={search} placeholder="search lines" onInput={setSearch} main />
                <span class="muted">
                    {counted(shown.length, "line")}
                    {trace.recordsSkipped > 0 && `, ${counted(trace.recordsSkipped, "record")} left out`}
                </span>
                <span class="grow" />
                <Pause held={held} over={trace.stopped !== null} onChange={pause} />
                <Export
                    trace={trace}
                    items={[["text", () => save(`${fileName("console")}.txt`, `${all.join("\n")}\n`, "text/plain")]]}
                />
            </div>
            <Rows
                label="output"
                role="log"
                rows={shown}
                height={19}
                class="console-rows"
                follow
                empty={search ? "no such line" : "nothing printed yet"}
                row={(l, i) => (
                    <div key={i} class="console-line" onContextMenu={(e) => ask(e, thingsIn(l))}>
                        {l || "\u00a0"}
                    </div>
                )}
            />
        </div>
    );
}

export function Records({ trace }: { trace: Trace }) {
    const [search, setSearch] = useSearch("records");
    const { records, held, pause } = useRecords(trace);
    const shown = useMemo(() => {
        const s = search.trim().toLowerCase();
        return s ? records.filter((r) => `${r.probe} ${r.text} ${r.node}`.toLowerCase().includes(s)) : records.slice();
    }, [trace.recordCount, records, search]);
    const table = () => {
        const only = search.trim() ? `, only what has "${search.trim()}"` : "";
        const text = described(`${about(trace, null, [], null)}${only}`, recordsCsv(trace, shown));
        save(`${fileName("records")}.csv`, text, "text/csv");
    };
    return (
        <div class="records">
            <div class="toolbar">
                <Search value={search} placeholder="search records" onInput={setSearch} main />
                <span class="muted">
                    {exact(shown.length)} of {exact(trace.recordCount)}
                    {trace.recordsSkipped > 0 && `, ${exact(trace.recordsSkipped)} left out`}
                </span>
                <span class="grow" />
                <Pause held={held} over={trace.stopped !== null} onChange={pause} />
                <Export trace={trace} items={[["CSV", table]]} />
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
                    <div
                        class="record-row"
                        role="row"
                        key={r.seq}
                        title={r.text}
                        onContextMenu={(e) => ask(e, thingsIn(r.text))}
                    >
                        <span role="cell" class="num">
                            {(r.at / 1000).toFixed(6)}
                        </span>
                        <span role="cell" class="num">
                            {r.cpu}
                        </span>
                        <span role="cell" class="probe">
                            {r.probe}
                        </span>
                        <span role="cell" class="values">
                            {r.values.map((v) => (Array.isArray(v) ? v.join(" ← ") : String(v))).join("  ")}
                        </span>
                        <span role="cell" class="said with-next">
                            <span class="label">{r.text.trim().replace(/\s*\n\s*/g, " ⏎ ")}</span>
                            <NextButton things={thingsIn(r.text)} />
                        </span>
                    </div>
                )}
            />
        </div>
    );
}
