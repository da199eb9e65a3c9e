// nodes.tsx - the choice of one node or several, and what each of several is doing.
import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../app.ts";
import type { Member } from "../group.ts";
import { ago, counted } from "../model/format.ts";
import type { Now } from "../model/life.ts";
import { num } from "../model/protocol.ts";
import { MOST_NODES } from "../model/url.ts";
import { Segments } from "./widgets.tsx";
import "../style/nodes.css";

const nameOf = (node: string, kernel: boolean) =>
    node || (kernel ? "no node (the server's host)" : "this server (no Erlang)");

export function NodeChooser() {
    const a = useApp();
    const [open, setOpen] = useState(false);
    const box = useRef<HTMLDivElement>(null);
    const button = useRef<HTMLButtonElement>(null);
    useEffect(() => {
        if (!open) return;
        box.current!.querySelector<HTMLElement>("input:enabled")?.focus();
        const away = (e: Event) => {
            if (!box.current!.contains(e.target as Node)) setOpen(false);
        };
        addEventListener("pointerdown", away);
        return () => removeEventListener("pointerdown", away);
    }, [open]);
    const key = (e: KeyboardEvent) => {
        if (!open || e.key !== "Escape") return;
        e.preventDefault();
        setOpen(false);
        button.current!.focus();
    };
    const known = (node: string | null) => a.nodes.some((n) => n.node === node);
    const several = a.chosen.length > 1;
    const rows = [
        ...a.nodes.filter((n) => n.node !== ""),
        ...a.chosen
            .filter((node) => node !== "" && !known(node))
            .map((node) => ({ node, pid: 0, otp: null, attachable: true, why: null })),
    ];
    const flip = (node: string) => {
        const rest = a.chosen.filter((x) => x !== node && x !== "");
        const [first, ...also] = a.chosen.includes(node) ? rest : [...rest, node];
        if (first !== undefined) a.setNodes(first, also);
    };
    const other = a.busy && a.trace && a.trace.info.node !== a.chosen.join(", ");
    return (
        <div class="node" ref={box} onKeyDown={key}>
            {!several && (
                <label class="node" title={a.nodesError || "where to trace"}>
                    <span>node</span>
                    <select
                        value={a.node ?? "\u0000"}
                        aria-label="node"
                        onChange={(e) => a.setNodes(e.currentTarget.value)}
                        onFocus={() => void a.fetchNodes()}
                    >
                        {a.node === null && <option value={"\u0000"}>{a.nodesError ? "not known" : "choose …"}</option>}
                        {a.node !== null && !known(a.node) && (
                            <option value={a.node}>{nameOf(a.node, a.kernel)}</option>
                        )}
                        {a.nodes.map((n) => (
                            <option
                                key={`${n.node}/${n.pid}`}
                                value={n.node}
                                disabled={!n.attachable}
                                title={n.why ?? ""}
                            >
                                {nameOf(n.node, a.kernel)}
                                {n.otp ? ` · OTP ${n.otp}` : ""}
                                {n.attachable ? "" : ` – ${n.why ?? "cannot be traced"}`}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <button
                type="button"
                class="several"
                ref={button}
                aria-expanded={open}
                aria-haspopup="dialog"
                aria-label={several ? `${counted(a.chosen.length, "node")}: ${a.chosen.join(", ")}` : "several nodes"}
                title={several ? a.chosen.join("\n") : "trace several nodes at once"}
                onClick={() => {
                    void a.fetchNodes();
                    setOpen(!open);
                }}
            >
                {several ? counted(a.chosen.length, "node") : "+"} {several && <span class="caret">▾</span>}
            </button>
            {other && <i title="the running trace is on another node">*</i>}
            {open && (
                <div class="nodes-list" role="dialog" aria-label="nodes to trace">
                    {rows.map((n) => {
                        const on = a.chosen.includes(n.node);
                        return (
                            <label key={`${n.node}/${n.pid}`}>
                                <input
                                    type="checkbox"
                                    checked={on}
                                    disabled={on ? !several : !n.attachable || a.chosen.length >= MOST_NODES}
                                    onChange={() => flip(n.node)}
                                />
                                <span class="mono">{n.node}</span>
                                <span class="muted">
                                    {n.attachable ? (n.otp ? `OTP ${n.otp}` : "") : (n.why ?? "cannot be traced")}
                                </span>
                            </label>
                        );
                    })}
                    {rows.length === 0 && <p class="muted">{a.nodesError || "no node is known"}</p>}
                </div>
            )}
        </div>
    );
}

type State = "starting" | "running" | "silent" | "lost" | "ended" | "failed";

/** What a node is doing: in one word, and in words. */
function stateOf(m: Member, stopping: boolean): [State, string, string?] {
    if (m.failed) return ["failed", `did not start: ${m.failed.text}`, m.failed.hint ?? undefined];
    const s = m.trace?.stopped;
    if (s?.reason === "lost") return ["lost", `lost: ${s.text ?? ""}`, s.hint ?? undefined];
    if (s?.reason === "exit") return ["ended", `ended: exit(${s.status ?? 0})`];
    if (s) return ["ended", s.reason === "left" || s.reason === "user" ? "stopped" : `ended: ${s.text ?? s.reason}`];
    if (m.phase === "idle") return ["ended", "not started"];
    if (m.life.lost) {
        const { state, text, more } = m.life.tell(RUNNING, Date.now());
        return [state === "node" || state === "gone" ? "lost" : "silent", text, more];
    }
    if (stopping) return ["starting", "stopping"];
    if (m.trace) return m.trace.silent > 0 ? ["silent", `no data for ${ago(m.trace.silent)}`] : ["running", "running"];
    const { done, total } = m.progress ?? { done: 0, total: 0 };
    return ["starting", num(total) > 0 ? `placing probes ${Math.floor((100 * num(done)) / num(total))} %` : "starting"];
}

const RUNNING: Now = { phase: "running", silent: 0, stopping: false, placing: false, reason: null, saved: false };

const DOTS: Record<State, string> = {
    starting: "starting",
    running: "running",
    silent: "silent",
    lost: "failed",
    ended: "",
    failed: "failed",
};

/** Each of several nodes with its state and cost, and how they are shown. */
export function NodesBar() {
    const a = useApp();
    const g = a.group;
    if (!g) return null;
    return (
        <section class="nodes" aria-label="nodes">
            <ul>
                {g.members.map((m) => {
                    const [state, text, hint] = stateOf(m, a.stopping);
                    const cost = [...(m.trace?.cost.values() ?? [])][0];
                    return (
                        <li
                            key={m.node}
                            class={`chip ${state}`}
                            data-testid="node"
                            data-node={m.node}
                            data-state={state}
                        >
                            <span class={`dot ${DOTS[state]}`} aria-hidden="true" />
                            <b>{m.node}</b>
                            <span>{text}</span>
                            {hint && <em>{hint}</em>}
                            {cost && m.phase === "running" && (
                                <span class="num" title="the share of its busiest scheduler that the probes take">
                                    {cost.share < 1 ? "<0.1" : (cost.share / 10).toFixed(1)} %
                                </span>
                            )}
                        </li>
                    );
                })}
            </ul>
            <Segments
                label="keys"
                value={a.view.apart ? "apart" : "merged"}
                options={[
                    ["apart", "by node", "the node is the first part of each key"],
                    ["merged", "merged", "equal keys of all nodes are one"],
                ]}
                onChange={(v) => a.setApart(v === "apart")}
            />
            {a.shown === "heatmap" && (
                <Segments
                    label="maps"
                    value={a.view.small ? "small" : "one"}
                    options={[
                        ["small", "side by side", "a map for each node, with the same scales and times"],
                        ["one", "together", "one map of all nodes"],
                    ]}
                    onChange={(v) => a.setView({ small: v === "small" })}
                />
            )}
        </section>
    );
}
