// head.tsx - the bar at the top: node, run and stop, what the trace is doing and what it costs.
import { useEffect, useState } from "preact/hooks";
import { app, useApp, type Theme } from "../app.ts";
import { ago, compact, duration, exact } from "../model/format.ts";
import { num } from "../model/protocol.ts";

/** Draws the component again each second while something runs, for its clock. */
function useTick(on: boolean): void {
    const [, set] = useState(0);
    useEffect(() => {
        if (!on) return;
        const timer = setInterval(() => set((n) => n + 1), 1000);
        return () => clearInterval(timer);
    }, [on]);
}

function NodeChooser() {
    const a = useApp();
    const known = a.nodes.some((n) => n.node === a.node);
    return (
        <label class="node" title={a.nodesError || "where to trace"}>
            <span>node</span>
            <select
                value={a.node ?? "\u0000"}
                aria-label="node"
                onChange={(e) => a.setNode(e.currentTarget.value)}
                onFocus={() => void a.fetchNodes()}
            >
                {a.node === null && <option value={"\u0000"}>{a.nodesError ? "not known" : "choose …"}</option>}
                {a.node !== null && !known && <option value={a.node}>{a.node || "this server (no Erlang)"}</option>}
                {a.nodes.map((n) => (
                    <option key={`${n.node}/${n.pid}`} value={n.node} disabled={!n.attachable} title={n.why ?? ""}>
                        {n.node === "" ? "this server (no Erlang)" : n.node}
                        {n.otp ? ` · OTP ${n.otp}` : ""}
                        {n.attachable ? "" : ` – ${n.why ?? "cannot be traced"}`}
                    </option>
                ))}
            </select>
            {a.busy && a.trace && a.trace.info.node !== a.node && <i title="the running trace is on another node">*</i>}
        </label>
    );
}

/** Whether scripts may look into terms on this node. */
function Terms() {
    const f = useApp().terms;
    if (!f) return null;
    const off = f.text.startsWith("hidden");
    return (
        <span class={`terms ${f.level === "ok" ? "" : "some"}`} title={`terms (arguments, results, messages, reasons) are ${f.text}`} data-testid="terms">
            terms {off ? "hidden" : f.level === "ok" ? "shown" : "partly hidden"}
        </span>
    );
}

function StopButton({ title }: { title: string }) {
    const a = useApp();
    return (
        <button type="button" class="stop" onClick={() => a.stop()} title={a.stopping ? "do not wait for the last results (s)" : title}>
            {a.stopping ? "■ Stop now" : "■ Stop"}
        </button>
    );
}

function Status() {
    const a = useApp();
    useTick(a.phase === "running");
    const t = a.trace;
    const silent = a.phase === "running" && !a.stopping ? (t?.silent ?? 0) : 0;
    const text = silent > 0 ? `no data for ${ago(silent)}` : a.stopping ? "stopping" : { idle: "ready", starting: a.progress ? "placing probes" : "starting", running: "running", stopped: "stopped", failed: "failed" }[a.phase];
    return (
        <div class="status" data-testid="status" data-phase={a.phase} title={t?.info.enabled.text ?? ""}>
            <span class={`dot ${silent > 0 ? "silent" : a.stopping ? "starting" : a.phase}`} />
            <span>{a.link === "open" ? text : a.link === "connecting" ? "connecting" : "no connection"}</span>
            {t && a.phase !== "starting" && a.phase !== "failed" && <span class="num">{duration(t.ran / 1000)}</span>}
            {t && a.phase === "running" && <span class="muted probes">{exact(t.info.enabled.probes)} {t.info.enabled.probes === 1 ? "probe" : "probes"}</span>}
            {t && a.phase === "running" && t.viewers > 1 && <span class="muted" title="pages that are viewing this trace">{t.viewers} viewers</span>}
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
            <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} title="the share of the node's busiest scheduler that the probes take, and how often they fire" data-testid="cost">
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
                                    {(c.probes.length > 0 ? c.probes : c.kinds).slice(0, 8).map(([name, events, ns, permille]) => (
                                        <tr key={name}>
                                            <td title={name}>{name}</td>
                                            <td>{compact((num(events) * 1000) / Math.max(1, c.dt))}</td>
                                            <td>{num(events) > 0 ? Math.round(num(ns) / num(events)) : "–"}</td>
                                            <td>{(permille / 10).toFixed(1)}</td>
                                        </tr>
                                    ))}
                                </tbody>
                            </table>
                            <p class="muted">{c.threads.slice(0, 4).map(([name, , , permille]) => `${name} ${(permille / 10).toFixed(1)} %`).join(" · ")}</p>
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
    const same = a.phase === "running" && a.trace !== null && a.trace.info.script === a.script && a.trace.info.node === (a.node ?? a.trace.info.node) && a.trace.info.args.join("\n") === a.args.slice(0, a.argNames.length).join("\n");
    return (
        <header class="head">
            <button type="button" class="icon" aria-pressed={side} title="script and library (b)" aria-label="script and library" onClick={() => onSide(!side)}>
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
                <StopButton title={a.trace && a.trace.viewers > 1 ? "stop viewing; other pages still are (s)" : "end the trace (s)"} />
            ) : (
                <>
                    <button type="button" class="run" disabled={a.script.trim() === "" || a.link !== "open" || !a.known || a.phase === "starting"} onClick={() => a.run()} title="run the script (Ctrl+Enter)">
                        ▶ Run
                    </button>
                    {a.busy && <StopButton title="end the trace (s)" />}
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
