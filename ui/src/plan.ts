// plan.ts - what a run is given besides its script (options, an end), and what it would match.
import { type Dear, dear } from "./model/matched.ts";
import { FOR, nanoseconds, OPTION_FIELDS, wrong } from "./model/options.ts";
import type { Matched } from "./model/protocol.ts";

export class Plan {
    /** The fields that are not empty, by name. */
    options: Readonly<Record<string, string>> = {};
    /** What the script of the last check matches, node by node as far as that is known; none: it was changed since. */
    matched: Matched[] = [];
    /** Why a run is asked about first; null: nothing is. */
    asking: Dear | null = null;
    private end = 0;

    set(name: string, value: string): void {
        const { [name]: _, ...others } = this.options;
        this.options = value === "" ? others : { ...others, [name]: value };
    }

    /** Whether every field has a value that the server takes. */
    get valid(): boolean {
        const until = this.options[FOR];
        return (
            OPTION_FIELDS.every((f) => wrong(f, this.options[f.name] ?? "") === "") &&
            (until === undefined || (nanoseconds(until) ?? 0) >= 1e9)
        );
    }

    /** What messages to the server have of it. */
    get given(): { options?: Record<string, string> } {
        const { [FOR]: _, ...options } = this.options;
        return Object.keys(options).length > 0 ? { options } : {};
    }

    /** Whether a run of what was checked has to be asked about. */
    ask(): boolean {
        this.asking = dear(this.matched);
        return this.asking !== null;
    }

    /** A trace has started; `stop` is called when it has run as long as was asked for. */
    started(stop: () => void): void {
        this.stopped();
        const ns = nanoseconds(this.options[FOR] ?? "");
        if (ns !== null) this.end = window.setTimeout(stop, ns / 1e6);
    }

    stopped(): void {
        clearTimeout(this.end);
    }
}
