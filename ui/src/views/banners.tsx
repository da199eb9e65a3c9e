// banners.tsx - what must not be overlooked: drops, limits, faults, a trace that has ended, a lost connection.
import { useEffect, useState } from "preact/hooks";
import { useApp } from "../app.ts";
import { keepProblem, tell } from "../keep.ts";
import { DROPS, ENDED, FAULTS, ofTag } from "../model/advice.ts";
import { counted, dates, exact } from "../model/format.ts";
import { gapText } from "../model/life.ts";
import { num } from "../model/protocol.ts";
import { Confirm } from "./plan.tsx";
import { Remedy } from "./remedy.tsx";

/** Seconds since a start, while nothing is known of its progress. */
function Since() {
    const [s, set] = useState(0);
    useEffect(() => {
        const timer = setInterval(() => set((n) => n + 1), 1000);
        return () => clearInterval(timer);
    }, []);
    return s > 0 ? <> {s} s</> : null;
}

const QUIET_MS = 5000; // after which it is said that nothing was counted

export function Banners() {
    const a = useApp();
    const t = a.trace;
    const out = [];
    const told = a.told;
    if (told.title)
        // said to screen readers by the head, without what counts
        out.push(
            <div class={`banner bad life ${told.state}`} key="life" data-testid="life">
                <p>
                    <b>
                        {told.icon} {told.title}
                    </b>{" "}
                    {told.more}
                </p>
            </div>,
        );
    t?.gaps.forEach((g, i) => {
        if (!a.dismissed.has(`gap:${i}`))
            out.push(
                <div class="banner warn" role="status" key={`gap:${i}`} data-testid="gap">
                    <p>
                        <b>
                            {g.node && `${g.node}: `}
                            {gapText(g.what, g.to - g.from)}
                        </b>{" "}
                        the script was started again, and the map goes on; nothing is known of{" "}
                        {new Date(g.from).toLocaleTimeString()} to {new Date(g.to).toLocaleTimeString()}
                    </p>
                    <button type="button" onClick={() => a.dismiss(`gap:${i}`)}>
                        dismiss
                    </button>
                </div>,
            );
    });
    const quiet = t && t.recordCount === 0 && t.ran > QUIET_MS && t.columns.every((c) => c.cells.size === 0);
    if (quiet && (a.phase === "running" || a.phase === "stopped") && !a.dismissed.has("quiet"))
        out.push(
            <div class="banner calm" role="status" key="quiet" data-testid="quiet">
                <p>
                    <b>Nothing was counted{a.phase === "running" ? " yet" : ""}</b>{" "}
                    {counted(t.info.enabled.probes, "probe is", "probes are")} in place
                    {t.info.enabled.text ? ` (${t.info.enabled.text})` : ""}, and no event passed the script's
                    conditions
                    <em>give the node work that reaches them, or look at another node, module, or condition</em>
                </p>
                <button type="button" onClick={() => a.dismiss("quiet")}>
                    dismiss
                </button>
            </div>,
        );
    if (a.left !== null && !a.dismissed.has("left"))
        out.push(
            <div class="banner calm" role="status" key="left" data-testid="left">
                <p>
                    <b>{a.left} has ended for this page</b> when you went to another step. Its results are kept at its
                    step.
                </p>
                <button type="button" onClick={() => a.dismiss("left")}>
                    dismiss
                </button>
            </div>,
        );
    if (a.first && a.busy)
        out.push(
            <div class="banner calm" role="status" key="first">
                <p>
                    <b>This is where you came in</b> one more step back leaves the page, and with it the trace
                </p>
            </div>,
        );
    if (a.plan.asking) out.push(<Confirm key="confirm" />);
    if (a.phase === "starting" && !a.progress)
        out.push(
            <div class="banner calm" role="status" key="placing" data-testid="placing">
                <p>
                    <b>Starting</b> {a.node ? `asking ${a.node} for what the script describes` : "compiling the script"}
                    <Since />
                </p>
                <button type="button" onClick={() => a.stop()}>
                    stop
                </button>
            </div>,
        );
    if (a.phase === "starting" && a.progress) {
        const { node, waiting, unit, done, total } = a.progress;
        out.push(
            <div class="banner calm" key="placing" data-testid="placing">
                <p>
                    <b>{waiting ? "Waiting for another trace" : "Placing probes"}</b>{" "}
                    {num(total) > 0 &&
                        `${exact(num(done))} of ${counted(num(total), unit === "processes" ? "process" : "function", unit)} `}
                    {node && `on ${node}`}
                </p>
                {num(total) > 0 && (
                    <progress
                        max={num(total)}
                        value={num(done)}
                        aria-label={waiting ? "waiting for another trace" : "placing probes"}
                    />
                )}
            </div>,
        );
    }
    if (a.phase === "failed" && a.refusal && t)
        out.push(
            <div class="banner bad" role="alert" key="failed">
                <p>
                    <b>{a.refusal.title}</b> {a.refusal.text}
                    {a.refusal.hint && <em>{a.refusal.hint}</em>}
                    {ofTag(a.failed!.tag) && <em>{ofTag(a.failed!.tag)!.advice}</em>}
                </p>
                {ofTag(a.failed!.tag) && <Remedy remedy={ofTag(a.failed!.tag)!.remedy} />}
            </div>,
        );
    if (keepProblem())
        out.push(
            <div class="banner bad" role="alert" key="file" data-testid="file">
                <p>{keepProblem()}</p>
                <button type="button" onClick={() => tell("")}>
                    dismiss
                </button>
            </div>,
        );
    if (t?.stopped && a.phase === "stopped") {
        const s = t.stopped;
        const end = ENDED[s.reason] ?? ENDED.error!;
        const level = t.origin?.running ? "calm" : end.level;
        const ended = t.origin?.running ? "It was running when it was saved." : end.what;
        const title = t.origin
            ? `Saved session of ${t.info.node || "a server"}, ${dates(t.info.t, t.t)}. ${ended}`
            : ended;
        out.push(
            <div
                class={`banner ${level}`}
                role={level === "bad" ? "alert" : "status"}
                key="stopped"
                data-testid="stopped"
            >
                <p>
                    <b>{title}</b> {s.reason === "exit" ? `exit(${s.status ?? 0})` : (s.text ?? "")}
                    {s.hint && <em>{s.hint}</em>}
                    {!t.origin && end.advice && <em>{end.advice}</em>}
                </p>
                {!t.origin && end.remedy.do !== "again" && <Remedy remedy={end.remedy} />}
                {!t.origin && (s.reason === "lost" || s.reason === "server") && (
                    <button type="button" onClick={() => a.goOn()} disabled={a.life.link !== "open"}>
                        go on in this map
                    </button>
                )}
                {a.life.link !== "none" && (
                    <button type="button" onClick={() => a.run()} disabled={a.life.link !== "open"}>
                        run again
                    </button>
                )}
            </div>,
        );
    }
    if (t && t.drops.size > 0 && !a.dismissed.has("drops")) {
        const kinds = new Map<string, number>();
        for (const d of t.drops.values()) kinds.set(d.kind, (kinds.get(d.kind) ?? 0) + num(d.total));
        const [kind, total] = [...kinds].sort((x, y) => y[1] - x[1])[0]!;
        const known = DROPS[kind];
        const since = t.since.get(kind);
        const { fired } = t;
        out.push(
            <div class="banner warn" role="alert" key="drops" data-testid="drops">
                <p>
                    <b>{counted(total, known?.noun ?? "drop")}</b> {fired > total && `of ${counted(fired, "event")} `}
                    {known?.what ?? [...t.drops.values()][0]!.text}
                    {since !== undefined && `, since ${new Date(since).toLocaleTimeString()}`}. Less is shown than
                    happened{kinds.size > 1 ? `, also for ${counted(kinds.size - 1, "other reason")}` : ""}.
                    {known && <em>{known.advice}</em>}
                </p>
                {known && <Remedy remedy={known.remedy} />}
                <button type="button" onClick={() => a.dismiss("drops")} title="hide until there are more">
                    dismiss
                </button>
            </div>,
        );
    }
    if (t && t.skipped > 0 && !a.dismissed.has("skipped"))
        out.push(
            <div class="banner warn" role="status" key="skipped">
                <p>
                    <b>{counted(t.skipped, "interval")} came late</b> this browser, or the network, is slower than the
                    results; totals are exact, but some columns lack their keys
                </p>
                <button type="button" onClick={() => a.dismiss("skipped")}>
                    dismiss
                </button>
            </div>,
        );
    if (t && t.faults.length > 0 && !a.dismissed.has("errors")) {
        const f = t.faults[t.faults.length - 1]!;
        out.push(
            <div class="banner warn" role="alert" key="faults" data-testid="faults">
                <p>
                    <b>
                        {counted(
                            t.faults.reduce((sum, x) => sum + num(x.count), 0),
                            "error",
                        )}{" "}
                        in the script
                    </b>{" "}
                    {f.text}
                    {num(f.count) > 1 ? ` (${exact(num(f.count))} times)` : ""}
                    {t.faults.length > 1 ? ` and errors of ${counted(t.faults.length - 1, "other kind")}` : ""}
                    {FAULTS[f.name] && (
                        <em>
                            {FAULTS[f.name]!.what}. {FAULTS[f.name]!.advice}
                        </em>
                    )}
                </p>
                {FAULTS[f.name] && <Remedy remedy={FAULTS[f.name]!.remedy} />}
                <button type="button" onClick={() => a.dismiss("errors")} title="hide until there are more">
                    dismiss
                </button>
            </div>,
        );
    }
    // the reason for the end is shown above, and only once
    const ended = (text: string) => a.phase === "stopped" && t?.stopped?.text === text;
    for (const n of a.notices
        .filter((n) => n.severity !== "note" && !ended(n.text) && !a.dismissed.has(`n:${n.text}`))
        .slice(-3))
        out.push(
            <div class={`banner ${n.severity === "error" ? "bad" : "warn"}`} role="alert" key={n.text}>
                <p>
                    <b>{n.severity === "error" ? "Error" : "Warning"}</b> {n.text}
                    {n.hint && <em>{n.hint}</em>}
                    {n.severity === "error" && ofTag(n.tag) && <em>{ofTag(n.tag)!.advice}</em>}
                </p>
                {n.severity === "error" && ofTag(n.tag) && <Remedy remedy={ofTag(n.tag)!.remedy} />}
                <button type="button" onClick={() => a.dismiss(`n:${n.text}`)}>
                    dismiss
                </button>
            </div>,
        );
    return out.length > 0 ? <div class="banners">{out}</div> : null;
}
