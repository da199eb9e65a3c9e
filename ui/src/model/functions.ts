// functions.ts - what aggregating functions have in common, by the table of words.ts: the page asks for properties, not for names.
import { D_FUNCTIONS, type HistFn, type Result } from "./words.ts";

export type { HistFn } from "./words.ts";

export const resultOf = (fn: string): Result => D_FUNCTIONS[fn]?.result ?? "number";

export function isHist(fn: string): fn is HistFn {
    return resultOf(fn) === "buckets";
}

/** Sums that a function keeps beside the first one: an average the sum, a deviation also the sum of squares. */
export function moreSums(fn: string): number {
    const result = resultOf(fn);
    return result === "average" ? 1 : result === "deviation" ? 2 : 0;
}

/** Whether what a function shows is made of several sums; the first one then counts events. */
export const isMean = (fn: string): boolean => moreSums(fn) > 0;

/** Whether a value stands as it is, and what comes later takes its place or not: least and most values. */
export const stands = (fn: string): boolean => (D_FUNCTIONS[fn]?.merge ?? "add") !== "add";

/** Whether additions of a function add up to its value, so that a rate and a share mean something. */
export const additive = (fn: string): boolean => !stands(fn) && !isMean(fn);

/** Whether a function shows one number, to which additions add up. */
export const isSum = (fn: string): boolean => additive(fn) && !isHist(fn);

/** Whether that is a sum of values, in their unit, and not of events. */
export const isAmount = (fn: string): boolean => isSum(fn) && resultOf(fn) !== "count";

/** Adds the numbers of one value to those of another. */
export function mergeInto(fn: string, into: number[], from: readonly number[]): void {
    const merge = D_FUNCTIONS[fn]?.merge ?? "add";
    if (merge === "least") into[0] = Math.min(into[0]!, from[0]!);
    else if (merge === "most") into[0] = Math.max(into[0]!, from[0]!);
    else for (let i = 0; i < from.length; i++) into[i] = (into[i] ?? 0) + from[i]!;
}

/** The number that a function's sums come to. */
export function scalar(fn: string, v: readonly number[]): number {
    const [a = 0, b = 0, c = 0] = v;
    const result = resultOf(fn);
    if (result === "average") return a === 0 ? 0 : b / a;
    if (result === "deviation") return a === 0 ? 0 : Math.sqrt(Math.max(0, c / a - (b / a) ** 2));
    return a;
}
