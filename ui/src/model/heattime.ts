// heattime.ts - the axis of time of a heat map: which columns are in view, and when each begins and ends.
//
// A column of the map is one column of the trace, or several where these would be too narrow to see. It lies where its time is: what was
// not read is a gap, and a reading that took long is wide.
import type { Range } from "./look.ts";
import { type Column, follows } from "./trace.ts";

/** A column of the map: what was added from `from` to `t`, ms since 1970. */
export interface MapColumn {
    parts: readonly Column[];
    from: number;
    t: number;
}

/** The least width of a column that is chosen automatically, px. */
const SEEN = 3;
/** Widths of columns, ms. */
const WIDTHS = [100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];
export const COLUMNS = [100, 1000, 10_000];

/**
 * How wide columns are, ms: as the user chose (0: as readings come), but not narrower than readings, nor than `SEEN` if nothing was
 * chosen, and never than a pixel: a column that shares its pixel would be hidden.
 */
export function widthOf(chosen: number, interval: number, range: number, px: number): number {
    const least = Math.max(chosen, interval, (range / Math.max(1, px)) * (chosen > 0 ? 1 : SEEN));
    return least <= interval * 1.01 ? interval : (WIDTHS.find((w) => w >= least) ?? least);
}

/** How much is in view while that is the latest, ms: what was asked for, but at most twice what exists, so that a new trace is not a thin line. */
export function liveWidth(exists: number, asked: number, interval: number): number {
    const wanted = Math.max(10 * interval, asked);
    let width = Math.min(wanted, Math.max(10 * interval, 30_000));
    while (width < exists && width < wanted) width = Math.min(wanted, width * 2);
    return width;
}

/** The readings to make columns of a width of: those that came by themselves, where there are such, and before them those of seconds. */
export function readings(columns: readonly Column[], fine: readonly Column[], width: number): readonly Column[] {
    const first = fine[0];
    if (!first || width >= 1000) return columns;
    const begins = first.t - first.dt / 2;
    return [...columns.filter((c) => c.t < begins), ...fine];
}

/**
 * The columns in view, `width` ms wide where readings come more often. Those of one width are combined by their numbers, since their times
 * waver around the interval. Where a column follows on the one before, it begins where that ends.
 */
export function mapColumns(all: readonly Column[], { from, to }: Range, width: number, interval: number): MapColumn[] {
    const out: MapColumn[] = [];
    let slot = NaN;
    for (const c of all) {
        const middle = c.t - c.dt / 2;
        if (middle > to) break;
        const single = c.dt < 1.5 * interval;
        const here =
            width < 1.5 * c.dt ? NaN : single ? Math.floor((c.n * interval) / width) : Math.floor(middle / width);
        const last = out[out.length - 1];
        const begins = last && follows(last.t, c, interval) ? last.t : c.t - c.dt;
        if (last && here === slot && begins === last.t) {
            out[out.length - 1] = { parts: [...last.parts, c], from: last.from, t: c.t };
        } else out.push({ parts: [c], from: begins, t: c.t });
        slot = here;
    }
    return out.filter((c) => (c.from + c.t) / 2 > from);
}

/** Round times at which to label the axis, ms, at least `px` apart. */
export function timeTicks({ from, to }: Range, pxPerMs: number, px: number): number[] {
    const step =
        [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000].find(
            (s) => s * pxPerMs >= px,
        ) ?? 600_000;
    const out: number[] = [];
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
    return out;
}
