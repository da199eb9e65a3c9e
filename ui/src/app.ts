// app.ts - the state of the page and what it does: the script, the node, the trace that is shown, and the view. Views read it and call its
// methods; it notifies them of changes, at most once a frame.
import { useLayoutEffect, useState } from "preact/hooks";
import { divided, guessUnit, type Unit } from "./model/format.ts";
import { canFlame } from "./model/flame.ts";
import { resultOf } from "./model/functions.ts";
import type { Diagnostic, Finding, Message, NodeInfo, Progress, RunningTrace, Script } from "./model/protocol.ts";
import { keyText, Trace, type Aggregation } from "./model/trace.ts";
import * as url from "./model/url.ts";
import type { View, ViewName } from "./model/url.ts";
import { take } from "./net/token.ts";
import { get, Session, type Link } from "./net/session.ts";

/** A double click is not meant to stop twice: a second stop does not wait for the last results. */
const TWICE_MS = 1000;

/** Whether an error says that a script looks into terms where these are hidden. */
export const hidesTerms = (tag: string) => tag === "D_TERMS_OFF" || tag === "AGENT_TERMS";

export type Phase = "idle" | "starting" | "running" | "stopped" | "failed";
export type Theme = "auto" | "light" | "dark";

export interface Recent {
    at: number;
    name: string;
    node: string | null;
    args: string[];
    script: string;
}

const RECENT = "erltrace.recent";
const THEME = "erltrace.theme";
const MOST_RECENT = 30;

/** Storage that works without an error, as empty, in a browser that stores nothing for us. */
const store = {
    get(key: string): string | null {
        try {
            return localStorage.getItem(key);
        } catch {
            return null;
        }
    },
    set(key: string, value: string): void {
        try {
            localStorage.setItem(key, value);
        } catch {
            // full, or forbidden
        }
    },
};

export class App {
    nodes: NodeInfo[] = [];
    nodesError = "";
    scripts: Script[] = [];
    running: RunningTrace[] = [];
    recent: Recent[] = [];
    node: string | null = null;
    /** Whether the server has answered which node it traces. */
    known = false;
    name = "";
    script = "";
    args: string[] = [];
    view: View = url.DEFAULT_VIEW;
    phase: Phase = "idle";
    trace: Trace | null = null;
    about: { node: string; findings: Finding[] } | null = null;
    failed: { text: string; hint: string | null; tag: string } | null = null;
    /** The progress of placing probes, if a start takes long. */
    progress: Progress | null = null;
    diagnostics: Diagnostic[] = [];
    /** Diagnostics that came while the trace ran. */
    notices: Diagnostic[] = [];
    dismissed = new Set<string>();
    link: Link = "connecting";
    linkWhy = "";
    theme: Theme = "auto";
    version = "";
    /** Increases when the script or the view was set from outside the editor. */
    loaded = 0;

    private session: Session | null = null;
    private listeners = new Set<() => void>();
    private frame = 0;
    private startId = 0;
    private stopAt = 0; // when the server was told to stop; 0: not told
    private checkId = 0;
    private checkTimer = 0;
    private written = "";

