// engine.ts - the bucket numbers of the engine (guest/dif/dif.c, c_src/result/hist.c), for made-up servers and as a second
// opinion on what is drawn.
import type { Bounds } from "../../src/model/buckets.ts";
import type { HistFn } from "../../src/model/functions.ts";
import type { AggregationInfo } from "../../src/model/protocol.ts";

/** The buckets of one aggregation. */
export interface Engine {
    readonly count: number;
    /** Which bucket a value goes to. */
    of(value: number): number;
    /** What bucket b holds; b is from 0 to count - 1. */
    bounds(b: number): Bounds;
    /** The bucket that holds 0, or the nearest to it. */
    readonly zero: number;
}

const ZERO = 63; // of quantize
const QUANTIZE = 127;

function quantize(): Engine {
    const edge = (n: number) => 2 ** n;
    return {
        count: QUANTIZE,
        zero: ZERO,
        of(v) {
            if (v === 0) return ZERO;
            const log = Math.floor(Math.log2(Math.abs(v)));
            // log2 of a value just below a power rounds up to it
            const n = edge(log) > Math.abs(v) ? log - 1 : log;
            return v > 0 ? Math.min(ZERO + 1 + n, QUANTIZE - 1) : Math.max(ZERO - 1 - n, 0);
        },
        bounds(b) {
            if (b === ZERO) return { from: 0, to: 0 };
            if (b > ZERO) {
                const v = edge(b - ZERO - 1);
                return { from: v, to: b === QUANTIZE - 1 ? Infinity : v * 2 - 1 };
            }
            const v = -edge(ZERO - 1 - b);
            return { from: b === 0 ? -Infinity : v * 2 + 1, to: v };
        },
    };
}

function lquantize(base: number, limit: number, step: number): Engine {
    const levels = Math.trunc((limit - base) / step);
    return {
        count: levels + 2,
        zero: Math.max(0, Math.min(levels + 1, Math.floor(-base / step) + 1)),
        of(v) {
            return v < base ? 0 : Math.min(Math.floor((v - base) / step), levels) + 1;
        },
        bounds(b) {
            if (b === 0) return { from: -Infinity, to: base - 1 };
            const from = base + (b - 1) * step;
            return { from, to: b === levels + 1 ? Infinity : from + step - 1 };
        },
    };
}

// Each power of the factor, from factor^low to factor^high, is cut into `bins` parts on either side of zero; beyond the last
// lies the overflow. With more steps than the factor has integers several parts of magnitude 0 begin at the same integer: the
// first of them holds it, and reaches to where the next other one begins.
function llquantize(factor: number, low: number, high: number, steps: number): Engine {
    const bins = steps - Math.floor(steps / factor);
    const side = bins * (high - low + 1);
    const mid = side + 1;
    const inner = factor ** low;
    const lower = (k: number): number => {
        if (k >= side) return factor ** (high + 1);
        const start = factor ** (low + Math.floor(k / bins));
        return start + Math.floor(((k % bins) * start * factor) / steps);
    };
    return {
        count: mid * 2 + 1,
        zero: mid,
        of(v) {
            const a = Math.abs(v);
            if (a < inner) return mid;
            let k = side;
            for (let m = low, start = inner; m <= high; m++, start *= factor) {
                if (a >= start * factor) continue;
                k = (m - low) * bins + Math.floor(((a - start) * steps) / (start * factor));
                break;
            }
            return v > 0 ? mid + 1 + k : mid - 1 - k;
        },
        bounds(b) {
            if (b === mid) return { from: -(inner - 1), to: inner - 1 };
            const k = Math.abs(b - mid) - 1;
            const from = lower(k);
            let j = k + 1;
            while (j < side && lower(j) === from) j++;
            const to = k >= side ? Infinity : lower(j) - 1;
            return b > mid ? { from, to } : { from: -to, to: -from };
        },
    };
}

/** The numbering of an aggregating function with its parameters, as the script gives them. */
export function engineOf(fn: HistFn, params: readonly number[]): Engine {
    const p = (i: number) => params[i] ?? 0;
    switch (fn) {
        case "quantize":
            return quantize();
        case "lquantize":
            return lquantize(p(0), p(1), params[2] || 1);
        case "llquantize":
            return llquantize(p(0), p(1), p(2), p(3));
    }
}

/** What `started` says of them. */
export function said(fn: HistFn, params: readonly number[]): NonNullable<AggregationInfo["buckets"]> {
    const engine = engineOf(fn, params);
    const from: (number | null)[] = [];
    const to: (number | null)[] = [];
    for (let b = 0; b < engine.count; b++) {
        const bounds = engine.bounds(b);
        from.push(Number.isFinite(bounds.from) ? bounds.from : null);
        to.push(Number.isFinite(bounds.to) ? bounds.to : null);
    }
    return { from, to, parameters: [...params] };
}
