// looked.ts - what of a trace a view shows: the columns and values of the time range and of the keys that all views share.
import { useLayoutEffect, useRef } from "preact/hooks";
import { app } from "../app.ts";
import { within } from "../model/look.ts";
import { valuesIn } from "../model/range.ts";
import type { Aggregation, Column, Trace, Value } from "../model/trace.ts";
import type { ViewName } from "../model/url.ts";

export interface Looked {
    /** The columns of the range; all, without one. */
    columns: readonly Column[];
    /** Whether there is a range: then values are what came in it, and they stand. */
    held: boolean;
    /** The keys that are shown; null: all. */
    keys: ReadonlySet<number> | null;
    /** Changes when columns or values do. */
    stamp: unknown;
    rows(): Iterable<[number, Value]>;
    pause(on: boolean): void;
}

/** Pauses when Space is pressed. */
export function useSpace(pause: () => void): void {
    useLayoutEffect(() => {
        addEventListener("erltrace:pause", pause);
        return () => removeEventListener("erltrace:pause", pause);
    });
}

/** A view calls it in each rendering; Space pauses it. */
export function useLooked(trace: Trace, agg: Aggregation): Looked {
    const look = app.look.of(agg);
    const { range } = look;
    const keys = look.filter.size > 0 ? look.filter : null;
    const last = useRef<readonly Column[]>([]);
    const found = range ? trace.columns.filter((c) => within(c, range)) : trace.columns;
    // what stands is the same list as before
    if (!range || found.length !== last.current.length || found.some((c, i) => c !== last.current[i]))
        last.current = found;
    const columns = last.current;
    const pause = (on: boolean) => (on ? look.pause(trace) : look.resume());
    useSpace(() => pause(!range));
    return {
        columns,
        held: range !== null,
        keys,
        stamp: range ? columns : trace.version,
        *rows() {
            if (range && !look.heldRows(agg)) yield* valuesIn(agg, columns, keys);
            else for (const row of look.heldRows(agg) ?? agg.rows()) if (!keys || keys.has(row[0])) yield row;
        },
        pause,
    };
}

/** What is searched for in a view, and a function that changes it; the address keeps it. */
export function useSearch(view: ViewName): [string, (text: string) => void] {
    const { search } = app.view;
    return [search[view] ?? "", (text) => app.setView({ search: { ...search, [view]: text } })];
}
