// keytable.ts - the keys of the columns in view with count, median and 99th percentile, kept from one second to the next.
//
// Columns in view may have millions of cells, but from one second to the next one column comes and one goes. So the sums by key and bucket
// stay, one line of `sums` for each key; new cells are added, and cells that are gone are subtracted. Counts are integers, so that this
// loses nothing. Cells of a column never change: when its keys are given up it gets new ones.
import { type Buckets, quantile } from "./buckets.ts";
import { type KeyRow, keyTable } from "./heat.ts";
import { type Aggregation, ALL, type Cells, type Column } from "./trace.ts";

/** Most numbers that are kept; beyond that everything is counted again each time. */
const MOST = 8_000_000;

export class KeyTable {
    /** The work so far: cells that were added or subtracted, and lines whose percentiles were computed. */
    visited = 0;
    worked = 0;
    private asked: ReadonlySet<Cells> = new Set();
    private have = new Set<Cells>(); // whose numbers are in `sums`
    private lines = new Map<number, number>(); // by key
    private rows: (KeyRow | null)[] = []; // by line; null: to be computed
    private sums = new Float64Array(0);
    private total = 0;
    private unknown = 0;

    constructor(
        private readonly agg: Aggregation,
        private readonly most = MOST,
    ) {}

    /** The keys of these columns, the largest first; how many values there are, and how many with unknown keys. */
    of(columns: readonly Column[]): { keys: KeyRow[]; total: number; unknown: number } {
        const wanted = new Set<Cells>();
        for (const c of columns) {
            const cells = c.cells.get(this.agg.id);
            if (cells?.bucket) wanted.add(cells);
        }
        this.asked = wanted;
        if (this.agg.keys.size * this.agg.buckets!.count > this.most) {
            this.clear();
            return keyTable(this.agg, columns);
        }
        const size = (of: Iterable<Cells>) => [...of].reduce((n, c) => n + c.keys.length, 0);
        let gone = [...this.have].filter((c) => !wanted.has(c));
        if (size(gone) > size(wanted)) {
            this.clear();
            gone = [];
        }
        for (const c of gone) this.add(c, -1);
        for (const c of wanted) if (!this.have.has(c)) this.add(c, 1);
        this.have = wanted;
        const buckets = this.agg.buckets!;
        const keys: KeyRow[] = [];
        for (const [key, line] of this.lines) {
            const row = (this.rows[line] ??= this.row(key, line, buckets));
            if (row.count > 0) keys.push({ ...row, share: row.count / this.total });
        }
        keys.sort((x, y) => y.count - x.count || x.key - y.key);
        return { keys, total: this.total, unknown: this.unknown };
    }

    /** The histogram of a key of the columns that were asked about last, by bucket. */
    counts(key: number): ArrayLike<number> {
        const wide = this.agg.buckets!.count;
        const line = this.lines.get(key);
        if (line !== undefined) return this.sums.subarray(line * wide, (line + 1) * wide);
        const out = new Float64Array(wide);
        for (const { keys, bucket, a } of this.asked)
            for (let i = 0; i < keys.length; i++) if (keys[i] === key && a[i]! > 0) out[bucket![i]!]! += a[i]!;
        return out;
    }

    private clear(): void {
        this.have = new Set();
        this.lines.clear();
        this.rows = [];
        this.sums = new Float64Array(0);
        this.total = this.unknown = 0;
    }

    private add({ keys, bucket, a }: Cells, sign: 1 | -1): void {
        const wide = this.agg.buckets!.count;
        this.visited += keys.length;
        for (let i = 0; i < keys.length; i++) {
            if (a[i]! <= 0) continue;
            const n = sign * a[i]!;
            this.total += n;
            const key = keys[i]!;
            if (key === ALL) {
                this.unknown += n;
                continue;
            }
            let line = this.lines.get(key);
            if (line === undefined) {
                this.lines.set(key, (line = this.lines.size));
                if ((line + 1) * wide > this.sums.length) {
                    const more = new Float64Array(Math.max(64, 2 * line) * wide);
                    more.set(this.sums);
                    this.sums = more;
                }
            }
            this.rows[line] = null;
            this.sums[line * wide + bucket![i]!]! += n;
        }
    }

    private row(key: number, line: number, buckets: Buckets): KeyRow {
        const counts = this.sums.subarray(line * buckets.count, (line + 1) * buckets.count);
        this.worked++;
        let count = 0;
        for (const n of counts) count += n;
        return {
            key,
            count,
            share: 0,
            p50: quantile(counts, 0, counts.length - 1, count, buckets, 0.5),
            p99: quantile(counts, 0, counts.length - 1, count, buckets, 0.99),
        };
    }
}
