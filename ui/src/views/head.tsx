// head.tsx - the bar at the top: node, run and stop, what the trace is doing and what it costs.
import { useEffect, useState } from "preact/hooks";
import { app, type Theme, useApp } from "../app.ts";
import { compact, counted, duration } from "../model/format.ts";
import { num } from "../model/protocol.ts";
import "../style/life.css";
import { NodeChooser } from "./nodes.tsx";

/** Draws the component again each second while something runs, for its clock. */
function useTick(on: boolean): void {
    const [, set] = useState(0);
    useEffect(() => {
        if (!on) return;
        const timer = setInterval(() => set((n) => n + 1), 1000);
        return () => clearInterval(timer);
    }, [on]);
}

/** Whether scripts may look into terms on this node. */
function Terms() {
    const a = useApp();
    const f = a.terms;
    if (!f || a.also.length > 0) return null;
    const off = f.text.startsWith("hidden");
    return (
        <span
            class={`terms ${f.level === "ok" ? "" : "some"}`}
            title={`terms (arguments, results, messages, reasons) are ${f.text}`}
            data-testid="terms"
        >
            terms {off ? "hidden" : f.level === "ok" ? "shown" : "partly hidden"}
        </span>
    );
}

function StopButton({ title }: { title: string }) {
    const a = useApp();
    return (
        <button
            type="button"
            class="stop"
            onClick={() => a.stop()}
            title={a.stopping ? "do not wait for the last results (s)" : title}
        >
            {a.stopping ? "■ Stop now" : "■ Stop"}
        </button>
    );
}

function Status() {
    const a = useApp();
    useTick(a.phase === "running");
    const t = a.trace;
    const told = a.told;
    return (
        <div
            class="status"
            data-testid="status"
            data-phase={a.phase}
            data-state={told.state}
            title={t?.info.enabled.text ?? ""}
        >
            {told.title ? (
                <span class="state-icon" aria-hidden="true">
                    {told.icon}
                </span>
            ) : (
                <span class={`dot ${told.state}`} />
            )}
            <span>{told.text}</span>
            <span class="unseen" role="status">
                {told.say}
            </span>
            {t && a.phase !== "starting" && a.phase !== "failed" && <span class="num">{duration(t.ran / 1000)}</span>}
            {t && a.phase === "running" && <span class="muted probes">{counted(t.info.enabled.probes, "probe")}</span>}
            {t && a.phase === "running" && t.viewers > 1 && (
                <span class="muted" title="pages that are viewing this trace">
                    {t.viewers} viewers
                </span>
            )}
        </div>
    );
}

/** The cost of the trace for the node: the share of the busiest scheduler's time, and how often probes fire. */
function CostFigure() {
    const a = useApp();
    const [open, setOpen] = useState(false);
    const t = a.trace;
    if (!t || t.cost.size === 0 || a.phase === "failed" || a.phase === "idle") return null;
    const costs = [...t.cost.values()];
    const share = Math.max(...costs.map((c) => c.share)) / 10;
    const fired = costs.reduce((sum, c) => sum + (num(c.fired) * 1000) / Math.max(1, c.dt), 0);
    const level = share >= 20 ? "high" : share >= 5 ? "some" : "low";
    const over = a.phase !== "running";
    return (
        <div class={`cost ${level} ${over ? "over" : ""}`}>
            <button
                type="button"
                aria-expanded={open}
                onClick={() => setOpen(!open)}
                title="the share of the node's busiest scheduler that the probes take, and how often they fire"
                data-testid="cost"
            >
                <span class="cost-label">{over ? "cost was" : "cost"}</span>
                <b>{share < 0.1 ? "<0.1" : share.toFixed(share < 10 ? 1 : 0)} %</b>
                <span class="muted">of a scheduler</span>
                <b>{compact(fired)}</b>
                <span class="muted">probes/s</span>
            </button>
            {open && (
                <div class="cost-more" role="dialog" aria-label="cost of the trace">
                    {costs.map((c) => (
                        <section key={c.node}>
                            <h4>{c.node || "this server"}</h4>
                            <table>
                                <thead>
                                    <tr>
                                        <th>probe</th>
                                        <th>/s</th>
                                        <th>ns each</th>
                                        <th>%</th>
                                    </tr>
                                </thead>
                                <tbody>
                                    {(c.probes.length > 0 ? c.probes : c.kinds)
                                        .slice(0, 8)
                                        .map(([name, events, ns, permille]) => (
                                            <tr key={name}>
                                                <td title={name}>{name}</td>
                                                <td>{compact((num(events) * 1000) / Math.max(1, c.dt))}</td>
                                                <td>{num(events) > 0 ? Math.round(num(ns) / num(events)) : "–"}</td>
                                                <td>{(permille / 10).toFixed(1)}</td>
                                            </tr>
                                        ))}
                                </tbody>
                            </table>
                            <p class="muted">
                                {c.threads
                                    .slice(0, 4)
                                    .map(([name, , , permille]) => `${name} ${(permille / 10).toFixed(1)} %`)
                                    .join(" · ")}
                            </p>
                        </section>
                    ))}
                </div>
            )}
        </div>
    );
}

const THEMES: [Theme, string, string][] = [
    ["auto", "◐", "same as the system"],
    ["light", "☀", "light"],
    ["dark", "☾", "dark"],
];

export function Head({ onHelp, side, onSide }: { onHelp: () => void; side: boolean; onSide: (on: boolean) => void }) {
    const a = useApp();
    const theme = THEMES.find(([t]) => t === a.theme)!;
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
    const same =
        a.phase === "running" &&
        a.trace !== null &&
        a.trace.info.script === a.script &&
        (a.node === null || a.trace.info.node === a.chosen.join(", ")) &&
        a.trace.info.args.join("\n") === a.args.slice(0, a.argNames.length).join("\n");
    const stop = a.trace?.recorded
        ? "stop viewing; the recording goes on (s)"
        : a.trace && a.trace.viewers > 1
          ? "stop viewing; other pages still are (s)"
          : "end the trace (s)";
    return (
        <header class="head">
            <button
                type="button"
                class="icon"
                aria-pressed={side}
                title="script and library (b)"
                aria-label="script and library"
                onClick={() => onSide(!side)}
            >
                <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                    <rect x="1.5" y="2.5" width="13" height="11" rx="2" fill="none" stroke="currentColor" />
                    <path d="M6 2.5v11" stroke="currentColor" />
                    {side && <rect x="2" y="3" width="4" height="10" fill="currentColor" opacity="0.35" />}
                </svg>
            </button>
            <h1>
                erl<b>trace</b>
            </h1>
            <NodeChooser />
            <Terms />
            {a.busy && same ? (
                <StopButton title={stop} />
            ) : (
                <>
                    <button
                        type="button"
                        class="run"
                        disabled={
                            a.script.trim() === "" || a.life.link !== "open" || !a.known || a.phase === "starting"
                        }
                        onClick={() => a.run()}
                        title="run the script (Ctrl+Enter)"
                    >
                        ▶ Run
                    </button>
                    {a.busy && <StopButton title={stop} />}
                </>
            )}
            <Status />
            <span class="grow" />
            <CostFigure />
            <button
                type="button"
                class="icon"
                title={`colours: ${theme[2]}`}
                aria-label={`colours: ${theme[2]}`}
                onClick={() => a.setTheme(next[0])}
            >
                {theme[1]}
            </button>
            <button type="button" class="icon" title="keys and help (?)" aria-label="help" onClick={onHelp}>
                ?
            </button>
        </header>
    );
}

export { app };
