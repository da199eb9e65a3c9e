// look.ts - what all views of a trace show together: the times in view, the keys, and what is chosen.
//
// Times are in ms since 1970, so that they hold whatever the width of the columns is. Keys are kept by their texts, since another trace or
// aggregation has other numbers for them; `filter` has the numbers of those that the shown aggregation has. A view that cannot show one of
// these leaves it alone.
import type { Zoom } from "./heat.ts";
import { type Aggregation, type Column, keyText, type Trace, type Value } from "./trace.ts";

export interface Range {
    from: number;
    to: number;
}

/** A cell, or a rectangle to compare with the rest: the columns of a range, buckets `first` to `last`. */
export interface Chosen extends Range {
    first: number;
    last: number;
    cell: boolean;
}

/** What an address keeps of it. */
export interface Place {
    range: Range | null;
    width: number;
    keys: readonly string[];
    zoom: Zoom | null;
}

export const NO_PLACE: Place = { range: null, width: 120_000, keys: [], zoom: null };
const NO_KEYS: ReadonlySet<number> = new Set();

type Change = Partial<Pick<Look, "range" | "width" | "filter" | "chosen" | "zoom">>;

export class Look implements Place {
    /** The times in view; null: the latest, as they come. */
    range: Range | null = null;
    /** How much is in view while that is the latest, ms. */
    width = NO_PLACE.width;
    /** The values in view of the heat map; null: all. */
    zoom: Zoom | null = null;
    /** The texts of the keys that are shown; none: all. */
    keys: readonly string[] = [];
    /** The same as numbers of keys. */
    filter = NO_KEYS;
    chosen: Chosen | null = null;
    private agg: Aggregation | null = null;
    private known = 0; // the number of keys among which those of `keys` were looked for
    private frozen = new WeakMap<Range, Map<Aggregation, [number, Value][]>>();

    /** notify: called after each change, with the kind of step that it is, "" for none. */
    constructor(private readonly notify: (step: string) => void) {}

    /** Whether the views stand still although data come. */
    get paused(): boolean {
        return this.range !== null || this.chosen !== null;
    }

    set(change: Change): void {
        Object.assign(this, change);
        if (change.filter && this.agg) this.keys = [...change.filter].map((k) => keyText(this.agg!.parts(k)));
        this.notify((["range", "filter", "zoom"] as const).find((k) => k in change) ?? "");
    }

    /** An aggregation is shown: `filter` has its keys then. What is chosen belongs to the one before it. */
    of(agg: Aggregation): this {
        const other = agg !== this.agg;
        if (!other && (this.filter.size === this.keys.length || agg.keys.size === this.known)) return this;
        if (other && this.agg) this.chosen = null;
        this.agg = agg;
        this.known = agg.keys.size;
        const wanted = new Set(this.keys);
        const found = wanted.size > 0 ? [...agg.keys.keys()].filter((k) => wanted.has(keyText(agg.parts(k)))) : [];
        this.filter = found.length > 0 ? new Set(found) : NO_KEYS;
        return this;
    }

    /** A trace begins at t: only a range that an address has asked for lies in it. */
    begin(t: number): void {
        Object.assign(this, { agg: null, filter: NO_KEYS, chosen: null });
        if (this.range && this.range.to <= t) this.range = null;
    }

    /** Takes over what an address says, or what another trace had, without saying so. */
    take(place: Place & { chosen?: Chosen | null }): void {
        Object.assign(this, { agg: null, filter: NO_KEYS, chosen: null }, place);
    }

    /** The latest again, and nothing chosen. */
    resume(): void {
        this.set({ range: null, chosen: null });
    }

    /** All that is known until now, and the values as they are now: a script may have cleared what columns have. */
    pause(trace: Trace): void {
        const range = { from: trace.info.t, to: trace.t };
        const copy = ([key, v]: [number, Value]): [number, Value] => [key, v instanceof Map ? new Map(v) : [...v]];
        this.frozen.set(range, new Map([...trace.aggregations.values()].map((a) => [a, [...a.rows()].map(copy)])));
        this.set({ range });
    }

    /** The values of an aggregation when the range was set by a pause. */
    heldRows(agg: Aggregation): readonly [number, Value][] | undefined {
        return this.range ? this.frozen.get(this.range)?.get(agg) : undefined;
    }
}

/** Whether a column, which ends at t and is dt wide, belongs to a range: its middle lies in it, or it holds the middle of the range. */
export function within(c: Pick<Column, "t" | "dt">, { from, to }: Range): boolean {
    const middle = c.t - c.dt / 2;
    const asked = (from + to) / 2;
    return (middle > from && middle <= to) || (asked > c.t - c.dt && asked <= c.t);
}
