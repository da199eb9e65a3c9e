// functions.ts - properties of aggregating functions, from the table of words.ts: the page asks for properties, not for names.
import { D_FUNCTIONS, type HistFn, type Result } from "./words.ts";

export type { HistFn } from "./words.ts";

export const resultOf = (fn: string): Result => D_FUNCTIONS[fn]?.result ?? "number";

export function isHist(fn: string): fn is HistFn {
    return resultOf(fn) === "buckets";
}

/** Number of sums that a function keeps besides the first one: the sum for an average, also the sum of squares for a deviation. */
export function moreSums(fn: string): number {
    const result = resultOf(fn);
    return result === "average" ? 1 : result === "deviation" ? 2 : 0;
}

/** Whether the value of a function is made from several sums; the first one then counts events. */
export const isMean = (fn: string): boolean => moreSums(fn) > 0;

/** Whether a value is replaced by a later one rather than added to it: least and greatest values. */
export const stands = (fn: string): boolean => (D_FUNCTIONS[fn]?.merge ?? "add") !== "add";

/** Whether additions of a function add up to its value, so that a rate and a share are meaningful. */
export const additive = (fn: string): boolean => !stands(fn) && !isMean(fn);

/** Whether a function shows one number, to which additions add up. */
export const isSum = (fn: string): boolean => additive(fn) && !isHist(fn);

/** Whether that number is a sum of values, in their unit, rather than of events. */
export const isAmount = (fn: string): boolean => isSum(fn) && resultOf(fn) !== "count";

/** Adds the numbers of one value to those of another. */
export function mergeInto(fn: string, into: number[], from: readonly number[]): void {
    const merge = D_FUNCTIONS[fn]?.merge ?? "add";
    if (merge === "least") into[0] = Math.min(into[0]!, from[0]!);
    else if (merge === "most") into[0] = Math.max(into[0]!, from[0]!);
    else for (let i = 0; i < from.length; i++) into[i] = (into[i] ?? 0) + from[i]!;
}

/** The number that results from a function's sums. */
export function scalar(fn: string, v: readonly number[]): number {
    const [a = 0, b = 0, c = 0] = v;
    const result = resultOf(fn);
    if (result === "average") return a === 0 ? 0 : b / a;
    if (result === "deviation") return a === 0 ? 0 : Math.sqrt(Math.max(0, c / a - (b / a) ** 2));
    return a;
}
