// start.tsx - what is shown before there is a trace: scripts to begin with, each one click away.
import { useApp } from "../app.ts";
import { chooseFile } from "../keep.ts";
import { LiveMaps } from "./live.tsx";

/** Scripts for users who do not yet know what to ask, by the question that each answers first. */
const FIRST: [string, string][] = [
    ["latency.d", "Do processes wait to run?"],
    ["functions.d", "How long do functions take?"],
    ["flame.d", "Where is the time spent?"],
    ["messages.d", "Who talks to whom?"],
    ["runtime.d", "Which processes are busy?"],
    ["births.d", "What starts and ends?"],
];

const SHAPES: Record<string, string> = {
    heatmap: "M1 1h4v4H1zM6 1h4v4H6zM11 6h4v4h-4zM6 6h4v4H6zM11 11h4v4h-4zM1 11h4v4H1z",
    list: "M1 2h14v2.4H1zM1 6.8h9v2.4H1zM1 11.6h5V14H1z",
    flame: "M1 11h14v4H1zM1 6h8v4H1zM11 6h4v4h-4zM3 1h4v4H3z",
    series: "M1 15V13l4-5 4 3 6-8v12z",
    console: "M1 3l5 5-5 5v-3l2-2-2-2zM8 11h7v2H8z",
    records: "M1 2h14v2.4H1zM1 6.8h14v2.4H1zM1 11.6h14V14H1z",
};

export function Start() {
    const a = useApp();
    const ready = a.life.link === "open" && a.node !== null;
    const first = FIRST.flatMap(([name, question]) => {
        const script = a.scripts.find((s) => s.name === name);
        return script ? [{ script, question }] : [];
    });
    return (
        <div class={`start ${a.small.node ? "alive" : ""}`}>
            <h2>{a.phase === "starting" ? "Starting …" : "Watch a running system"}</h2>
            {a.phase !== "starting" && (
                <>
                    <p>
                        Write a script at the left or pick one, choose the node, and press <kbd>Run</kbd>. When you
                        stop, or close this page, tracing ends and the node is as it was.
                    </p>
                    <LiveMaps />
                    {first.length > 0 && (
                        <>
                            <h3>Or run one of these{a.node ? <> on {a.node}</> : ""}:</h3>
                            <ul class="first" data-testid="first">
                                {first.map(({ script, question }) => (
                                    <li key={script.name}>
                                        <button
                                            type="button"
                                            disabled={!ready}
                                            onClick={() => {
                                                a.load(script);
                                                a.run();
                                            }}
                                        >
                                            <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
                                                <path
                                                    d={SHAPES[script.view ?? "list"] ?? SHAPES.list}
                                                    fill="currentColor"
                                                />
                                            </svg>
                                            <b>{question}</b>
                                            <span>{script.title}</span>
                                            <code>
                                                {script.name}
                                                {script.args.map((x) => ` ${x.default ?? x.name}`)}
                                            </code>
                                        </button>
                                    </li>
                                ))}
                            </ul>
                        </>
                    )}
                    <p>
                        <button type="button" onClick={chooseFile} title="or drop its file anywhere (Ctrl O)">
                            Open a saved session …
                        </button>
                    </p>
                </>
            )}
        </div>
    );
}
