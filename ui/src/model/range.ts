// range.ts - what came in some columns: the value of each key, as if the script had begun with the first and ended with the last of them.
import { bump, type Hist } from "./buckets.ts";
import { mergeInto } from "./functions.ts";
import type { Aggregation, Column, Value } from "./trace.ts";

/** The values of the keys, or of some of them. Key ALL stands for what came in columns whose keys are not kept. */
export function valuesIn(
    agg: Aggregation,
    columns: readonly Column[],
    keys: ReadonlySet<number> | null,
): Map<number, Value> {
    const out = new Map<number, Value>();
    for (const column of columns) {
        const cells = column.cells.get(agg.id);
        if (!cells) continue;
        for (let i = 0; i < cells.keys.length; i++) {
            const key = cells.keys[i]!;
            if (keys && !keys.has(key)) continue;
            const old = out.get(key);
            if (cells.bucket) {
                const h = (old as Hist | undefined) ?? new Map<number, number>();
                bump(h, cells.bucket[i]!, cells.a[i]!);
                if (!old) out.set(key, h);
                continue;
            }
            const more = [cells.a[i]!, ...(cells.b ? [cells.b[i]!] : []), ...(cells.c ? [cells.c[i]!] : [])];
            if (old) mergeInto(agg.fn, old as number[], more);
            else out.set(key, more);
        }
    }
    return out;
}
