// way.tsx - the steps that led here, each of which can be returned to with its data.
import { useApp } from "../app.ts";
import "../style/way.css";

export function WayBar() {
    const a = useApp();
    const { steps, at } = a.way;
    if (steps.length === 0) return null;
    const crumb = (i: number, text: string, title: string) => (
        <li key={i}>
            <button type="button" aria-current={i === at ? "step" : undefined} title={title} onClick={() => a.back(i)}>
                {text}
            </button>
        </li>
    );
    return (
        <nav class="way" aria-label="steps">
            <ol>
                {crumb(-1, "start", "the first page")}
                {steps.map((s, i) =>
                    crumb(
                        i,
                        [s.name || "your script", ...s.args].join(" "),
                        s.trace ? "show what was seen" : "its data were dropped for later steps: run it again",
                    ),
                )}
            </ol>
        </nav>
    );
}
