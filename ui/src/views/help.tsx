// help.tsx - the keys.
import { useEffect, useRef } from "preact/hooks";
import { app } from "../app.ts";

const KEYS: [string, [string, string][]][] = [
    [
        "Everywhere",
        [
            ["Ctrl Enter", "run the script"],
            ["r  s", "run, stop"],
            ["Space", "pause, resume"],
            ["1 … 6", "the views"],
            ["/", "search"],
            ["e", "go to the editor (Esc leaves it)"],
            ["b", "show or hide script and library"],
            ["n", "a note at this time"],
            ["Ctrl S, Ctrl O", "save the session, open one"],
            ["Tab, arrows", "to the next group; within a group"],
            ["?", "this help"],
        ],
    ],
    [
        "Editor",
        [
            ["Ctrl Space", "probes, modules, functions, words of D"],
            ["Ctrl F", "search and replace"],
            ["Ctrl /", "comment"],
            ["F8", "next problem"],
        ],
    ],
    [
        "Heat map",
        [
            ["click", "the keys of a cell"],
            ["drag", "a rectangle: its keys compared with the rest"],
            ["Shift drag", "zoom"],
            ["← →", "look back ten minutes"],
            ["↑ ↓, Shift ← →", "choose a cell"],
            ["0, double click", "reset zoom"],
            ["Esc", "clear the selection"],
        ],
    ],
    [
        "Flame graph",
        [
            ["click", "zoom to a frame"],
            ["Esc", "the whole graph"],
        ],
    ],
];

export function Help({ onClose }: { onClose: () => void }) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => dialog.current!.showModal(), []);
    return (
        <dialog
            class="help"
            ref={dialog}
            onClose={onClose}
            onClick={(e) => e.target === dialog.current && dialog.current!.close()}
            aria-label="keys"
        >
            <div class="help-body">
                {KEYS.map(([title, rows]) => (
                    <section key={title}>
                        <h2>{title}</h2>
                        <dl>
                            {rows.map(([k, what]) => (
                                <div key={k}>
                                    <dt>
                                        <kbd>{k}</kbd>
                                    </dt>
                                    <dd>{what}</dd>
                                </div>
                            ))}
                        </dl>
                    </section>
                ))}
            </div>
            <footer>
                <span>erltrace {app.version}</span>
                <button type="button" onClick={() => dialog.current!.close()}>
                    close
                </button>
            </footer>
        </dialog>
    );
}
