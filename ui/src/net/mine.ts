// mine.ts - what this page keeps for itself across a reload: who it is, and which trace it was watching. It is kept for this tab only.
const PAGE = "erltrace.page";
const LEFT = "erltrace.trace";

export interface Left {
    server: string; // which run of the server
    trace: number;
    /** Several nodes: the trace of each. */
    traces?: [node: string, trace: number][];
    place: string; // what was in the address
}

function get(key: string): string | null {
    try {
        return sessionStorage.getItem(key);
    } catch {
        return null;
    }
}

function set(key: string, value: string | null): void {
    try {
        if (value === null) sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, value);
    } catch {
        // a browser that stores nothing: a reload begins anew
    }
}

let known = "";

/** The number by which the server recognises this page: 128 random bits. */
export function page(): string {
    known ||= get(PAGE) ?? "";
    if (!/^[0-9a-f]{32}$/.test(known))
        known = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
    set(PAGE, known);
    return known;
}

export const keep = (left: Left): void => set(LEFT, JSON.stringify(left));
export const forget = (): void => set(LEFT, null);

/** The trace that this page was watching before it was loaded again. With `place`: unless somebody has gone to another address since. */
export function left(place?: string): Left | null {
    let found: Partial<Left> | null = null;
    try {
        found = JSON.parse(get(LEFT) ?? "null") as Partial<Left> | null;
    } catch {
        // not ours
    }
    if (typeof found?.server !== "string" || typeof found.trace !== "number" || typeof found.place !== "string")
        return null;
    const traces: unknown = found.traces ?? [];
    if (!Array.isArray(traces) || !traces.every((t) => Array.isArray(t) && typeof t[0] === "string" && t[1] >= 0))
        return null;
    const how = (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined)?.type;
    if (place !== undefined && how === "navigate" && found.place !== place) return null;
    return found as Left;
}
