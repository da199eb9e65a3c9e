// plan.tsx - below the script: what it would match, and the options of its run as fields.
import { useState } from "preact/hooks";
import { useApp } from "../app.ts";
import { estimates, narrowed } from "../model/matched.ts";
import { FOR, nanoseconds, OPTION_FIELDS, wrong } from "../model/options.ts";
import { get } from "../net/session.ts";
import "../style/plan.css";

/** What the script matches on the chosen nodes. */
export function Estimate() {
    const a = useApp();
    const enabled = a.phase === "running" ? a.trace?.info.enabled.text : null;
    const text = enabled ? `placed: ${enabled}` : estimates(a.plan.matched).join(" · ");
    return (
        <p class="estimate" data-testid="estimate" role="status">
            {text}
        </p>
    );
}

function Field({
    name,
    label,
    title,
    standard,
    problem,
}: {
    name: string;
    label: string;
    title: string;
    standard: string;
    problem: string;
}) {
    const a = useApp();
    const id = `option-${name}`;
    return (
        <div class={`option ${problem ? "wrong" : ""}`} title={title}>
            <label for={id}>{label}</label>
            <input
                id={id}
                value={a.plan.options[name] ?? ""}
                placeholder={standard}
                spellcheck={false}
                autocomplete="off"
                aria-invalid={problem !== ""}
                aria-describedby={problem ? `${id}-problem` : undefined}
                onInput={(e) => a.setOption(name, e.currentTarget.value.trim())}
                onKeyDown={(e) => e.key === "Enter" && a.run()}
            />
            {problem && (
                <span id={`${id}-problem`} class="option-problem" role="alert">
                    {problem}
                </span>
            )}
        </div>
    );
}

export function Options() {
    const a = useApp();
    const set = Object.entries(a.plan.options);
    const until = a.plan.options[FOR] ?? "";
    const length = nanoseconds(until) ?? 0;
    const [open, setOpen] = useState(set.length > 0);
    return (
        <div class="options">
            <button type="button" class="options-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
                <span aria-hidden="true">{open ? "▾" : "▸"}</span> options
                {!open && set.length > 0 && (
                    <span class="muted mono"> {set.map(([k, v]) => `${k}=${v}`).join(" ")}</span>
                )}
            </button>
            {open && (
                <div class="options-fields">
                    <Field
                        name={FOR}
                        label="stop after"
                        title="the page stops the trace after this time: 30s, 5m; empty: it runs until you stop it"
                        standard="never"
                        problem={until === "" || length >= 1e9 ? "" : "a time with its unit: 30s, 5m"}
                    />
                    {OPTION_FIELDS.map((f) => (
                        <Field
                            key={f.name}
                            name={f.name}
                            label={f.label}
                            title={`${f.name}: ${f.text}`}
                            standard={f.standard}
                            problem={wrong(f, a.plan.options[f.name] ?? "")}
                        />
                    ))}
                </div>
            )}
        </div>
    );
}

/** Asks before a run that is dear. */
export function Confirm() {
    const a = useApp();
    const [module, setModule] = useState("");
    const [modules, setModules] = useState<string[]>([]);
    const d = a.plan.asking;
    if (!d) return null;
    const complete = (prefix: string) => {
        setModule(prefix);
        if (a.node !== null)
            get<{ items: string[] }>("/api/modules", { node: a.node, prefix, limit: 50 }).then(
                (m) => setModules(m.items),
                () => {},
            );
    };
    const next = module === "" ? null : narrowed(a.script, d, module);
    const narrow = () => {
        if (next !== null) a.rewrite(next);
    };
    return (
        <div class="banner warn confirm" role="alert" data-testid="confirm">
            <p>
                <b>This run is dear</b> {d.text}
            </p>
            <button type="button" onClick={() => a.run(true)}>
                run anyway
            </button>
            <label class="narrow">
                <span>narrow to module</span>
                <input
                    value={module}
                    list="confirm-modules"
                    autocomplete="off"
                    spellcheck={false}
                    onFocus={() => complete(module)}
                    onInput={(e) => complete(e.currentTarget.value)}
                    onKeyDown={(e) => e.key === "Enter" && narrow()}
                />
                <datalist id="confirm-modules">
                    {modules.map((m) => (
                        <option key={m} value={m} />
                    ))}
                </datalist>
            </label>
            <button type="button" disabled={next === null} onClick={narrow}>
                narrow and run
            </button>
            <button type="button" onClick={() => a.unask()}>
                do not run
            </button>
        </div>
    );
}
