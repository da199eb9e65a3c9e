// seam.ts - the keys of a trace that goes on where another one of the same script has ended: its numbers of keys become those that stand for
// the same keys already.
import type { Change, Part, Row } from "./protocol.ts";
import { num } from "./protocol.ts";

const text = (parts: readonly Part[]) => JSON.stringify(parts.map((p) => (Array.isArray(p) ? p : String(p))));

export class Seam {
    private readonly known = new Map<string, number>();
    private readonly ids = new Map<number, number>();
    private next = 0;

    constructor(keys: ReadonlyMap<number, Part[]>) {
        for (const [id, parts] of keys) {
            this.known.set(text(parts), id);
            this.next = Math.max(this.next, id + 1);
        }
    }

    private key(id: number, parts?: readonly Part[]): number {
        if (id < 0) return id;
        const there = this.ids.get(id);
        if (there !== undefined && !parts) return there;
        const own = parts && this.known.get(text(parts));
        const now = own ?? this.next++;
        this.ids.set(id, now);
        if (parts) this.known.set(text(parts), now);
        return now;
    }

    change(c: Change): Change {
        const rows = (all: Row[] | undefined) => all?.map((r): Row => [this.key(num(r[0]!)), ...r.slice(1)]);
        const out: Change = { id: c.id };
        // keys first: the rows use them
        if (c.keys) out.keys = c.keys.map(([id, ...parts]) => [this.key(id, parts), ...parts]);
        const [add, now] = [rows(c.add), rows(c.now)];
        if (add) out.add = add;
        if (now) out.now = now;
        if (c.gone) out.gone = c.gone.map((id) => this.key(id));
        if (c.at_least) out.at_least = c.at_least.map((id) => this.key(id));
        if (c.normal !== undefined) out.normal = c.normal;
        return out;
    }
}
