// keys.tsx - the side of the heat map: its keys, those of a cell, or those of a rectangle compared with the rest.
import { useMemo, useState } from "preact/hooks";
import { valuesOf } from "../model/buckets.ts";
import { compact, exact, moment, percent, range, type Unit, value } from "../model/format.ts";
import { compare, keyCounts } from "../model/heat.ts";
import { KeyTable } from "../model/keytable.ts";
import { type Chosen, within } from "../model/look.ts";
import { thingsOf } from "../model/next.ts";
import { type Aggregation, type Column, keyText, type Trace } from "../model/trace.ts";
import { ask, inNs, NextButton } from "./next.tsx";
import { Middle, Rows, Search, SortHead } from "./widgets.tsx";

interface Props {
    trace: Trace;
    agg: Aggregation;
    columns: readonly Column[];
    unit: Unit;
    chosen: Chosen | null;
    filter: ReadonlySet<number>;
    onFilter: (keys: ReadonlySet<number>) => void;
    onClear: () => void;
}

type By = "count" | "key" | "p50" | "p99";

export function KeysPanel(props: Props) {
    const { trace, agg, columns, unit, chosen: selection, filter, onFilter, onClear } = props;
    const [search, setSearch] = useState("");
    const [by, setBy] = useState<By>("count");
    const [down, setDown] = useState(true);
    const key = (k: number) => keyText(agg.parts(k));
    const wanted = search.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (k: number) => wanted.length === 0 || wanted.every((w) => key(k).toLowerCase().includes(w));
    const things = (k: number) => thingsOf(agg.means, agg.parts(k));
    const toggle = (k: number) => {
        const next = new Set(filter);
        if (!next.delete(k)) next.add(k);
        onFilter(next);
    };
    const head = (id: By, text: string, title: string) => (
        <SortHead
            on={by === id}
            down={down}
            title={title}
            onSort={() => {
                if (by === id) setDown(!down);
                else {
                    setBy(id);
                    setDown(id !== "key");
                }
            }}
        >
            {text}
        </SortHead>
    );

    const chosen = useMemo(() => {
        if (!selection) return [];
        const inView = columns.filter((c) => within(c, selection));
        return inView.length > 0 ? inView : trace.columns.filter((c) => within(c, selection));
    }, [trace.version, columns, selection]);
    const values = selection && valuesOf(agg.buckets!, selection.first, selection.last);
    const bounds = values ? range(values.from, values.to, unit) : "";
    const over = values ? inNs(values.from, unit) : 0; // what is slower than all of the cell
    const moments = [chosen[0], chosen[chosen.length - 1]].map((c) => (c ? moment(c.t, c.dt) : ""));
    const times = [...new Set(moments)].join(" – ");

    const kept = useMemo(() => new KeyTable(agg), [agg]);
    const table = useMemo(() => {
        if (selection && !selection.cell) return null;
        const found = selection ? { ...keyCounts(agg, chosen, selection.first, selection.last) } : kept.of(columns);
        const rows = found.keys.map((k) => ({ p50: NaN, p99: NaN, ...k, text: key(k.key) }));
        return { ...found, rows };
    }, [trace.version, columns, selection, agg]);

    const compared = useMemo(
        () =>
            selection && !selection.cell
                ? compare(agg, columns, new Set(chosen), selection.first, selection.last)
                : null,
        [trace.version, columns, selection, agg],
    );

    if (compared) {
        const rows = compared.keys.filter((k) => matches(k.key));
        const most = Math.max(0.0001, ...compared.keys.map((k) => Math.max(k.shareInside, k.shareOutside)));
        return (
            <aside class="keys" data-testid="compare">
                <header>
                    <h2>Rectangle compared with the rest</h2>
                    <button type="button" class="quiet" onClick={onClear} title="Esc">
                        close
                    </button>
                </header>
                <p class="what">
                    {times}, {bounds}: <b>{exact(compared.inside)}</b> inside, {exact(compared.outside)} in the rest
                </p>
                <Search value={search} placeholder="search keys" onInput={setSearch} />
                <Rows
                    label="keys of the rectangle and of the rest"
                    rows={rows}
                    height={38}
                    empty={compared.inside === 0 ? "nothing in there" : "no such key"}
                    head={
                        <div class="keys-head two" role="row">
                            <span role="columnheader">key</span>
                            <span role="columnheader">inside</span>
                            <span role="columnheader">rest</span>
                        </div>
                    }
                    row={(k) => (
                        <div
                            class="compare-row"
                            role="row"
                            key={k.key}
                            title={`${key(k.key)}\ninside ${exact(k.inside)}, rest ${exact(k.outside)}`}
                            onContextMenu={(e) => ask(e, things(k.key), over)}
                        >
                            <span role="cell" class="name with-next">
                                <Middle text={key(k.key)} />
                                <NextButton things={things(k.key)} over={over} />
                            </span>
                            <span role="cell" class="num">
                                {percent(k.shareInside)}
                            </span>
                            <span role="cell" class="num dim">
                                {percent(k.shareOutside)}
                            </span>
                            <span role="cell" class="pair">
                                <i class="in" style={{ width: `${(100 * k.shareInside) / most}%` }} />
                                <i class="out" style={{ width: `${(100 * k.shareOutside) / most}%` }} />
                            </span>
                        </div>
                    )}
                />
            </aside>
        );
    }

    const number = (x: number) => (Number.isNaN(x) ? -Infinity : x);
    const rows = table!.rows.filter((k) => matches(k.key));
    const sign = down ? -1 : 1;
    if (by === "key") rows.sort((a, b) => sign * a.text.localeCompare(b.text, "en", { numeric: true }));
    else rows.sort((a, b) => sign * (number(a[by]) - number(b[by])) || a.key - b.key);
    return (
        <aside class={`keys ${selection ? "of-cell" : ""}`} data-testid={selection ? "cell" : "keys"}>
            <header>
                <h2>{selection ? "Keys of the cell" : "Keys in view"}</h2>
                {selection ? (
                    <button type="button" class="quiet" onClick={onClear} title="Esc">
                        close
                    </button>
                ) : (
                    filter.size > 0 && (
                        <button type="button" class="quiet" onClick={() => onFilter(new Set())}>
                            show all
                        </button>
                    )
                )}
            </header>
            <p class="what">
                {selection ? (
                    <>
                        {times}, {bounds}: <b>{exact(table!.total)}</b>
                    </>
                ) : filter.size > 0 ? (
                    `the map shows ${filter.size} of ${agg.keys.size} keys`
                ) : (
                    <>
                        <b>{exact(table!.total)}</b> in{" "}
                        {table!.keys.length === 1
                            ? "one key"
                            : `${exact(table!.keys.length)} keys; click one to see it alone`}
                    </>
                )}
                {table!.unknown > 0 && (
                    <span class="note"> {exact(table!.unknown)} of columns whose keys are not kept</span>
                )}
            </p>
            <Search value={search} placeholder="search keys" onInput={setSearch} />
            <Rows
                label="keys"
                rows={rows}
                height={24}
                empty={search ? "no such key" : "no keys"}
                head={
                    <div class={`keys-head ${selection ? "two" : "four"}`} role="row">
                        {head("key", "key", "by name")}
                        {head("count", "count", "by count")}
                        {selection ? <span role="columnheader">share</span> : head("p50", "p50", "by median")}
                        {!selection && head("p99", "p99", "by 99th percentile")}
                    </div>
                }
                row={(k) => (
                    <div
                        class={`key-row ${selection ? "two" : "four"} ${filter.has(k.key) ? "on" : ""}`}
                        role="row"
                        tabIndex={0}
                        key={k.key}
                        title={k.text}
                        onClick={() => toggle(k.key)}
                        onContextMenu={(e) => ask(e, things(k.key), over)}
                        onKeyDown={(e) => {
                            if (e.key !== "Enter" && e.key !== " ") return;
                            e.preventDefault();
                            toggle(k.key);
                        }}
                    >
                        <i class="bar" role="presentation" style={{ width: `${100 * k.share}%` }} />
                        <span role="cell" class="name with-next">
                            <Middle text={k.text} />
                            <NextButton things={things(k.key)} over={over} />
                        </span>
                        <span role="cell" class="num">
                            {selection ? exact(k.count) : compact(k.count)}
                        </span>
                        <span role="cell" class="num dim">
                            {selection ? percent(k.share) : value(k.p50, unit)}
                        </span>
                        {!selection && (
                            <span role="cell" class="num dim">
                                {value(k.p99, unit)}
                            </span>
                        )}
                    </div>
                )}
            />
        </aside>
    );
}