    start(): void {
        this.theme = (store.get(THEME) as Theme | null) ?? "auto";
        this.applyTheme();
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.applyTheme());
        try {
            const kept = JSON.parse(store.get(RECENT) ?? "[]") as Recent[];
            this.recent = Array.isArray(kept) ? kept.filter((r) => typeof r?.script === "string").slice(0, MOST_RECENT) : [];
        } catch {
            this.recent = [];
        }
        this.takeToken();
        this.read();
        addEventListener("hashchange", () => {
            this.takeToken();
            if (location.hash.replace(/^#/, "") !== this.written) this.read();
        });
        this.session = new Session(
            (m) => this.message(m),
            (link, why) => this.linked(link, why),
        );
        let silent = false;
        setInterval(() => {
            const now = this.phase === "running" && (this.trace?.silent ?? 0) > 0;
            if (now || silent) this.changed();
            silent = now;
        }, 500);
        void this.fetchScripts();
        void this.fetchNodes();
        void this.fetchRunning();
    }

    // -- listening

    changed(): void {
        if (this.frame) return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            for (const f of [...this.listeners]) f();
        });
        // A page in the background draws nothing, but its title shows the state.
        document.title = `${this.phase === "running" ? "● " : ""}${this.name || "erltrace"}${this.trace?.info.node ? ` · ${this.trace.info.node}` : ""}`;
    }

    listen(f: () => void): () => void {
        this.listeners.add(f);
        return () => this.listeners.delete(f);
    }

    // -- lists

    async fetchNodes(): Promise<void> {
        try {
            this.nodes = (await get<{ nodes: NodeInfo[] }>("/api/nodes")).nodes;
            this.nodesError = "";
        } catch (e) {
            this.nodesError = (e as Error).message;
        }
        this.changed();
    }

    /** Asks what the server finds out about a node: when a user has chosen it or runs a script there, as that connects to the node. */
    private async fetchAbout(node: string): Promise<void> {
        let about: { node: string; findings: Finding[] } | null = null;
        try {
            if (node !== "") about = { node, findings: (await get<{ findings: Finding[] }>(`/api/about?node=${encodeURIComponent(node)}`)).findings };
        } catch {
            // whoever runs something there is told
        }
        if (node !== this.node) return;
        this.about = about;
        this.changed();
    }

    /** Whether scripts may look into terms on the chosen node, if that is known. */
    get terms(): Finding | null {
        return this.about?.node === this.node ? (this.about?.findings.find((f) => f.subject === "terms") ?? null) : null;
    }

    /** Why nothing runs: title, what happened, what to do. */
    get refusal(): { title: string; text: string; hint: string | null } | null {
        if (!this.failed) return null;
        if (!hidesTerms(this.failed.tag)) return { title: "The trace did not start", ...this.failed };
        const what = /^(?:the program uses )?(\S+)/.exec(this.failed.text)?.[1] ?? "the script";
        return {
            title: "The script may not look into terms",
            text: `It uses ${what}. On ${this.node || "this server"} terms are ${this.terms?.text ?? "hidden"}.`,
            hint: `leave out ${what}: pids, names, sizes and times are still shown`,
        };
    }

    async fetchRunning(): Promise<void> {
        try {
            const s = await get<{ node: string | null; version: string; traces: RunningTrace[] }>("/api/state");
            this.running = s.traces;
            this.version = s.version;
            if (this.node === null && s.node !== null) this.node = s.node;
        } catch {
            // the state of the link says so
        }
        this.known = true;
        this.changed();
    }

    private async fetchScripts(): Promise<void> {
        try {
            this.scripts = (await get<{ scripts: Script[] }>("/api/scripts")).scripts;
        } catch {
            return;
        }
        // An address with only a name, or a path that stands for a script.
        const place = /^\/(heatmap|list)\/?$/.exec(location.pathname)?.[1];
        const wanted = this.name && !this.script ? this.scripts.find((s) => s.name === this.name) : !this.script && place ? this.scripts.find((s) => s.place === place) : undefined;
        if (wanted) {
            const said = this.view; // the address takes precedence over what suits the script
            this.load(wanted, this.args);
            if (said.view) this.setView(said);
        }
        if (place && !this.view.view) this.view = { ...this.view, view: place as ViewName };
        this.changed();
    }

    // -- the script

    edit(text: string): void {
        if (text === this.script) return;
        this.script = text;
        this.write();
        clearTimeout(this.checkTimer);
        this.checkTimer = window.setTimeout(() => this.check(), 400);
        this.changed();
    }

    /** Loads a ready-made script. */
    load(s: Script, args: string[] = []): void {
        this.set(s.name, s.script, s.args.map((a, i) => args[i] ?? a.default ?? ""), this.node);
        if (s.view) this.view = { ...this.view, view: s.view as ViewName, agg: "", unit: "auto" };
        this.write();
    }

    again(r: Recent): void {
        this.set(r.name, r.script, r.args, r.node ?? this.node);
        this.view = { ...this.view, view: "", agg: "", unit: "auto" };
        this.write();
    }

    private set(name: string, script: string, args: string[], node: string | null): void {
        this.name = name;
        this.script = script;
        this.args = args;
        this.node = node;
        this.diagnostics = [];
        this.loaded++;
        this.write();
        this.check();
        this.changed();
    }

    /** The ready-made script that is in the editor, unchanged. */
    get ready(): Script | undefined {
        return this.scripts.find((s) => s.name === this.name && s.script === this.script);
    }

    /** The values of the script's $1, $2 ..., as far as they are known. */
    get argNames(): string[] {
        const ready = this.scripts.find((s) => s.name === this.name);
        let most = ready && ready.script === this.script ? ready.args.length : 0;
        for (const m of this.script.matchAll(/\$\$?(\d+)/g)) most = Math.max(most, Math.min(9, Number(m[1])));
        return Array.from({ length: most }, (_, i) => ready?.args[i]?.name ?? `$${i + 1}`);
    }

    setArg(i: number, text: string): void {
        const args = Array.from({ length: Math.max(this.argNames.length, i + 1) }, (_, k) => this.args[k] ?? "");
        args[i] = text;
        this.args = args;
        this.write();
        this.changed();
    }

    setNode(node: string): void {
        this.node = node;
        void this.fetchAbout(node);
        this.write();
        this.changed();
    }

    private givenArgs(): string[] {
        return this.args.slice(0, this.argNames.length);
    }

    private check(): void {
        if (this.phase === "starting" || this.link !== "open" || this.script.trim() === "") return;
        this.checkId = this.session!.send({ type: "check", script: this.script, name: this.fileName, args: this.givenArgs() });
    }

    private get fileName(): string {
        return this.name || "script.d";
    }

    // -- running

    run(): void {
        if (this.script.trim() === "" || this.link === "refused" || !this.known) return;
        clearTimeout(this.checkTimer);
        this.remember();
        this.begin();
        this.startId = this.session!.send({
            type: "start",
            script: this.script,
            name: this.fileName,
            args: this.givenArgs(),
            ...(this.node === null ? {} : { node: this.node }),
        });
        this.changed();
    }

    join(r: RunningTrace): void {
        this.set(r.name, r.script, r.args, r.node);
        this.begin();
        this.startId = this.session!.send({ type: "join", trace: r.trace });
        this.changed();
    }

    private begin(): void {
        this.phase = "starting";
        this.stopAt = 0;
        this.failed = null;
        this.progress = null;
        this.diagnostics = [];
        this.notices = [];
        this.dismissed.clear();
    }

    stop(): void {
        if (!this.busy || (this.stopping && Date.now() - this.stopAt < TWICE_MS)) return;
        this.end({ type: "stop" });
    }

    stopAll(): void {
        if (this.phase === "running") this.end({ type: "stop", all: true });
    }

    private end(how: Record<string, unknown>): void {
        this.session!.send(how);
        this.stopAt = Date.now();
        this.changed();
    }

    get busy(): boolean {
        return this.phase === "running" || this.phase === "starting";
    }

    /** Whether the server was told to end the trace that is shown, and has not yet confirmed it. */
    get stopping(): boolean {
        return this.busy && this.stopAt > 0;
    }

    private remember(): void {
        const r: Recent = { at: Date.now(), name: this.name, node: this.node, args: this.givenArgs(), script: this.script };
        const same = (x: Recent) => x.script === r.script && x.args.join("\n") === r.args.join("\n");
        this.recent = [r, ...this.recent.filter((x) => !same(x))].slice(0, MOST_RECENT);
        store.set(RECENT, JSON.stringify(this.recent));
    }

    forget(r: Recent): void {
        this.recent = this.recent.filter((x) => x !== r);
        store.set(RECENT, JSON.stringify(this.recent));
        this.changed();
    }

    // -- messages from the server

    private linked(link: Link, why: string): void {
        this.link = link;
        this.linkWhy = why;
        if (link !== "open" && this.busy) {
            if (this.trace && this.phase === "running") this.trace.stopped = { type: "stopped", reason: "lost", text: `the connection to the server was lost${why ? `: ${why}` : ""}`, hint: "the trace ends by itself when no page is viewing it" };
            else this.failed = { tag: "", text: `the connection to the server was lost${why ? `: ${why}` : ""}`, hint: null };
            this.phase = this.trace && this.phase === "running" ? "stopped" : "failed";
        }
        if (link === "open") {
            void this.fetchRunning();
            if (this.nodes.length === 0) void this.fetchNodes();
            this.check();
        }
        this.changed();
    }

    private message(m: Message): void {
        const t = this.trace;
        switch (m.type) {
            case "hello":
                this.version = m.version;
                break;
            case "diagnostics":
                if (m.id === undefined) this.notices = [...this.notices, ...m.diagnostics].slice(-20);
                else if (m.id === this.startId) this.diagnostics = m.diagnostics;
                break;
            case "checked":
                if (m.id === this.checkId && this.phase !== "starting") this.diagnostics = m.diagnostics;
                break;
            case "failed":
                if (m.id !== this.startId) break;
                this.phase = "failed";
                this.failed = m;
                if (hidesTerms(m.tag) && this.node) void this.fetchAbout(this.node);
                break;
            case "progress":
                if (m.id === this.startId && this.phase === "starting") this.progress = m;
                break;
            case "started":
                this.trace = new Trace(m);
                this.phase = "running";
                if (this.node === null) this.node = m.node;
                if (this.node === m.node) void this.fetchAbout(m.node);
                void this.fetchRunning();
                break;
            case "results":
                t?.results(m);
                break;
            case "state":
                t?.state(m);
                break;
            case "history":
                t?.history(m);
                break;
            case "records":
                t?.record(m);
                break;
            case "cost":
                t?.cost.set(m.node, m);
                break;
            case "drops":
                t?.drop(m.drops);
                this.dismissed.delete("drops");
                break;
            case "errors":
                t?.fault(m.errors);
                this.dismissed.delete("errors");
                break;
            case "viewers":
                if (t) t.viewers = m.viewers;
                break;
            case "stopped":
                if (t && this.phase === "running") {
                    t.stopped = m;
                    this.phase = "stopped";
                } else if (this.phase === "starting" && m.id === this.startId) {
                    // the trace that was to start will not; what is still shown, if anything, was left for it
                    if (t) t.stopped ??= m;
                    this.phase = t ? "stopped" : "idle";
                }
                void this.fetchRunning();
                break;
            case "pong":
                break;
        }
        this.changed();
    }

    dismiss(what: string): void {
        this.dismissed.add(what);
        this.changed();
    }

    // -- views

    setView(change: Partial<View>): void {
        this.view = { ...this.view, ...change };
        this.write();
        this.changed();
    }

    get aggregations(): Aggregation[] {
        return this.trace ? [...this.trace.aggregations.values()] : [];
    }

    /** The aggregations that a view can show. */
    suited(view: ViewName): Aggregation[] {
        return this.aggregations.filter((a) => (view === "heatmap" ? a.hist : view === "flame" ? canFlame(a) : view === "list" || view === "series"));
    }

    /** The views that have something to show of this trace; all views, before there is a trace. */
    get views(): ViewName[] {
        if (!this.trace) return [];
        return url.VIEWS.filter((v) => (v === "console" || v === "records" ? this.trace!.info.prints || this.trace!.recordCount > 0 : this.suited(v).length > 0));
    }

    /** The view that is shown. */
    get shown(): ViewName | null {
        const there = this.views;
        if (this.view.view && there.includes(this.view.view)) return this.view.view;
        const best: ViewName[] = ["heatmap", "flame", "list", "console"];
        const stack = this.aggregations.some((a) => a.keyTypes.includes("stack"));
        return best.find((v) => there.includes(v) && (v !== "flame" || stack)) ?? there[0] ?? null;
    }

    /** The aggregation that is shown in a view. */
    shownAgg(view: ViewName): Aggregation | null {
        const suited = this.suited(view);
        return suited.find((a) => a.name === this.view.agg) ?? suited[0] ?? null;
    }

    unitOf(agg: Aggregation): Unit {
        if (this.view.unit !== "auto") return this.view.unit;
        if (resultOf(agg.fn) === "count") return "";
        const first = agg.keys.values().next().value;
        return divided(guessUnit(agg.name, first ? keyText(first) : "", this.trace?.info.script ?? this.script), agg.normal);
    }

    // -- address and theme

    address(): url.Address {
        return { node: this.node, name: this.name, script: this.ready ? null : this.script || null, args: this.givenArgs(), view: this.view };
    }

    private write(): void {
        this.written = url.write(this.address());
        history.replaceState(null, "", `${location.pathname}${location.search}#${this.written}`);
    }

    /** Takes the token out of the address that the server printed; it must not stay there. */
    private takeToken(): void {
        const left = take(location.hash);
        if (left !== location.hash) history.replaceState(null, "", `${location.pathname}${location.search}${left ? "#" + left : ""}`);
    }

    private read(): void {
        const a = url.read(location.hash);
        this.view = a.view;
        if (a.node !== null) this.node = a.node;
        this.name = a.name;
        this.args = a.args;
        const ready = this.scripts.find((s) => s.name === a.name);
        this.script = a.script ?? ready?.script ?? "";
        this.loaded++;
        this.changed();
    }

    setTheme(theme: Theme): void {
        this.theme = theme;
        store.set(THEME, theme);
        this.applyTheme();
    }

    get dark(): boolean {
        return this.theme === "dark" || (this.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    }

    private applyTheme(): void {
        document.documentElement.dataset.theme = this.dark ? "dark" : "light";
        this.changed();
    }
}

export const app = new App();

/** Draws the component again when the app has changed. */
export function useApp(): App {
    const [, set] = useState(0);
    useLayoutEffect(() => app.listen(() => set((n) => n + 1)), []);
    return app;
}
