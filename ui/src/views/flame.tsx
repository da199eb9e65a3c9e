// flame.tsx - flame graphs of an aggregation: merged, in the order of time, or around one function. model/flame.ts makes the trees.
import { useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { fileName } from "../keep.ts";
import { about } from "../model/export.ts";
import {
    around,
    type FlameMode,
    type FunctionRow,
    find,
    flame,
    folded,
    functionsOf,
    matched,
    pathOf,
    type Stacks,
    stacksOf,
    timeline,
} from "../model/flame.ts";
import { clock, exact, percent, value } from "../model/format.ts";
import { isAmount } from "../model/functions.ts";
import { thingsOf } from "../model/next.ts";
import { pprof, samplesOf, speedscope, unitName } from "../model/profile.ts";
import { valuesIn } from "../model/range.ts";
import { gzip } from "../model/saved.ts";
import type { Aggregation, Trace } from "../model/trace.ts";
import { save } from "./canvas.tsx";
import { Export } from "./export.tsx";
import { type Drawn, FlameGraph, thingsOfFrame } from "./flamegraph.tsx";
import { useLooked, useSearch } from "./looked.ts";
import { ask, NextButton } from "./next.tsx";
import { pictures } from "./sheet.ts";
import { Middle, Pause, Rows, Search, Segments, SortHead, Splitter, Toggle } from "./widgets.tsx";
import "../style/flame.css";

/** What a search finds: a regular expression or, while it is none, a text. */
function finder(search: string): ((name: string) => boolean) | null {
    const s = search.trim();
    if (!s) return null;
    try {
        const re = new RegExp(s, "i");
        return (n) => re.test(n);
    } catch {
        return (n) => n.toLowerCase().includes(s.toLowerCase());
    }
}

export function Flame({ trace, agg }: { trace: Trace; agg: Aggregation }) {
    const [search, setSearch] = useSearch("flame");
    const { columns, stamp, keys, rows, held, pause } = useLooked(trace, agg);
    const { reverse, icicle, flame: mode, zoom } = app.view;
    const stacks = useMemo(() => stacksOf(agg, rows()), [stamp, keys, agg]);
    const root = useMemo(() => {
        if (mode === "sandwich") return null;
        if (mode === "heavy") return flame(stacks, reverse);
        return timeline(
            columns.map((c) => ({ name: clock(c.t / 1000), stacks: stacksOf(agg, valuesIn(agg, [c], keys)) })),
            reverse,
        );
    }, [stacks, reverse, mode]);
    const test = useMemo(() => finder(search), [search]);
    const unit = app.unitOf(agg);
    const whole = useMemo(() => (root ? root.value : stacks.reduce((sum, [, n]) => sum + n, 0)), [root, stacks]);
    const found = useMemo(() => {
        if (!test) return null;
        return matched(root ?? flame(stacks, false), test);
    }, [root, stacks, test]);
    const text = (n: number) => (isAmount(agg.fn) && unit ? value(n, unit) : exact(n));
    const stacked = agg.keyTypes.includes("stack") || stacks.some(([f]) => f.length > agg.keyTypes.length);
    const zoomed = root ? (find(root, zoom) ?? root) : null;
    const setZoom = (zoom: string[]) => app.setView({ zoom });
    const drawn = useRef<Drawn>(null);
    const sheet = () => ({ trace, agg, columns, filter: keys, ...drawn.current! });
    const profile = () => ({
        title: agg.name === "@" ? "samples" : agg.name,
        unit: unitName(agg, unit),
        samples: samplesOf(agg, rows()),
        began: trace.info.t,
        ms: trace.t - trace.info.t,
        about: about(trace, agg, columns, keys),
        version: trace.origin?.erltrace ?? app.version,
    });
    const name = fileName(agg.name);
    const savePprof = async () => {
        const made = pprof(profile()) as BlobPart;
        const packed = (await gzip([made])) as BlobPart[] | null;
        save(`${name}.pb${packed ? ".gz" : ""}`, new Blob(packed ?? [made]), "application/octet-stream");
    };
    return (
        <div class="flame">
            <div class="toolbar">
                <Search value={search} placeholder="search frames (regular expression)" onInput={setSearch} main />
                {found !== null && (
                    <span class="matched" data-testid="matched" title={text(found)}>
                        {percent(found / Math.max(1, whole))} matched
                    </span>
                )}
                <Segments<FlameMode>
                    label="order"
                    value={mode}
                    options={[
                        ["heavy", "left heavy", "stacks merged, the heaviest at the left"],
                        ["time", "by time", "a column of the trace after the other, each with its stacks"],
                        ["sandwich", "sandwich", "the functions as a table; who calls one, and what it calls"],
                    ]}
                    onChange={(flame) => app.setView({ flame, zoom: [] })}
                />
                {root && (
                    <Segments
                        label="merge"
                        value={reverse ? "leaf" : "root"}
                        options={[
                            ["root", "from the root", "who calls what"],
                            ["leaf", "inverted", "from the innermost frame: what calls it"],
                        ]}
                        onChange={(v) => app.setView({ reverse: v === "leaf", zoom: [] })}
                    />
                )}
                {root && (
                    <Toggle on={icicle} title="the root at the top" onChange={(icicle) => app.setView({ icicle })}>
                        icicle
                    </Toggle>
                )}
                {root && zoom.length > 0 && (
                    <button type="button" onClick={() => setZoom([])} title="the whole graph (Esc)">
                        reset zoom
                    </button>
                )}
                <span class="grow" />
                <Pause held={held} over={trace.stopped !== null} onChange={pause} />
                <Export
                    trace={trace}
                    items={[
                        ...(root ? pictures(sheet) : []),
                        ["folded stacks", () => save(`${name}.folded`, folded(stacks), "text/plain")],
                        ["pprof profile", () => void savePprof()],
                        [
                            "speedscope profile",
                            () => save(`${name}.speedscope.json`, speedscope(profile()), "application/json"),
                        ],
                    ]}
                />
            </div>
            {root && zoomed && (
                <nav class="crumbs" aria-label="zoomed frame">
                    {zoomed === root ? (
                        <span class="muted">
                            {stacked
                                ? "width is the share of the value, height the stack"
                                : "no stacks in this aggregation: the tree of its keys"}
                            ; click a frame to zoom
                        </span>
                    ) : (
                        [root, ...pathOf(zoomed).map((_, i, p) => find(root, p.slice(0, i + 1))!)].map((f) => (
                            <button type="button" key={f.depth} onClick={() => setZoom(pathOf(f))}>
                                {f.name}
                            </button>
                        ))
                    )}
                    {zoomed !== root && <NextButton things={thingsOfFrame(zoomed)} />}
                </nav>
            )}
            {root ? (
                <FlameGraph
                    root={root}
                    bases={mode === "time" ? 2 : 1}
                    icicle={icicle}
                    path={zoom}
                    onPath={setZoom}
                    test={test}
                    whole={whole}
                    fn={agg.fn}
                    text={text}
                    label={`flame graph of ${agg.name}`}
                    id="flame"
                    drawn={drawn}
                />
            ) : (
                <Sandwich stacks={stacks} whole={whole} test={test} fn={agg.fn} text={text} />
            )}
        </div>
    );
}

interface SandwichProps {
    stacks: Stacks;
    whole: number;
    test: ((name: string) => boolean) | null;
    fn: string;
    text: (n: number) => string;
}

/** A table of all functions; beside it who calls the chosen one, and what it calls. */
function Sandwich({ stacks, whole, test, fn, text }: SandwichProps) {
    const [by, setBy] = useState<keyof FunctionRow>("self");
    const [down, setDown] = useState(true);
    const [share, setShare] = useState(60);
    const functions = useMemo(() => functionsOf(stacks), [stacks]);
    const first = useRef("");
    first.current ||= functions[0]?.name ?? "";
    const name = app.view.fn || first.current;
    const { callers, callees } = useMemo(() => around(stacks, name), [stacks, name]);
    const [above, setAbove] = useState<string[]>([]);
    const [below, setBelow] = useState<string[]>([]);
    const choose = (fn: string) => {
        setAbove([]);
        setBelow([]);
        app.setView({ fn });
    };
    const sign = down ? -1 : 1;
    const rows = useMemo(
        () =>
            functions
                .filter((f) => !test || test(f.name))
                .sort((a, b) =>
                    by === "name" ? sign * (a.name < b.name ? -1 : 1) : sign * (a[by] - b[by]) || b.total - a.total,
                ),
        [functions, test, by, down],
    );
    const head = (id: keyof FunctionRow, title: string) => (
        <SortHead
            on={by === id}
            down={down}
            title={title}
            onSort={() => {
                setBy(id);
                setDown(by === id ? !down : id !== "name");
            }}
        >
            {id === "name" ? "function" : id}
        </SortHead>
    );
    const graph = { test, whole, fn, text };
    return (
        <div class="sandwich" style={{ "--side": `${share}%` }}>
            <Rows
                label="functions"
                rows={rows}
                height={24}
                class="functions"
                empty={test ? "nothing matches" : "nothing yet"}
                head={
                    <div class="function-row functions-head" role="row">
                        {head("name", "by name")}
                        {head("self", "by what is in the function itself")}
                        {head("total", "by what is in the function and in what it calls")}
                    </div>
                }
                row={(f) => (
                    <div
                        class={`function-row ${f.name === name ? "on" : ""}`}
                        role="row"
                        tabIndex={0}
                        key={f.name}
                        title={f.name}
                        aria-current={f.name === name}
                        onClick={() => choose(f.name)}
                        onContextMenu={(e) => ask(e, thingsOf(null, [f.name]))}
                        onKeyDown={(e) => {
                            if (e.key !== "Enter" && e.key !== " ") return;
                            e.preventDefault();
                            choose(f.name);
                        }}
                    >
                        <i
                            class="bar"
                            role="presentation"
                            style={{ width: `${(100 * f.self) / Math.max(1, whole)}%` }}
                        />
                        <span role="cell" class="name with-next">
                            <Middle text={f.name} />
                            <NextButton things={thingsOf(null, [f.name])} />
                        </span>
                        <span role="cell" class="num">
                            {text(f.self)} <b>{percent(f.self / Math.max(1, whole))}</b>
                        </span>
                        <span role="cell" class="num dim">
                            {text(f.total)} <b>{percent(f.total / Math.max(1, whole))}</b>
                        </span>
                    </div>
                )}
            />
            <Splitter label="width of callers and callees" share={share} onShare={setShare} />
            <div class="slices">
                <h2>callers of {name}</h2>
                <FlameGraph
                    {...graph}
                    root={callers}
                    icicle={false}
                    path={above}
                    onPath={setAbove}
                    label={`callers of ${name}`}
                    id="callers"
                    onOpen={(f) => choose(f.name)}
                />
                <h2>what {name} calls</h2>
                <FlameGraph
                    {...graph}
                    root={callees}
                    icicle
                    path={below}
                    onPath={setBelow}
                    label={`what ${name} calls`}
                    id="callees"
                    onOpen={(f) => choose(f.name)}
                />
            </div>
        </div>
    );
}
