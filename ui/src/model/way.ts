// way.ts - the steps that led to what is shown. Each has its script and, while there is room, its data, and can be returned to.
import type { Chosen, Place } from "./look.ts";
import { CELLS, type Trace } from "./trace.ts";
import type { View } from "./url.ts";

/** Most steps that are kept. */
export const STEPS = 12;

export interface Step {
    name: string;
    script: string;
    args: string[];
    options: Readonly<Record<string, string>>; // of the run
    node: string | null;
    also: readonly string[]; // nodes besides it
    view: View;
    trace: Trace | null; // null: its data were dropped
    /** What is, or was when it was left, in view and chosen. */
    look: Place & { chosen: Chosen | null };
    /** What is run, as an address has it. */
    address: string;
}

type Numbered = Step & { id: number };

const same = (a: Step, b: Step) =>
    a.script === b.script &&
    a.node === b.node &&
    a.also.join() === b.also.join() &&
    a.args.join("\n") === b.args.join("\n");

/** A list of steps, and which of them is shown; the cells of all together are bounded. */
export class Way {
    steps: Numbered[] = [];
    at = -1; // the first page

    /** last: the number before that of the first step. Larger than all of a page that was loaded before: its numbers are in the browser's history. */
    constructor(private last = 0) {}

    /** The number of a step, which it keeps; that of the first page is 0. */
    idOf(at: number): number {
        return this.steps[at]?.id ?? 0;
    }

    /** That of the step that is shown. */
    get id(): number {
        return this.idOf(this.at);
    }

    /** The place of the step with this number; null: there is none any more. */
    find(id: number): number | null {
        const at = this.steps.findIndex((s) => s.id === id);
        return id === 0 || at >= 0 ? at : null;
    }

    get step(): Numbered | null {
        return this.steps[this.at] ?? null;
    }

    /** A trace has begun: a new step after the one that is shown, or that one again. */
    add(step: Step): void {
        const here = this.step;
        const again = here && same(here, step);
        const id = again ? here.id : ++this.last;
        this.steps = [...this.steps.slice(0, again ? this.at : this.at + 1), { ...step, id }].slice(-STEPS);
        this.at = this.steps.length - 1;
        this.bound();
    }

    /** Drops the data of the steps farthest from the one that is shown, until what is left has room. */
    bound(most = CELLS): void {
        let cells = 0;
        const near = [...this.steps.keys()].sort((a, b) => Math.abs(a - this.at) - Math.abs(b - this.at));
        for (const i of near) {
            const s = this.steps[i]!;
            cells += s.trace?.size ?? 0;
            if (cells > most && i !== this.at) s.trace = null;
        }
    }
}
