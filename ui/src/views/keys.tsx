// keys.tsx - the side of the heat map: its keys, those of a cell, or those of a rectangle compared with the rest. Each part of a key is a column.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { valuesOf } from "../model/buckets.ts";
import { atLeast, compact, counted, exact, moment, percent, range, type Unit, value } from "../model/format.ts";
import { compare, hasLower, keyCounts, used } from "../model/heat.ts";
import { KeyTable } from "../model/keytable.ts";
import { type Chosen, within } from "../model/look.ts";
import { thingsOf } from "../model/next.ts";
import { type Aggregation, type Column, keyText, partText, type Trace } from "../model/trace.ts";
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

/** What keys are sorted by; a number: by that part of the key. */
type By = "count" | "p50" | "p99" | number;

const MOST_PARTS = 4; // of a key that get columns of their own
const SAMPLE = 200; // keys whose lengths decide how wide the columns are
const [SHORT, HEAD, LONG] = [5, 9, 40]; // characters
const TOGETHER = 20; // characters that all parts together have at least
const CHARACTER = 7.25; // px

/** The parts of keys that have columns of their own; none: the whole key has one. A part that is the same text in each key says nothing. */
function shownParts(agg: Aggregation): number[] {
    const all = [...agg.keyTypes.keys()];
    const [first] = agg.keys.values();
    const constant = (i: number) =>
        agg.texts?.[i]?.startsWith('"') && every(agg.keys.values(), (p) => p[i] === first![i]);
    const told = all.filter((i) => !constant(i));
    return all.length > 1 && told.length > 0 && told.length <= MOST_PARTS ? told : [];
}

function every<T>(all: Iterable<T>, is: (x: T) => boolean): boolean {
    for (const x of all) if (!is(x)) return false;
    return true;
}

/** The columns of a key as a style: the room goes to the parts with long texts. */
function partWidths(agg: Aggregation, shown: readonly number[]): { "--parts": string } {
    if (shown.length === 0) return { "--parts": "minmax(0, 1fr)" };
    const most = shown.map((p) => Math.max(SHORT, Math.min(HEAD, agg.texts?.[p]?.length ?? 0)));
    let n = 0;
    for (const parts of agg.keys.values()) {
        if (n++ === SAMPLE) break;
        shown.forEach((p, i) => (most[i] = Math.max(most[i]!, Math.min(LONG, partText(parts[p] ?? "").length))));
    }
    const least = Math.floor(TOGETHER / most.length);
    return { "--parts": most.map((m) => `minmax(${CHARACTER * Math.min(m, least)}px, ${m}fr)`).join(" ") };
}

interface KeyCellsProps {
    agg: Aggregation;
    shown: readonly number[];
    id: number;
    /** What stands behind the key. */
    children: ComponentChildren;
}
function KeyCells({ agg, shown, id, children }: KeyCellsProps) {
    const n = Math.max(1, shown.length);
    const parts = agg.parts(id);
    if (shown.length === 0 || !agg.keys.has(id))
        return (
            <span role="cell" class="name with-next" aria-colspan={n} style={{ gridColumn: `span ${n}` }}>
                <Middle text={keyText(parts)} />
                {children}
            </span>
        );
    return (
        <>
            {shown.map((p, i) => (
                <span role="cell" class="name with-next" key={p}>
                    <Middle text={partText(parts[p] ?? "")} />
                    {i === n - 1 && children}
                </span>
            ))}
        </>
    );
}

/** The heads of these columns: each part as the script writes it. */
const partNames = (agg: Aggregation, shown: readonly number[]): string[] =>
    shown.length === 0 ? ["key"] : shown.map((i) => agg.texts?.[i] ?? `key ${i + 1}`);

const [SHAPE_WIDTH, SHAPE_HEIGHT, BARS] = [40, 14, 20];

