// library.tsx - scripts to choose from: ready-made ones, those run here before, and those running on the server now.
import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../app.ts";
import { clock, counted, percent } from "../model/format.ts";
import { together } from "../model/together.ts";
import { rove, Search } from "./widgets.tsx";

type Tab = "scripts" | "recent" | "running";

const VIEW_NAME: Record<string, string> = {
    heatmap: "heat map",
    list: "list",
    series: "time series",
    flame: "flame graph",
    console: "console",
    records: "records",
};

export function Library() {
    const a = useApp();
    const [tab, setTab] = useState<Tab>("scripts");
    const [search, setSearch] = useState("");
    useEffect(() => {
        if (tab !== "running") return;
        void a.fetchRunning();
        const timer = setInterval(() => void a.fetchRunning(), 5000);
        return () => clearInterval(timer);
    }, [tab]);
    const cards = useRef<HTMLUListElement>(null);
    useEffect(() => {
        cards.current!.querySelector("button.on")?.scrollIntoView({ block: "nearest" });
    }, [a.loaded]);
    const wanted = search.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (...texts: string[]) => {
        const all = texts.join(" ").toLowerCase();
        return wanted.every((w) => all.includes(w));
    };
    const scripts = a.scripts.filter((s) => matches(s.name, s.title, s.text, s.script));
    const recent = a.recent.filter((r) => matches(r.name, r.script, r.args.join(" "), r.node ?? ""));
    const running = a.running.filter((r) => matches(r.name, r.script, r.node));
    const sets = together(running).filter((all) => a.joinable(all));
    const tabs: [Tab, string, number][] = [
        ["scripts", "Scripts", a.scripts.length],
        ["recent", "Recent", a.recent.length],
        ["running", "Running", a.running.length],
    ];
    return (
        <section class="library" aria-label="scripts">
            <div class="library-head">
                <div class="tabs small" role="tablist" aria-label="kinds of scripts" onKeyDown={rove}>
                    {tabs.map(([id, text, n]) => (
                        <button
                            key={id}
                            type="button"
                            role="tab"
                            aria-selected={tab === id}
                            tabIndex={tab === id ? 0 : -1}
                            class={tab === id ? "on" : ""}
                            onClick={() => (setTab(id), setSearch(""))}
                        >
                            {text} <i>{n}</i>
                        </button>
                    ))}
                </div>
                <Search value={search} placeholder="search scripts" onInput={setSearch} />
            </div>
            <ul class="cards" ref={cards} data-testid={tab}>
                {tab === "scripts" &&
                    scripts.map((s) => (
                        <li key={s.name}>
                            <button
                                type="button"
                                class={a.ready === s ? "on" : ""}
                                onClick={() => a.load(s)}
                                onDblClick={() => a.run()}
                                title={s.text}
                            >
                                <span class="card-name">
                                    {s.name}
                                    {s.args.map((x) => (
                                        <i key={x.name}> {x.name}</i>
                                    ))}
                                    {s.kernel && <em>kernel</em>}
                                    {s.view && <em>{VIEW_NAME[s.view] ?? s.view}</em>}
                                </span>
                                <span class="card-title">{s.title}</span>
                            </button>
                        </li>
                    ))}
                {tab === "recent" &&
                    recent.map((r) => (
                        <li key={r.at} class="with-x">
                            <button type="button" onClick={() => a.again(r)} title={r.script.slice(0, 600)}>
                                <span class="card-name">
                                    {r.name || "your script"}{" "}
                                    {r.args.map((x) => (
                                        <i key={x}> {x}</i>
                                    ))}
                                    <em>
                                        {new Date(r.at).toDateString() === new Date().toDateString()
                                            ? clock(r.at / 1000)
                                            : new Date(r.at).toLocaleDateString()}
                                    </em>
                                </span>
                                <span class="card-title mono">{firstLine(r.script)}</span>
                            </button>
                            <button
                                type="button"
                                class="x"
                                aria-label="forget it"
                                title="forget it"
                                onClick={() => a.forget(r)}
                            >
                                ×
                            </button>
                        </li>
                    ))}
                {tab === "running" &&
                    sets.map((all) => (
                        <li key={`all:${all[0]!.trace}`}>
                            <button type="button" onClick={() => a.joinAll(all)} title={all[0]!.script.slice(0, 600)}>
                                <span class="card-name">
                                    {all[0]!.name} <em>{counted(all.length, "node")} together</em>
                                </span>
                                <span class="card-title">{all.map((r) => r.node).join(", ")}</span>
                            </button>
                        </li>
                    ))}
                {tab === "running" &&
                    running.map((r) => (
                        <li key={r.trace}>
                            <button
                                type="button"
                                class={a.watches(r.trace) ? "on" : ""}
                                disabled={a.watches(r.trace)}
                                onClick={() => a.join(r)}
                                title={a.watches(r.trace) ? "this page shows it" : r.script.slice(0, 600)}
                            >
                                <span class="card-name">
                                    {r.name}
                                    <em>since {clock(r.since / 1000)}</em>
                                </span>
                                <span class="card-title">
                                    {r.node || "this server"}, {counted(r.viewers, "viewer")}
                                    {r.recorded && `, recorded, ${percent((r.share ?? 0) / 1000)} of a scheduler`}
                                </span>
                            </button>
                        </li>
                    ))}
                {((tab === "scripts" && scripts.length === 0) ||
                    (tab === "recent" && recent.length === 0) ||
                    (tab === "running" && running.length === 0)) && (
                    <li class="nothing">
                        {search
                            ? "nothing matches"
                            : tab === "recent"
                              ? "what you run is kept here, in this browser"
                              : tab === "running"
                                ? "no trace runs on this server"
                                : "no scripts"}
                    </li>
                )}
            </ul>
        </section>
    );
}

/** The first line with content. */
function firstLine(script: string): string {
    const lines = script
        .replace(/\/\*[\s\S]*?\*\//g, "")
        .split("\n")
        .map((l) => l.trim());
    return lines.find((l) => l && !l.startsWith("#")) ?? lines.find(Boolean) ?? "";
}
