// chip.tsx - which times and keys the views show, if not all, with a button that shows all again.
import { app } from "../app.ts";
import { clock, counted } from "../model/format.ts";
import { type Aggregation, keyText } from "../model/trace.ts";
import "../style/chip.css";

export function LookChip({ agg }: { agg: Aggregation | null }) {
    const { look } = app;
    const { range } = look;
    const keys = agg ? [...look.of(agg).filter].map((k) => keyText(agg.parts(k))) : [];
    if (!range && keys.length === 0) return null;
    const said = [
        range ? `${clock(range.from / 1000)} to ${clock(range.to / 1000)}` : "",
        keys.length > 0 ? counted(keys.length, "key") : "",
    ];
    return (
        <span class="chip" data-testid="look" title={keys.join("\n")}>
            <span>{said.filter(Boolean).join(", ")}</span>
            <button
                type="button"
                aria-label="back to all times and keys"
                title="back to all times and keys"
                onClick={() => look.set({ range: null, filter: new Set(), chosen: null })}
            >
                ×
            </button>
        </span>
    );
}