interface ShapeProps {
    counts: ArrayLike<number>;
    low: number; // the lowest bucket of all keys in view
    high: number; // the highest, inclusive
}
/** A small histogram of a key, from the least value of all keys to the greatest. A bar is as high as its share of the highest one, but never invisible. */
function Shape({ counts, low, high }: ShapeProps) {
    const n = Math.min(BARS, high - low + 1);
    const bars = new Array<number>(n).fill(0);
    for (let b = low; b <= high; b++) bars[Math.floor(((b - low) * n) / (high - low + 1))]! += counts[b]!;
    const most = Math.max(1, ...bars);
    const w = SHAPE_WIDTH / n;
    const path = bars.map((v, i) => {
        const h = Math.max(1.5, (v / most) * SHAPE_HEIGHT);
        return v > 0
            ? `M${(i * w).toFixed(1)} ${SHAPE_HEIGHT}v-${h.toFixed(1)}h${Math.max(1, w - 0.5).toFixed(1)}V${SHAPE_HEIGHT}z`
            : "";
    });
    return (
        <svg width={SHAPE_WIDTH} height={SHAPE_HEIGHT} aria-hidden="true">
            <path d={path.join("")} />
        </svg>
    );
}

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
            key={id}
            class={typeof id === "number" ? "name-head" : id}
            on={by === id}
            down={down}
            title={title}
            onSort={() => {
                if (by === id) setDown(!down);
                else {
                    setBy(id);
                    setDown(typeof id !== "number");
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

    const shown = useMemo(() => shownParts(agg), [agg, agg.keys.size]);
    const sampled = Math.min(SAMPLE, agg.keys.size);
    const widths = useMemo(() => partWidths(agg, shown), [agg, sampled, shown.join()]);
    const names = partNames(agg, shown);

    const kept = useMemo(() => new KeyTable(agg), [agg]);
    const table = useMemo(() => {
        if (selection && !selection.cell) return null;
        const found = selection ? { ...keyCounts(agg, chosen, selection.first, selection.last) } : kept.of(columns);
        const rows = found.keys.map((k) => ({ p50: NaN, p99: NaN, ...k, text: key(k.key) }));
        return { ...found, rows };
    }, [trace.version, columns, selection, agg]);

    const extent = useMemo(() => used(columns, agg.id), [trace.version, columns, agg]);

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
            <aside class="keys" data-testid="compare" style={widths}>
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
                            {names.map((name, i) => (
                                <span role="columnheader" class="name-head" key={i}>
                                    {name}
                                </span>
                            ))}
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
                            <KeyCells agg={agg} shown={shown} id={k.key}>
                                <NextButton things={things(k.key)} over={over} />
                            </KeyCells>
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
    const percentile = (x: number, k: number) => atLeast(value(x, unit), agg.atLeast.has(k));
    const rows = table!.rows.filter((k) => matches(k.key));
    const sign = down ? -1 : 1;
    if (typeof by === "number") {
        const text = (k: { key: number; text: string }) =>
            shown.length > 0 ? `${partText(agg.parts(k.key)[shown[by] ?? 0] ?? "")}\n${k.text}` : k.text;
        const named = (k: { key: number }) => (agg.keys.has(k.key) ? 0 : 1); // what stands for others comes last
        rows.sort((a, b) => named(a) - named(b) || sign * text(a).localeCompare(text(b), "en", { numeric: true }));
    } else rows.sort((a, b) => sign * (number(a[by]) - number(b[by])) || a.key - b.key);
    return (
        <aside class={`keys ${selection ? "of-cell" : ""}`} data-testid={selection ? "cell" : "keys"} style={widths}>
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
                        {times}, {atLeast(bounds, hasLower(agg, table!))}: <b>{exact(table!.total)}</b>
                    </>
                ) : filter.size > 0 ? (
                    `the map shows ${exact(filter.size)} of ${counted(agg.keys.size, "key")}`
                ) : (
                    <>
                        <b>{exact(table!.total)}</b> in{" "}
                        {table!.keys.length === 1
                            ? "one key"
                            : `${counted(table!.keys.length, "key")}; click one to see it alone`}
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
                    <div class={`keys-head ${selection ? "two" : "five"}`} role="row">
                        {names.map((name, i) => head(i, name, shown.length > 0 ? `by ${name}` : "by name"))}
                        {head("count", "count", "by count")}
                        {selection ? <span role="columnheader">share</span> : head("p50", "p50", "by median")}
                        {!selection && head("p99", "p99", "by 99th percentile")}
                        {!selection && (
                            <span
                                role="columnheader"
                                class="shape"
                                title="the histogram of each key, all over the same values"
                            >
                                shape
                            </span>
                        )}
                    </div>
                }
                row={(k) => (
                    <div
                        class={`key-row ${selection ? "two" : "five"} ${filter.has(k.key) ? "on" : ""}`}
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
                        <KeyCells agg={agg} shown={shown} id={k.key}>
                            <NextButton things={things(k.key)} over={over} />
                        </KeyCells>
                        <span role="cell" class="num">
                            {selection ? exact(k.count) : compact(k.count)}
                        </span>
                        <span role="cell" class="num dim">
                            {selection ? percent(k.share) : percentile(k.p50, k.key)}
                        </span>
                        {!selection && (
                            <span role="cell" class="num dim p99">
                                {percentile(k.p99, k.key)}
                            </span>
                        )}
                        {!selection && (
                            <span role="cell" class="shape">
                                {extent && <Shape counts={kept.counts(k.key)} low={extent[0]} high={extent[1]} />}
                            </span>
                        )}
                    </div>
                )}
            />
        </aside>
    );
}
