// main.tsx - the page: head, script and library at the side, banners, and the chosen view.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { app, useApp } from "./app.ts";
import { Editor, type EditorHandle } from "./edit/editor.tsx";
import { startKeeping } from "./keep.ts";
import { UNITS, type Unit } from "./model/format.ts";
import { resultOf } from "./model/functions.ts";
import type { ViewName } from "./model/url.ts";
import { get } from "./net/session.ts";
import { Banners } from "./views/banners.tsx";
import { LookChip } from "./views/chip.tsx";
import { Flame } from "./views/flame.tsx";
import { Head } from "./views/head.tsx";
import { HeatMap } from "./views/heat/heatmap.tsx";
import { Help } from "./views/help.tsx";
import { Library } from "./views/library.tsx";
import { List } from "./views/list.tsx";
import { MarkDialogs, MarksButton, RecordToggle } from "./views/marks.tsx";
import { NextMenu } from "./views/next.tsx";
import { NodesBar } from "./views/nodes.tsx";
import { Estimate, Options } from "./views/plan.tsx";
import { Advised } from "./views/remedy.tsx";
import { Series } from "./views/series.tsx";
import { ScriptBar, ScriptName, useSide } from "./views/side.tsx";
import { Start } from "./views/start.tsx";
import { Console, Records } from "./views/text.tsx";
import { WayBar } from "./views/way.tsx";
import { rove } from "./views/widgets.tsx";
import "./style.css";

const TITLES: Record<ViewName, string> = {
    heatmap: "Heat map",
    list: "List",
    series: "Time series",
    flame: "Flame graph",
    console: "Console",
    records: "Records",
};

function Results() {
    const a = useApp();
    const t = a.trace;
    const view = a.shown;
    if (!t) {
        if (a.phase === "failed" && a.refusal)
            return (
                <div class="empty" role="alert">
                    <h2>{a.refusal.title}</h2>
                    <p class="bad">{a.refusal.text}</p>
                    {a.refusal.hint && <p>{a.refusal.hint}</p>}
                    <Advised tag={a.failed?.tag ?? ""} />
                </div>
            );
        return <Start />;
    }
    const agg = view ? a.shownAgg(view) : null;
    const suited = view ? a.suited(view) : [];
    return (
        <>
            <div class="tabs">
                <div class="views" role="tablist" aria-label="views" onKeyDown={rove}>
                    {a.views.map((v, i) => (
                        <button
                            key={v}
                            id={`tab-${v}`}
                            type="button"
                            role="tab"
                            aria-selected={v === view}
                            aria-controls="view"
                            tabIndex={v === view ? 0 : -1}
                            class={v === view ? "on" : ""}
                            title={`${TITLES[v]} (${i + 1})`}
                            onClick={() => a.setView({ view: v })}
                        >
                            {TITLES[v]}
                        </button>
                    ))}
                </div>
                <LookChip agg={agg} />
                <span class="grow" />
                <RecordToggle trace={t} />
                <MarksButton trace={t} />
                {suited.length > 1 && (
                    <label class="pick">
                        <span>aggregation</span>
                        <select
                            value={agg?.name ?? ""}
                            aria-label="aggregation"
                            onChange={(e) => a.setView({ agg: e.currentTarget.value })}
                        >
                            {suited.map((g) => (
                                <option key={g.id} value={g.name}>
                                    {g.name} {g.fn}
                                </option>
                            ))}
                        </select>
                    </label>
                )}
                {suited.length === 1 && agg && (
                    <span class="muted mono">
                        {agg.name} {agg.fn}
                    </span>
                )}
                {agg && resultOf(agg.fn) !== "count" && (
                    <label class="pick">
                        <span>unit</span>
                        <select
                            value={a.view.unit}
                            aria-label="unit"
                            onChange={(e) => a.setView({ unit: e.currentTarget.value as Unit | "auto" })}
                        >
                            <option value="auto">{`auto${a.view.unit === "auto" ? ` (${a.unitOf(agg) || "none"})` : ""}`}</option>
                            {UNITS.map((u) => (
                                <option key={u} value={u}>
                                    {u === "us" ? "µs" : u || "none"}
                                </option>
                            ))}
                        </select>
                    </label>
                )}
            </div>
            <div
                class="view"
                id="view"
                role="tabpanel"
                aria-labelledby={view ? `tab-${view}` : undefined}
                key={`${t.info.trace}:${t.info.t}:${view}:${agg?.id}:${a.view.apart}:${a.view.small}`}
            >
                {view === null && (
                    <div class="empty">
                        <h2>Nothing to show</h2>
                        <p>This script has no aggregation and prints nothing.</p>
                    </div>
                )}
                {view === "heatmap" && agg && <HeatMap trace={t} agg={agg} />}
                {view === "list" && agg && <List trace={t} agg={agg} />}
                {view === "series" && agg && <Series trace={t} agg={agg} />}
                {view === "flame" && agg && <Flame trace={t} agg={agg} />}
                {view === "console" && <Console trace={t} />}
                {view === "records" && <Records trace={t} />}
            </div>
        </>
    );
}

