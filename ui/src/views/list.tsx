// list.tsx - the live table of an aggregation: keys as a tree, values with bars, rates, totals.
import { useMemo, useState } from "preact/hooks";
import { app } from "../app.ts";
import { fileName } from "../keep.ts";
import { about, described, listCsv } from "../model/export.ts";
import { atLeast, compact, counted, exact, percent, value } from "../model/format.ts";
import { additive, isAmount, isMean, resultOf, stands } from "../model/functions.ts";
import { barOf, type Item, lines, type SortBy, sort, tree } from "../model/list.ts";
import { thingsOf } from "../model/next.ts";
import type { Aggregation, Trace } from "../model/trace.ts";
import { save } from "./canvas.tsx";
import { Export } from "./export.tsx";
import { useLooked, useSearch } from "./looked.ts";
import { ask, NextButton } from "./next.tsx";
import { Pause, Rows, Search, SortHead, Toggle } from "./widgets.tsx";

const UNFOLDED = 40; // most children of an opened level that are open at first

export function List({ trace, agg }: { trace: Trace; agg: Aggregation }) {
    const [search, setSearch] = useSearch("list");
    const { by, down } = app.view.sort;
    const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
    const { columns, stamp, keys, rows, held, pause } = useLooked(trace, agg);
    const unit = app.unitOf(agg);
    const nested = app.view.nested && agg.keyTypes.length > 1;
    const root = useMemo(() => {
        const t = tree(agg, columns, nested, rows(), held ? Infinity : 1000);
        sort(t, by, down);
        return t;
    }, [stamp, keys, agg, nested, by, down]);
    const open = useMemo(() => {
        const set = new Set<string>();
        const visit = (i: Item): void => {
            if (i.leaf || closed.has(i.path)) return;
            if (i.children.length <= UNFOLDED || i.depth === 0 || closed.has(`+${i.path}`)) set.add(i.path);
            for (const c of i.children) visit(c);
        };
        for (const c of root.children) visit(c);
        return set;
    }, [root, closed]);
    const shown = useMemo(() => lines(root, open, search), [root, open, search]);
    const flip = (i: Item) => {
        const next = new Set(closed);
        if (open.has(i.path)) {
            next.delete(`+${i.path}`);
            next.add(i.path);
        } else {
            next.delete(i.path);
            next.add(`+${i.path}`);
        }
        setClosed(next);
    };
    const rated = !stands(agg.fn);
    const sums = additive(agg.fn);
    const text = (i: Item) =>
        resultOf(agg.fn) === "count" || agg.hist || unit === ""
            ? atLeast(exact(i.value), i.atLeast && !agg.hist)
            : atLeast(value(i.value, unit), i.atLeast);
    const perSecond = (i: Item) =>
        atLeast(isAmount(agg.fn) && unit !== "" ? value(i.rate, unit) : compact(i.rate), i.atLeast && isAmount(agg.fn));
    const percentile = (n: number, i: Item) => atLeast(value(n, unit), i.atLeast && !Number.isNaN(n));
    const head = (id: SortBy, name: string, title: string) => (
        <SortHead
            on={by === id}
            down={down}
            title={title}
            onSort={() => app.setView({ sort: { by: id, down: by === id ? !down : id !== "key" } })}
        >
            {name}
        </SortHead>
    );
    const rateTitle = `${isMean(agg.fn) ? "values" : "added"} per second, in the ${held ? "times shown" : "last second"}`;
    const kind = agg.hist ? "hist" : rated ? "rated" : "plain";
    const table = () =>
        save(`${fileName(agg.name)}.csv`, described(about(trace, agg, columns, keys), listCsv(agg, root)), "text/csv");
    return (
        <div class="list">
            <div class="toolbar">
                <Search value={search} placeholder="search" onInput={setSearch} main />
                {agg.keyTypes.length > 1 && (
                    <Toggle
                        on={app.view.nested}
                        title="keys as a tree, part by part"
                        onChange={(nested) => app.setView({ nested })}
                    >
                        nested
                    </Toggle>
                )}
                <span class="muted">{counted(shown.length, "line")}</span>
                <span class="grow" />
                <Pause held={held} over={trace.stopped !== null} onChange={pause} />
                <Export trace={trace} items={[["CSV", table]]} />
            </div>
            <Rows
                label={`list of ${agg.name}`}
                rows={shown}
                height={25}
                class={`list-rows ${kind}`}
                empty={
                    search
                        ? "nothing matches"
                        : held
                          ? "nothing at that time"
                          : trace.stopped
                            ? "nothing was counted"
                            : "nothing yet"
                }
                head={
                    <div class="list-head">
                        <div class="list-row title" role="row">
                            {head("key", "key", "by name")}
                            {agg.hist && head("p50", "median", "by median")}
                            {agg.hist && head("p99", "p99", "by 99th percentile")}
                            {rated && head("rate", isMean(agg.fn) ? "events /s" : "/s", rateTitle)}
                            {head("value", agg.hist ? "count" : agg.fn, `by ${agg.fn}`)}
                            <span role="columnheader" class="share">
                                {sums ? "share" : ""}
                            </span>
                        </div>
                        <div class="list-row total" role="row" data-testid="total">
                            <span role="cell" class="name">
                                {stands(agg.fn) ? `${agg.fn} of all` : "total"}
                            </span>
                            {agg.hist && (
                                <span role="cell" class="num">
                                    {percentile(root.p50, root)}
                                </span>
                            )}
                            {agg.hist && (
                                <span role="cell" class="num">
                                    {percentile(root.p99, root)}
                                </span>
                            )}
                            {rated && (
                                <span role="cell" class="num">
                                    {perSecond(root)}
                                </span>
                            )}
                            <span role="cell" class="num">
                                {text(root)}
                            </span>
                            <span role="cell" class="share" />
                        </div>
                    </div>
                }
                row={(i) => {
                    const bar = barOf(agg, root, i);
                    const things = thingsOf(agg.means, i.parts).reverse(); // its own part first
                    return (
                        <div
                            class={`list-row ${i.leaf ? "" : "group"}`}
                            role="row"
                            key={i.path}
                            data-key={i.label}
                            onContextMenu={(e) => ask(e, things)}
                        >
                            <span
                                role="cell"
                                class="name with-next"
                                style={{ paddingLeft: `${(nested ? 8 : 12) + (i.depth - 1) * 16}px` }}
                                title={i.label}
                            >
                                {nested &&
                                    (i.leaf ? (
                                        <i class="fold" />
                                    ) : (
                                        <button
                                            type="button"
                                            class="fold"
                                            aria-expanded={open.has(i.path)}
                                            aria-label={`${open.has(i.path) ? "close" : "open"} ${i.label}`}
                                            onClick={() => flip(i)}
                                        >
                                            {open.has(i.path) || search ? "▾" : "▸"}
                                        </button>
                                    ))}
                                <span class="label">{i.label}</span>
                                <NextButton things={things} />
                            </span>
                            {agg.hist && (
                                <span role="cell" class="num dim">
                                    {percentile(i.p50, i)}
                                </span>
                            )}
                            {agg.hist && (
                                <span role="cell" class="num dim">
                                    {percentile(i.p99, i)}
                                </span>
                            )}
                            {rated && (
                                <span role="cell" class={`num ${i.rate === 0 ? "faint" : ""}`}>
                                    {perSecond(i)}
                                </span>
                            )}
                            <span role="cell" class="num strong">
                                {text(i)}
                            </span>
                            <span role="cell" class="share">
                                <i style={{ width: `${100 * Math.min(1, bar)}%` }} />
                                <b>{sums ? percent(bar) : ""}</b>
                            </span>
                        </div>
                    );
                }}
            />
        </div>
    );
}
