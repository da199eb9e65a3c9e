// side.tsx - script and library folded to a bar: while results are shown they have the whole width, unless the user wants both.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { store, useApp } from "../app.ts";
import "../style/side.css";

const KEPT = "erltrace.side"; // "open", "folded": what the user chose while results were shown

/**
 * Whether script and library are unfolded, and a function that changes it. A trace that begins, or a session that is opened, folds them; an
 * error of the script unfolds them. What the user chooses is kept for later traces, but on a phone, where results lie below them, each trace
 * folds them.
 */
export function useSide(): [boolean, (change: (on: boolean) => boolean) => void] {
    const a = useApp();
    const [on, set] = useState(true);
    const wrong = a.phase === "failed" && a.diagnostics.some((d) => d.severity === "error");
    useEffect(() => {
        if (a.phase === "running" || a.trace?.origin)
            set(store.get(KEPT) === "open" && !matchMedia("(max-width: 760px)").matches);
    }, [a.phase, a.trace]);
    useEffect(() => {
        if (wrong) set(true);
    }, [wrong]);
    return [
        on,
        (change) =>
            set((old) => {
                const now = change(old);
                if (a.trace && now !== old) store.set(KEPT, now ? "open" : "folded");
                return now;
            }),
    ];
}

/** The name of the script, and whether it differs from the ready-made one of this name. */
export function ScriptName() {
    const a = useApp();
    return (
        <span class="script-name" title={a.ready ? a.ready.title : "a script of your own"}>
            {a.name ? (
                <>
                    {a.name}
                    {!a.ready && a.scripts.some((s) => s.name === a.name) && <i> changed</i>}
                </>
            ) : (
                <i>{a.script ? "your script" : "no script"}</i>
            )}
        </span>
    );
}

/** What is left of script and library when they are folded: the name, the fields of the arguments, and the way back. */
export function ScriptBar({ onUnfold, children }: { onUnfold: () => void; children: ComponentChildren }) {
    const a = useApp();
    return (
        <section class="script-bar" aria-label="script" data-testid="script-bar">
            <button type="button" aria-expanded={false} onClick={onUnfold} title="show script and library (b)">
                <span aria-hidden="true">▸ </span>script
            </button>
            <ScriptName />
            {children}
            {a.ready && <p class="script-title">{a.ready.title}</p>}
        </section>
    );
}
