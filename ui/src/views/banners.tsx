// banners.tsx - what must not be overlooked: drops, limits, faults, a trace that has ended, a lost connection.
import { useApp } from "../app.ts";
import { exact } from "../model/format.ts";
import { num, type Stopped } from "../model/protocol.ts";

const ENDED: Record<Stopped["reason"], [string, string]> = {
    exit: ["calm", "The script has ended the trace"],
    user: ["calm", "A viewer has ended the trace for all viewers"],
    left: ["calm", "Stopped"],
    overload: ["bad", "Stopped: the probes took too much of a scheduler"],
    lost: ["bad", "The trace was lost"],
    limit: ["bad", "Stopped at a limit"],
    error: ["bad", "The trace has ended with an error"],
    server: ["bad", "The server has ended, and the trace with it"],
};

export function Banners() {
    const a = useApp();
    const t = a.trace;
    const out = [];
    if (a.link === "lost")
        out.push(
            <div class="banner bad" role="alert" key="link">
                <p>
                    <b>No connection to the server</b> {a.linkWhy || "it has ended, or the network is gone"}; trying again
                </p>
            </div>,
        );
    if (a.phase === "starting" && a.progress) {
        const { node, waiting, unit, done, total } = a.progress;
        out.push(
            <div class="banner calm" key="placing" data-testid="placing">
                <p>
                    <b>{waiting ? "Waiting for another trace" : "Placing probes"}</b> {num(total) > 0 && `${exact(num(done))} of ${exact(num(total))} ${unit} `}
                    {node && `on ${node}`}
                </p>
                {num(total) > 0 && <progress max={num(total)} value={num(done)} aria-label={waiting ? "waiting for another trace" : "placing probes"} />}
            </div>,
        );
    }
    if (a.phase === "failed" && a.refusal && t)
        out.push(
            <div class="banner bad" role="alert" key="failed">
                <p>
                    <b>{a.refusal.title}</b> {a.refusal.text}
                    {a.refusal.hint && <em>{a.refusal.hint}</em>}
                </p>
            </div>,
        );
    if (t?.stopped && a.phase === "stopped") {
        const s = t.stopped;
        const [level, title] = ENDED[s.reason] ?? ENDED.error;
        out.push(
            <div class={`banner ${level}`} role={level === "bad" ? "alert" : "status"} key="stopped" data-testid="stopped">
                <p>
                    <b>{title}</b> {s.reason === "exit" ? `exit(${s.status ?? 0})` : (s.text ?? "")}
                    {s.hint && <em>{s.hint}</em>}
                </p>
                <button type="button" onClick={() => a.run()}>
                    run again
                </button>
            </div>,
        );
    }
    if (t && t.drops.size > 0 && !a.dismissed.has("drops")) {
        const drops = [...t.drops.values()].sort((x, y) => num(y.total) - num(x.total));
        const all = drops.reduce((sum, d) => sum + num(d.total), 0);
        out.push(
            <div class="banner warn" role="alert" key="drops" data-testid="drops">
                <p>
                    <b>{exact(all)} drops</b> less is shown than happened: {drops.slice(0, 2).map((d) => `${d.kind.toLowerCase()} ${exact(num(d.total))}`).join(", ")}. {drops[0]!.text}
                </p>
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
                    <b>{exact(t.skipped)} intervals came late</b> this browser, or the network, is slower than the results; totals are exact, but some columns lack their keys
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
                    <b>{exact(t.faults.reduce((sum, x) => sum + num(x.count), 0))} errors in the script</b> {f.text}
                    {num(f.count) > 1 ? ` (${exact(num(f.count))} times)` : ""}
                    {t.faults.length > 1 ? ` and ${t.faults.length - 1} of other kinds` : ""}
                </p>
                <button type="button" onClick={() => a.dismiss("errors")} title="hide until there are more">
                    dismiss
                </button>
            </div>,
        );
    }
    // the reason for the end is shown above, and only once
    const ended = (text: string) => a.phase === "stopped" && t?.stopped?.text === text;
    for (const n of a.notices.filter((n) => n.severity !== "note" && !ended(n.text) && !a.dismissed.has(`n:${n.text}`)).slice(-3))
        out.push(
            <div class={`banner ${n.severity === "error" ? "bad" : "warn"}`} role="alert" key={n.text}>
                <p>
                    <b>{n.severity === "error" ? "Error" : "Warning"}</b> {n.text}
                    {n.hint && <em>{n.hint}</em>}
                </p>
                <button type="button" onClick={() => a.dismiss(`n:${n.text}`)}>
                    dismiss
                </button>
            </div>,
        );
    return out.length > 0 ? <div class="banners">{out}</div> : null;
}