function Problems({ editor }: { editor: { current: EditorHandle | null } }) {
    const a = useApp();
    if (a.diagnostics.length === 0) return null;
    return (
        <ul class="problems" aria-label="problems" data-testid="problems">
            {a.diagnostics.map((d, i) => (
                <li key={i} class={d.severity}>
                    <button type="button" onClick={() => editor.current?.go(d.line, d.column)} disabled={d.line === 0}>
                        <span class="where">{d.line > 0 ? `${d.line}:${d.column}` : d.severity}</span>
                        <span>
                            {d.text} <code>{d.tag}</code>
                            {d.hint && <em>{d.hint}</em>}
                        </span>
                    </button>
                </li>
            ))}
        </ul>
    );
}

/** An argument of a script; a module is completed from the node's modules. */
function Argument({ name, index }: { name: string; index: number }) {
    const a = useApp();
    const [modules, setModules] = useState<string[]>([]);
    const asked = useRef("");
    const complete = async (prefix: string) => {
        if (!/^module$/i.test(name) || a.node === null) return;
        const query = `${a.node} ${prefix}`;
        if (asked.current === query) return;
        asked.current = query;
        try {
            const { items } = await get<{ items: string[] }>("/api/modules", { node: a.node, prefix });
            if (asked.current === query) setModules(items.slice(0, 50));
        } catch {
            // then it is typed
        }
    };
    const id = `argument-${index}`;
    return (
        <>
            <input
                value={a.args[index] ?? ""}
                aria-label={`argument ${name}`}
                list={modules.length > 0 ? id : undefined}
                autocomplete="off"
                spellcheck={false}
                onFocus={() => void complete("")}
                onInput={(e) => {
                    a.setArg(index, e.currentTarget.value);
                    void complete(e.currentTarget.value);
                }}
                onKeyDown={(e) => e.key === "Enter" && a.run()}
            />
            {modules.length > 0 && (
                <datalist id={id}>
                    {modules.map((m) => (
                        <option key={m} value={m} />
                    ))}
                </datalist>
            )}
        </>
    );
}

function Arguments() {
    const a = useApp();
    return (
        <>
            {a.argNames.map((n, i) => (
                <label class="arg" key={`${n}${i}`}>
                    <span>{n.toLowerCase()}</span>
                    <Argument name={n} index={i} />
                </label>
            ))}
        </>
    );
}

function ScriptPanel() {
    const a = useApp();
    const editor = useRef<EditorHandle | null>(null);
    useEffect(() => {
        const go = () => editor.current?.focus();
        addEventListener("erltrace:edit", go);
        return () => removeEventListener("erltrace:edit", go);
    }, []);
    return (
        <section class="script" aria-label="script">
            <div class="script-head">
                <ScriptName />
                <Arguments />
                {a.ready && <p class="script-about">{a.ready.title}</p>}
            </div>
            <Editor
                text={a.script}
                loaded={a.loaded}
                diagnostics={a.diagnostics}
                node={() => app.node}
                onChange={(text) => a.edit(text)}
                onRun={() => a.run()}
                handle={editor}
            />
            <Problems editor={editor} />
            <Estimate />
            <Options />
        </section>
    );
}

function Page() {
    const a = useApp();
    const [help, setHelp] = useState(false);
    const [side, setSide] = useSide();
    useEffect(() => {
        const key = (e: KeyboardEvent) => {
            const el = e.composedPath()[0] as HTMLElement;
            const typing = el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName);
            if ((e.ctrlKey || e.metaKey) && e.key === "Enter" && !e.defaultPrevented) {
                e.preventDefault();
                app.run();
                return;
            }
            if (e.key === "Escape" && typing && el.isContentEditable && !e.defaultPrevented) {
                (document.activeElement as HTMLElement | null)?.blur();
                return;
            }
            if (typing || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
            const button = el.tagName === "BUTTON" && e.key === " ";
            const done: Record<string, () => void> = {
                "?": () => setHelp(true),
                s: () => app.stop(),
                r: () => app.run(),
                e: () => {
                    setSide(() => true);
                    setTimeout(() => dispatchEvent(new Event("erltrace:edit"))); // once it is there
                },
                b: () => setSide((s) => !s),
                " ": () => dispatchEvent(new Event("erltrace:pause")),
                "/": () =>
                    (
                        document.querySelector<HTMLInputElement>("[data-search=main]") ??
                        document.querySelector<HTMLInputElement>(".view .search") ??
                        document.querySelector<HTMLInputElement>(".search")
                    )?.focus(),
            };
            const view = app.views[Number(e.key) - 1];
            if (e.key !== "0" && view) app.setView({ view });
            else if (done[e.key] && !button) done[e.key]!();
            else return;
            e.preventDefault();
        };
        addEventListener("keydown", key);
        return () => removeEventListener("keydown", key);
    }, []);
    return (
        <div class={`page ${side ? "" : "no-side"}`}>
            <Head onHelp={() => setHelp(true)} side={side} onSide={(on) => setSide(() => on)} />
            <div class="side" hidden={!side}>
                <ScriptPanel />
                <Library />
            </div>
            <main class={`main ${a.stale ? "stale" : ""}`}>
                {!side && (
                    <ScriptBar onUnfold={() => setSide(() => true)}>
                        <Arguments />
                    </ScriptBar>
                )}
                <WayBar />
                <Banners />
                <NodesBar />
                <Results />
                <NextMenu />
            </main>
            <MarkDialogs />
            {help && <Help onClose={() => setHelp(false)} />}
        </div>
    );
}

startKeeping();
app.start();
render(<Page />, document.getElementById("page")!);
