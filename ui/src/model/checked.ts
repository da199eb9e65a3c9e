// checked.ts - reads JSON of unknown origin: each function takes a value and the place it has in its document, and returns the value with
// its type, or throws Wrong with a text for people.

import { counted } from "./format.ts";

export class Wrong extends Error {}

export type Reader<T> = (v: unknown, at: string) => T;

const wrong = (at: string, what: string): never => {
    throw new Wrong(`${at} ${what}`);
};

export const bool: Reader<boolean> = (v, at) => (typeof v === "boolean" ? v : wrong(at, "is neither true nor false"));

export const number: Reader<number> = (v, at) =>
    typeof v === "number" && Number.isFinite(v) ? v : wrong(at, "is no number");

export const integer =
    (least: number, most: number): Reader<number> =>
    (v, at) =>
        Number.isSafeInteger(v) && (v as number) >= least && (v as number) <= most
            ? (v as number)
            : wrong(at, `is no integer from ${least} to ${most}`);

export const text =
    (most: number): Reader<string> =>
    (v, at) =>
        typeof v !== "string" ? wrong(at, "is no text") : v.length > most ? wrong(at, "is too long") : v;

export const one =
    <T extends string>(of: readonly T[]): Reader<T> =>
    (v, at) =>
        of.includes(v as T) ? (v as T) : wrong(at, `is none of ${of.join(", ")}`);

/** An integer of the protocol, which is text beyond 2^53. */
export const int: Reader<number | string> = (v, at) =>
    Number.isInteger(v) || (typeof v === "string" && /^-?\d{1,40}$/.test(v))
        ? (v as number | string)
        : wrong(at, "is no integer");

export const maybe =
    <T>(of: Reader<T>): Reader<T | null> =>
    (v, at) =>
        v === null ? null : of(v, at);

export const list =
    <T>(of: Reader<T>, most: number): Reader<T[]> =>
    (v, at) => {
        if (!Array.isArray(v)) return wrong(at, "is no list");
        if (v.length > most)
            return wrong(at, `has ${counted(v.length, "entry", "entries")}; at most ${most} are possible`);
        return v.map((x, i) => of(x, `${at}[${i}]`));
    };

/** A list with an entry for each reader. */
export const tuple =
    <T extends unknown[]>(...of: { [K in keyof T]: Reader<T[K]> }): Reader<T> =>
    (v, at) =>
        Array.isArray(v) && v.length === of.length
            ? (of.map((f, i) => (f as Reader<unknown>)(v[i], `${at}[${i}]`)) as T)
            : wrong(at, `is no list of ${of.length}`);

type Fields = Record<string, Reader<unknown>>;
type Optional<T> = { [K in keyof T]?: T[K] | undefined };
type Of<F extends Fields> = { [K in keyof F]: F[K] extends Reader<infer T> ? T : never };

/** The reader of an object, and the names of its fields. */
export type ObjectReader<T> = Reader<T> & { names: string[] };

/** An object that has the fields, perhaps those of `also`, and no others. */
export function object<F extends Fields, G extends Fields = Record<never, never>>(
    fields: F,
    also?: G,
): ObjectReader<Of<F> & Optional<Of<G>>> {
    const read: Reader<Of<F> & Optional<Of<G>>> = (v, at) => {
        if (typeof v !== "object" || v === null || Array.isArray(v)) return wrong(at, "is no object");
        const from = v as Record<string, unknown>;
        const out: Record<string, unknown> = {};
        for (const name of Object.keys(from)) {
            const reader = Object.hasOwn(fields, name)
                ? fields[name]
                : also && Object.hasOwn(also, name)
                  ? also[name]
                  : undefined;
            if (!reader) return wrong(at, `has the unknown field "${name.slice(0, 40)}"`);
            out[name] = reader(from[name], at ? `${at}.${name}` : name);
        }
        for (const name of Object.keys(fields))
            if (!Object.hasOwn(from, name)) return wrong(at, `lacks the field "${name}"`);
        return out as Of<F> & Optional<Of<G>>;
    };
    return Object.assign(read, { names: [...Object.keys(fields), ...Object.keys(also ?? {})] });
}

/** The fields of a value that a reader knows, in its order: what may be written for it. */
export const pick = <T>(by: ObjectReader<T>, v: object): object =>
    Object.fromEntries(by.names.filter((n) => Object.hasOwn(v, n)).map((n) => [n, (v as Record<string, unknown>)[n]]));

/** An object with any names. */
export const table =
    <T>(of: Reader<T>, most: number): Reader<Record<string, T>> =>
    (v, at) => {
        if (typeof v !== "object" || v === null || Array.isArray(v)) return wrong(at, "is no object");
        const all = Object.entries(v);
        if (all.length > most)
            return wrong(at, `has ${counted(all.length, "entry", "entries")}; at most ${most} are possible`);
        return Object.fromEntries(all.map(([name, x]) => [name, of(x, `${at}.${name.slice(0, 40)}`)]));
    };

/** A list of numbers, which may be long. */
export const numbers =
    (most: number, whole = false): Reader<number[]> =>
    (v, at) => {
        if (!Array.isArray(v)) return wrong(at, "is no list");
        if (v.length > most)
            return wrong(at, `has ${counted(v.length, "entry", "entries")}; at most ${most} are possible`);
        for (const x of v)
            if (whole ? !Number.isSafeInteger(x) : typeof x !== "number" || !Number.isFinite(x))
                return wrong(at, `has an entry that is no ${whole ? "integer" : "number"}`);
        return v as number[];
    };
