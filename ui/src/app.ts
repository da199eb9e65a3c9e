// app.ts - the state of the page and what it does: the script, the node, the trace that is shown, and the view. Views read it and call its
// methods; it notifies them of changes, at most once a frame.
import { useLayoutEffect, useState } from "preact/hooks";
import { Group } from "./group.ts";
import { Live, type Running } from "./live.ts";
import { canFlame } from "./model/flame.ts";
import { divided, guessUnit, type Unit } from "./model/format.ts";
import { resultOf } from "./model/functions.ts";
import { type Do, Life, type Told } from "./model/life.ts";
import { type Chosen, Look, type Place } from "./model/look.ts";
import { problems } from "./model/matched.ts";
import type { Next } from "./model/next.ts";
import type {
    Diagnostic,
    Finding,
    Message,
    NodeInfo,
    Progress,
    RunningTrace,
    Script,
    Started,
    Stopped,
} from "./model/protocol.ts";
import { warning } from "./model/protocol.ts";
import type { Saved } from "./model/saved.ts";
import { type Aggregation, keyText, Trace } from "./model/trace.ts";
import type { View, ViewName } from "./model/url.ts";
import * as url from "./model/url.ts";
import { Way } from "./model/way.ts";
import * as mine from "./net/mine.ts";
import { get, Session } from "./net/session.ts";
import { take } from "./net/token.ts";
import { Plan } from "./plan.ts";

/** A double click is not meant to stop twice: a second stop does not wait for the last results. */
const TWICE_MS = 1000;

/** Steps in time that follow on each other within this time are one. */
const QUICK_MS = 1000;

/** The choices that are steps of their own for Back and Forward. */
const STEPS: (keyof View)[] = ["view", "agg", "flame", "zoom", "fn"];

/** What the browser's history keeps of each of its entries: its place among them, and the step of the way that was shown. */
interface Entry {
    step: number;
    way: number;
}

/** What is run at an address, without how it is looked at. */
const placeOf = (a: url.Address) => url.write({ ...a, view: url.DEFAULT_VIEW, look: url.NO_PLACE });

/** Whether an error says that a script looks into terms where these are hidden. */
export const hidesTerms = (tag: string) => tag === "D_TERMS_OFF" || tag === "AGENT_TERMS";

export type Phase = "idle" | "starting" | "running" | "stopped" | "failed";
export type Theme = "auto" | "light" | "dark";

export interface Recent {
    at: number;
    name: string;
    node: string | null;
    also?: string[];
    args: string[];
    script: string;
}

/** Most notices of a trace. */
const NOTICES = 20;

const RECENT = "erltrace.recent";
const THEME = "erltrace.theme";
const MOST_RECENT = 30;

/** Storage that works without an error, as empty, in a browser that stores nothing for us. */
export const store = {
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
    /** The nodes that are traced besides it. */
    also: string[] = [];
    /** What runs, or ran, if that is on several nodes. */
    group: Group | null = null;
    /** Whether the server has answered which node it traces. */
    known = false;
    name = "";
    script = "";
    args: string[] = [];
    view: View = url.DEFAULT_VIEW;
    /** What all views show: times, keys, what is chosen. */
    readonly look = new Look((step) => {
        if (this.way.step?.trace === this.trace) this.way.step!.look = this.place;
        this.write(step);
        this.changed();
    });
    /** Whether one has gone back to the first step: one more leaves the page. */
    first = false;
    phase: Phase = "idle";
    trace: Trace | null = null;
    /** What a run is given besides its script. */
    readonly plan = new Plan();
    /** The steps that led to the trace that is shown. */
    readonly way = new Way(Date.now());
    /** The trace that has ended since the user went to another step. */
    left: string | null = null;
    /** The small maps of the first page. */
    readonly small = new Live(() => this.changed());
    about: { node: string; findings: Finding[] } | null = null;
    failed: { text: string; hint: string | null; tag: string } | null = null;
    /** The progress of placing probes, if a start takes long. */
    progress: Progress | null = null;
    diagnostics: Diagnostic[] = [];
    dismissed = new Set<string>();
    /** Whether what is shown is live. */
    readonly life = new Life();
    theme: Theme = "auto";
    /** What stands before the title: thresholds that are crossed. */
    alarm = "";
    /** Called at each change, also in the background. */
    watch: () => void = () => {};
    version = "";
    kernel = false; // the server's pages may trace the kernel of its host
    /** Increases when the script or the view was set from outside the editor. */
    loaded = 0;

    private lacking: Diagnostic[] = []; // what is said of a step without a trace
    private session: Session | null = null;
    private seen: Trace | null = null; // what a small map knows of the trace that is joined
    private live: Trace | null = null; // the one that messages are about; another may be shown
    private readonly groups = new WeakMap<Trace, Group>();
    private listeners = new Set<() => void>();
    private frame = 0;
    private startId = 0;
    private recordId = 0;
    private stopAt = 0; // when the server was told to stop; 0: not told
    private checkId = 0;
    private checkTimer = 0;
    private written = "";
    private keptGroup = ""; // what is kept of the traces of several nodes
    private seam = false; // the next trace goes on where this one has ended
    private past = 0; // entries of the browser's history, from where the page was entered
    private readonly entries = new Map<number, number>(); // the entry where each step of the way was last seen
    private top = 0; // the last of them
    private ahead = false; // there is an entry for what is about to be shown
    private stepKind = "";
    private stepAt = 0;

    start(): void {
        this.theme = (store.get(THEME) as Theme | null) ?? "auto";
        this.applyTheme();
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.applyTheme());
        try {
            const kept = JSON.parse(store.get(RECENT) ?? "[]") as Recent[];
            this.recent = Array.isArray(kept)
                ? kept.filter((r) => typeof r?.script === "string").slice(0, MOST_RECENT)
                : [];
        } catch {
            this.recent = [];
        }
        this.takeToken();
        this.read();
        this.past = this.top = (history.state as Entry | null)?.step ?? 0;
        this.entered();
        addEventListener("popstate", (e) => {
            if (e.state !== null) this.goTo(e.state as Entry);
        });
        addEventListener("hashchange", () => {
            if (history.state !== null) return; // an entry of ours, see above
            if (this.takeToken()) this.session?.retry();
            this.pushed(this.past + 1);
            this.entered();
            if (location.hash.replace(/^#/, "") !== this.written) this.read();
        });
        if (this.life.link === "none") {
            this.changed();
            return;
        }
        this.session = new Session(
            (m) => this.message(m),
            (link, fresh, why) => {
                this.life.linked(link, fresh, why, this.busy && !this.group, Date.now());
                if (link === "open" && !this.life.lost) this.check();
                this.changed();
            },
        );
        const left = mine.left(placeOf(url.read(location.hash)));
        if (left?.traces) {
            this.phase = "starting";
            const nodes = left.traces.map(([node]) => node);
            const group: Group = new Group(
                nodes,
                () => ({}),
                this.view.apart,
                (m) => this.heard(group, m),
                left,
            );
            this.group = group;
        } else if (left) {
            this.life.reloaded(left.server, Date.now());
            this.phase = "starting";
            this.trace = null;
        }
        let silent = false;
        setInterval(() => {
            const now = this.phase === "running" && ((this.group ?? this.trace)?.silent ?? 0) > 0;
            if (now || silent || this.life.link !== "open" || this.life.lost) this.changed();
            silent = now;
        }, 500);
        setInterval(() => this.act(this.life.tick(Date.now())), 1000);
        void this.fetchScripts();
        void this.fetchNodes();
        void this.fetchRunning();
    }

    // -- listening

    changed(): void {
        if (this.frame) return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            this.group?.update();
            for (const f of [...this.listeners]) f();
        });
        // A page in the background draws nothing, but its title shows the state.
        if (this.trace) this.trace.cut = this.life.lost !== null || this.life.link !== "open";
        const icon = this.told.icon;
        this.watch();
        document.title = `${this.alarm ? `${this.alarm} · ` : ""}${icon ? `${icon} ` : ""}${this.name || "erltrace"}${this.trace?.info.node ? ` · ${this.trace.info.node}` : ""}`;
    }

    listen(f: () => void): () => void {
        this.listeners.add(f);
        return () => this.listeners.delete(f);
    }

    /** The notices of the results that are shown, with those that came while others were. */
    get notices(): Diagnostic[] {
        return this.trace?.notices ?? this.lacking;
    }

    private notice(t: Trace | null, ...more: Diagnostic[]): void {
        if (t) t.notices = [...t.notices, ...more].slice(-NOTICES);
        else this.lacking = [...this.lacking, ...more].slice(-NOTICES);
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
            if (node !== "")
                about = {
                    node,
                    findings: (await get<{ findings: Finding[] }>(`/api/about?node=${encodeURIComponent(node)}`))
                        .findings,
                };
        } catch {
            // whoever runs something there is told
        }
        if (node !== this.node) return;
        this.about = about;
        this.changed();
    }

    /** Whether scripts may look into terms on the chosen node, if that is known. */
    get terms(): Finding | null {
        return this.about?.node === this.node
            ? (this.about?.findings.find((f) => f.subject === "terms") ?? null)
            : null;
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
        const wanted =
            this.name && !this.script
                ? this.scripts.find((s) => s.name === this.name)
                : !this.script && place
                  ? this.scripts.find((s) => s.place === place)
                  : undefined;
        if (wanted) {
            const said = this.view; // the address takes precedence over what suits the script
            const { look } = url.read(location.hash);
            this.load(wanted, this.args);
            this.look.take(look);
            this.write();
            if (said.view) this.setView(said);
        }
        if (place && !this.view.view) this.view = { ...this.view, view: place as ViewName };
        this.changed();
    }

    // -- the script

    edit(text: string): void {
        if (text === this.script) return;
        this.script = text;
        this.plan.asking = null;
        this.write();
        this.checkSoon();
        this.changed();
    }

    private checkSoon(): void {
        this.uncheck();
        clearTimeout(this.checkTimer);
        this.checkTimer = window.setTimeout(() => this.check(), 400);
    }

    /** Changes the script from outside the editor, and runs it; sure: nobody is asked first. */
    rewrite(text: string, sure = false): void {
        if (text !== this.script) this.set(this.name, text, this.args, this.node);
        this.run(sure);
    }

    setOption(name: string, value: string): void {
        this.plan.set(name, value);
        this.write();
        this.checkSoon();
        this.changed();
    }

    /** The run that was asked about does not take place. */
    unask(): void {
        this.plan.asking = null;
        this.changed();
    }

    /** Loads a ready-made script. */
    load(s: Script, args: string[] = []): void {
        this.set(
            s.name,
            s.script,
            s.args.map((a, i) => args[i] ?? a.default ?? ""),
            this.node,
        );
        if (s.view) this.view = { ...this.view, view: s.view as ViewName, agg: "", unit: "auto" };
        this.write();
    }

    again(r: Recent): void {
        if (r.node !== null) this.also = r.also ?? [];
        this.set(r.name, r.script, r.args, r.node ?? this.node);
        this.view = { ...this.view, view: "", agg: "", unit: "auto" };
        this.write();
    }

    /** Runs the script that looks closer at something. */
    follow(n: Next): void {
        this.enter();
        if (this.group) this.also = this.group.nodes.slice(1);
        this.set(n.name, n.script, [], this.group?.nodes[0] ?? this.trace?.info.node ?? this.node);
        this.view = { ...this.view, view: n.view, agg: n.agg, unit: "auto" };
        this.run();
        this.write();
    }

    /** A trace is shown: a step of the way. */
    private step(node: string, also: readonly string[] = []): void {
        this.small.stop();
        this.way.add({
            name: this.name,
            script: this.script,
            args: this.givenArgs(),
            options: this.plan.options,
            node,
            also,
            view: this.view,
            trace: this.trace,
            look: this.place,
            address: placeOf(this.address()),
        });
        this.ahead = false;
        this.left = null;
        this.write();
        this.entered();
    }

    /** Another trace is about to be shown. */
    private leave(): void {
        this.life.lost = null;
        this.plan.stopped();
        mine.forget();
        if (this.trace) this.trace.stopped ??= { type: "stopped", reason: "left" };
    }

    /** What is in view and chosen. */
    private get place(): Place & { chosen: Chosen | null } {
        const { range, width, keys, zoom, chosen } = this.look;
        return { range, width, keys, zoom, chosen };
    }

    /** Shows a step of the way again, with its data, or the first page (-1); a trace that runs ends. */
    back(to: number): void {
        if (to === this.way.at) return;
        const entry = this.entries.get(this.way.idOf(to)) ?? this.past;
        const oldest = this.top - history.length + 1; // a browser forgets what is long past
        if (entry !== this.past && entry >= oldest) history.go(entry - this.past);
        else {
            this.enter();
            this.ahead = false;
            this.showStep(to, null);
            this.entered();
        }
    }

    /** Shows a step of the way, or the first page, as an address has it; null: as it was left. */
    private showStep(at: number, a: url.Address | null): void {
        const ended = this.phase === "running" ? this.name || "your script" : null;
        if (this.phase === "starting") this.startId = 0;
        if (this.busy && this.life.lost) this.giveUp();
        else if (this.busy && !this.group) this.end({ type: "stop" });
        this.leave();
        this.left = ended;
        this.way.at = at;
        const s = this.way.step;
        if (s) this.small.stop();
        else this.small.resume();
        this.trace = s?.trace ?? null;
        this.group?.close();
        this.group = (this.trace && this.groups.get(this.trace)) ?? null;
        this.phase = this.trace ? "stopped" : "idle";
        this.failed = this.progress = null;
        this.lacking = [];
        this.dismissed.clear();
        if (s && !s.trace) this.lacks("were dropped, to have room for those of later steps");
        const as = a && (!s || placeOf(a) === s.address) ? a : null;
        this.view = as?.view ?? s?.view ?? url.DEFAULT_VIEW;
        if (s) this.also = [...s.also];
        else if (a?.node) this.also = a.also ?? [];
        this.plan.options = s?.options ?? a?.options ?? {};
        if (s) this.set(s.name, s.script, s.args, s.node);
        else this.set(a?.name ?? "", a ? this.scriptOf(a) : "", a?.args ?? [], a?.node ?? this.node);
        this.look.take(as?.look ?? s?.look ?? url.NO_PLACE);
        this.write();
    }

    /** What cannot be shown again is said. */
    private lacks(why: string): void {
        this.lacking = [warning(`the data of this step ${why}`, { hint: "run it again" })];
    }

    private set(name: string, script: string, args: string[], node: string | null): void {
        this.name = name;
        this.script = script;
        this.args = args;
        this.node = node;
        this.look.take(url.NO_PLACE);
        this.diagnostics = [];
        this.plan.asking = null;
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
        this.checkSoon();
        this.changed();
    }

    /** The nodes that are chosen. */
    get chosen(): string[] {
        return this.node === null ? [] : [this.node, ...this.also];
    }

    /** Chooses the nodes that are traced: at least one. */
    setNodes(node: string, also: string[] = []): void {
        this.node = node;
        this.also = also;
        if (node !== "" && this.way.at < 0 && this.phase === "idle") this.small.start(node);
        void this.fetchAbout(node);
        this.write();
        this.check();
        this.changed();
    }

    private givenArgs(): string[] {
        return this.args.slice(0, this.argNames.length);
    }

    // What was found out, and answers that are still to come, are about another script than that of now.
    private uncheck(): void {
        this.plan.matched = [];
        this.checkId = 0;
    }

    private check(): void {
        this.uncheck();
        if (this.phase === "starting" || this.life.link !== "open" || this.script.trim() === "") return;
        this.checkOn(this.node);
    }

    // One node after the other, as a check replaces those that have not begun.
    private checkOn(node: string | null): void {
        this.checkId = this.session!.send({
            type: "check",
            script: this.script,
            name: this.fileName,
            args: this.givenArgs(),
            ...(node === null ? {} : { node }),
            ...this.plan.given,
        });
    }

    private get fileName(): string {
        return this.name || "script.d";
    }

    // -- running

    /** Runs the script; sure: also if it is dear, which is asked about otherwise. */
    run(sure = false): void {
        if (this.script.trim() === "" || this.life.link !== "open" || !this.known || !this.plan.valid) return;
        clearTimeout(this.checkTimer);
        if (!sure && this.plan.ask()) {
            this.changed();
            return;
        }
        this.plan.asking = null;
        this.remember();
        this.look.range = null;
        this.enter();
        this.write();
        const start = {
            type: "start",
            page: mine.page(),
            script: this.script,
            name: this.fileName,
            args: this.givenArgs(),
            ...this.plan.given,
        };
        if (this.also.length > 0) this.runOn(this.chosen, (node) => ({ ...start, node }));
        else {
            this.begin();
            this.startId = this.session!.send({ ...start, ...(this.node === null ? {} : { node: this.node }) });
        }
        this.changed();
    }

    /** Runs a script on several nodes. */
    private runOn(nodes: string[], start: (node: string) => Record<string, unknown>): void {
        if (this.busy && !this.group) this.session!.send({ type: "stop" });
        this.begin();
        mine.forget(); // until one of them runs
        this.startId = 0;
        const group: Group = new Group(nodes, start, this.view.apart, (m) => this.heard(group, m));
        this.group = group;
    }

    /** Whether this page views a trace, which runs. To join it would leave it first, which ends it if nobody else views it. */
    watches(trace: number): boolean {
        const of = (t: Trace | null | undefined) => t?.live.trace === trace;
        if (this.group) return this.group.members.some((m) => m.busy && of(m.trace));
        return this.phase === "running" && of(this.trace);
    }

    /** Whether traces can be joined as one: none of them is, or is about to be, viewed by this page. */
    joinable(all: readonly RunningTrace[]): boolean {
        return this.phase !== "starting" && !all.some((r) => this.watches(r.trace));
    }

    /** Looks on at traces of one script on several nodes, as one. */
    joinAll(all: RunningTrace[]): void {
        const [first] = all;
        if (!first || !this.joinable(all)) return;
        this.enter();
        const nodes = all.map((r) => r.node);
        this.also = nodes.slice(1);
        this.set(first.name, first.script, first.args, first.node);
        const traces = new Map(all.map((r) => [r.node, r.trace]));
        this.runOn(nodes, (node) => ({ type: "join", page: mine.page(), trace: traces.get(node) }));
        this.changed();
    }

    private heard(group: Group, m: Message | null): void {
        const shown = group === this.group;
        if (m?.type === "diagnostics" && m.id === undefined && (shown || group.trace))
            this.notice(group.trace, ...m.diagnostics);
        if (!shown) return;
        if (m?.type === "diagnostics" && m.id !== undefined) this.diagnostics = m.diagnostics;
        if (m?.type === "drops" || m?.type === "errors") this.dismissed.delete(m.type);
        if (m?.type === "started" || m?.type === "stopped") void this.fetchRunning();
        if (group.trace && group.trace !== this.trace) {
            this.leave();
            this.plan.started(() => this.stop());
            this.look.begin(group.trace.info.t);
            this.trace = group.trace;
            this.groups.set(this.trace, group);
            this.step(group.nodes[0]!, group.nodes.slice(1));
        }
        this.phase = group.phase;
        if (group.left && this.phase === "failed") {
            this.awayTooLong();
            this.group = null;
            this.phase = "idle";
        }
        const { found } = group;
        const kept = JSON.stringify(found);
        if (found && kept !== this.keptGroup) this.keep(found);
        else if (!found && !this.busy) mine.forget();
        this.keptGroup = kept;
        this.failed = this.phase === "failed" ? group.failed : null;
        this.progress = group.progress;
        this.changed();
    }

    /** Opens a small map large: its trace, with all that is known of it. */
    enlarge(r: Running): void {
        const trace = r.trace!;
        const { trace: id, node, name, script, args, t } = trace.info;
        this.enter();
        this.view = { ...this.view, view: r.map.view, agg: r.map.agg, unit: "auto" };
        if (trace.stopped) {
            this.leave();
            this.set(name, script, args, node);
            this.trace = this.live = trace;
            this.phase = "stopped";
            this.step(node);
            return;
        }
        this.seen = trace;
        this.join({ trace: id, node, name, script, args, viewers: 1, since: t });
    }

    join(r: RunningTrace): void {
        if (this.watches(r.trace)) return;
        this.enter();
        this.also = [];
        this.set(r.name, r.script, r.args, r.node);
        this.begin();
        this.startId = this.session!.send({ type: "join", page: mine.page(), trace: r.trace });
        this.changed();
    }

    private begin(): void {
        this.group?.close();
        this.group = null;
        this.checkId = 0; // an answer to come would replace what the start finds
        this.phase = "starting";
        this.plan.stopped();
        this.life.lost = null;
        this.seam = false;
        this.keep({ server: this.life.serverId, trace: 0 });
        this.stopAt = 0;
        this.failed = null;
        this.progress = null;
        this.diagnostics = [];
        this.lacking = [];
        this.dismissed.clear();
        this.left = null;
    }

    stop(): void {
        if (this.life.lost) {
            this.giveUp();
            return;
        }
        if (!this.busy || (this.stopping && Date.now() - this.stopAt < TWICE_MS)) return;
        this.end({ type: "stop" });
    }

    /** Lets the trace go on without any page, or no longer. */
    record(on: boolean): void {
        if (this.group) this.group.record(on);
        else if (this.phase === "running") this.recordId = this.session!.send({ type: "record", on });
    }

    stopAll(): void {
        if (this.phase === "running") this.end({ type: "stop", all: true });
    }

    private end(how: Record<string, unknown>): void {
        (this.group ?? this.session!).send(how);
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
        const r: Recent = {
            at: Date.now(),
            name: this.name,
            node: this.node,
            also: this.also,
            args: this.givenArgs(),
            script: this.script,
        };
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

    /** Does what becomes of a trace that is out of reach asks for. */
    private act(what: Do): void {
        const t = this.trace;
        switch (what) {
            case "rejoin":
                this.startId = this.session!.send({
                    type: "rejoin",
                    page: mine.page(),
                    ...(t && this.phase === "running"
                        ? { trace: t.live.trace, n: t.last, news: t.news }
                        : { trace: mine.left()?.trace ?? 0 }),
                });
                break;
            case "restart":
                if (t && this.phase === "running") this.startAgain(t);
                else this.over("the server was restarted");
                break;
            case "look":
                void this.fetchNodes().then(() => {
                    const there = this.nodes.some((n) => n.node === t?.info.node && n.attachable);
                    if (there) this.act(this.life.found());
                });
                break;
            case "end":
                this.over();
        }
        if (what) this.changed();
    }

    /** Sends the script of a trace again; what comes then goes on in the same map. */
    private startAgain(t: Trace): void {
        const { script, name, args, node, options } = t.info;
        this.seam = true;
        this.startId = this.session!.send({ type: "start", page: mine.page(), script, name, args, node, options });
    }

    /** The trace that was out of reach has ended. */
    private over(why = ""): void {
        const lost = this.life.lost;
        const t = this.trace;
        this.life.lost = null;
        this.seam = false;
        mine.forget();
        if (!t || this.phase !== "running") {
            if (this.phase === "starting" && lost?.what === "link")
                this.failed = { tag: "", text: "the connection was lost while it started", hint: null };
            else if (lost?.what === "reload") this.awayTooLong();
            this.phase = this.failed ? "failed" : t ? "stopped" : "idle";
        } else {
            const away = `${Math.round((Date.now() - (lost?.since ?? 0)) / 1000)} s`;
            t.stopped = lost?.end ?? {
                type: "stopped",
                reason: lost?.what === "server" ? "server" : "lost",
                text:
                    why ||
                    (this.life.link === "open"
                        ? `the page was without a connection for ${away}, and the trace has not waited longer`
                        : `there was no connection for ${away}`),
                hint: null,
            };
            this.phase = "stopped";
        }
        this.changed();
    }

    private awayTooLong(): void {
        this.lacking = [warning("the trace of this page has ended, as the page was away for too long")];
    }

    /** The user does not wait for a trace that is out of reach. */
    private giveUp(): void {
        if (this.session!.open) this.session!.send({ type: "stop" });
        const running = this.trace !== null && this.phase === "running";
        const end = { type: "stopped", reason: "left", text: "while it was out of reach; it ends by itself" } as const;
        if (running) this.trace!.stopped = end;
        this.phase = this.trace ? "stopped" : "idle";
        this.life.lost = null;
        this.seam = false;
        mine.forget();
        this.changed();
    }

    /** Goes on, in the same map, with a trace that was lost. */
    goOn(): void {
        const t = this.trace;
        if (!t?.stopped || this.life.link !== "open") return;
        const { reason, trace } = t.stopped;
        this.life.again(reason === "server" ? "server" : trace === undefined ? "link" : "node", t.stopped, Date.now());
        this.phase = "running";
        this.live = t;
        t.stopped = null;
        this.startAgain(t);
        this.changed();
    }

    /** Whether what is shown belongs to a trace that goes on, but is not live. */
    get stale(): boolean {
        return this.phase === "running" && !["running", "stopping"].includes(this.told.state);
    }

    /** What the page says of its state. */
    get told(): Told {
        const t = this.trace;
        return this.life.tell(
            {
                phase: this.phase,
                silent: this.phase === "running" ? ((this.group ?? t)?.silent ?? 0) : 0,
                stopping: this.stopping,
                placing: this.progress !== null,
                reason: t?.stopped?.reason ?? null,
                saved: !!t?.origin,
            },
            Date.now(),
        );
    }

    private message(m: Message): void {
        const t = this.live;
        switch (m.type) {
            case "hello":
                this.version = m.version;
                this.kernel = m.kernel === true;
                this.act(this.life.hello(m.server, m.limits.keep, Date.now()));
                void this.fetchRunning();
                if (this.nodes.length === 0) void this.fetchNodes();
                break;
            case "diagnostics":
                if (m.id === undefined) this.notice(t, ...m.diagnostics);
                else if (m.id === this.startId && !this.life.lost) this.diagnostics = m.diagnostics;
                break;
            case "checked":
                if (m.id === this.checkId && this.phase !== "starting" && this.plan.matched.length === 0)
                    this.diagnostics = m.diagnostics;
                break;
            case "matched": {
                if (m.id !== this.checkId || this.phase === "starting") break;
                const { matched } = this.plan;
                matched.push(m);
                if (m.matches) this.diagnostics = problems(matched, this.chosen.length);
                const node = this.chosen[matched.length];
                if (node !== undefined) this.checkOn(node);
                break;
            }
            case "failed":
                if (m.id === this.recordId) this.notice(t, warning(m.text, m));
                if (m.id !== this.startId) break;
                if (this.life.lost) {
                    if (this.life.lost.end) Object.assign(this.life.lost.end, { text: m.text, hint: m.hint });
                    this.act(this.life.failed(Date.now()));
                    break;
                }
                mine.forget();
                this.phase = "failed";
                this.failed = m;
                if (hidesTerms(m.tag) && this.node) void this.fetchAbout(this.node);
                break;
            case "progress":
                if (m.id === this.startId && this.phase === "starting") this.progress = m;
                break;
            case "started":
                if (this.startId === 0) break; // it was left for others
                this.begun(m);
                if (this.node === null) this.node = m.node;
                if (this.node === m.node) void this.fetchAbout(m.node);
                void this.fetchRunning();
                break;
            case "missed":
                for (const one of m.messages) this.message(one);
                if (t) t.recordsSkipped += m.lost;
                break;
            case "drops":
            case "errors":
                if (t === this.trace) this.dismissed.delete(m.type);
                t?.take(m);
                break;
            case "stopped":
                if (this.phase === "starting" && m.trace === undefined && m.id === this.startId) {
                    // the trace that was to start will not; what is still shown, if anything, was left for it
                    mine.forget();
                    if (this.trace) this.trace.stopped ??= m;
                    this.phase = this.trace ? "stopped" : "idle";
                } else if (t && this.isOf(t, m)) {
                    const shown = t === this.trace && this.phase === "running";
                    if (shown && this.life.stopped(m, Date.now())) break;
                    t.stopped = m;
                    if (shown) {
                        mine.forget();
                        this.plan.stopped();
                        this.phase = "stopped";
                    }
                }
                void this.fetchRunning();
                break;
            default:
                t?.take(m);
        }
        this.changed();
    }

    /** Whether a trace has ended: it is named by its number, or by what it was started, joined or started again with. */
    private isOf(t: Trace, { trace, id }: Stopped): boolean {
        return trace === undefined
            ? id === undefined || id === t.live.id || id === this.startId
            : trace === t.live.trace;
    }

    /** Shows a saved session, as a trace that has ended. */
    show({ trace, notices, look }: Saved): void {
        const { name, script, args, node } = trace.info;
        this.enter();
        this.leave();
        this.trace = trace;
        this.phase = "stopped";
        this.failed = this.progress = null;
        trace.notices = notices;
        this.dismissed.clear();
        this.group = null;
        const [first = "", ...also] = node.split(", ");
        this.also = also;
        this.set(name, script, args, first);
        const address = url.read(look);
        this.view = address.view;
        this.look.take(address.look);
        this.step(first, also);
        this.write();
    }

    /** A trace runs: another one, the one that was out of reach, or one that goes on for it. */
    private begun(m: Started): void {
        const what = this.life.started();
        const t = this.live;
        const same = what !== null && t !== null && t.live.trace === m.trace && t.live.t === m.t;
        if (!same && !(this.seam && what !== null && t?.resume(m, what))) {
            this.leave();
            this.look.begin(m.t);
            this.live = this.seen?.info.trace === m.trace ? this.seen : new Trace(m);
            this.seen = null;
            if (t) this.live.marking = t.info.t === m.t ? t.marking : { ...t.marking, notes: [] };
            this.trace = this.live;
            this.plan.started(() => this.stop());
            this.step(m.node);
        }
        if (same) t.live = m; // answers have the number of the rejoin from now on
        this.trace = this.live;
        this.seam = false;
        this.phase = "running";
        this.keep({ server: this.life.serverId, trace: m.trace });
    }

    private keep(found: Omit<mine.Left, "place">): void {
        mine.keep({ ...found, place: placeOf(url.read(location.hash)) });
    }

    dismiss(what: string): void {
        this.dismissed.add(what);
        this.changed();
    }

    // -- views

    setView(change: Partial<View>): void {
        this.view = { ...this.view, ...change };
        if (this.way.step?.trace === this.trace) this.way.step!.view = this.view;
        this.write(STEPS.find((k) => k in change) ?? "");
        this.changed();
    }

    /** Whether the node is a part of keys; their numbers change with it. */
    setApart(apart: boolean): void {
        this.group?.setApart(apart);
        this.setView({ apart });
    }

    get aggregations(): Aggregation[] {
        return this.trace ? [...this.trace.aggregations.values()] : [];
    }

    /** The aggregations that a view can show. */
    suited(view: ViewName): Aggregation[] {
        return this.aggregations.filter((a) =>
            view === "heatmap" ? a.hist : view === "flame" ? canFlame(a) : view === "list" || view === "series",
        );
    }

    /** The views that have something to show of this trace; all views, before there is a trace. */
    get views(): ViewName[] {
        if (!this.trace) return [];
        return url.VIEWS.filter((v) =>
            v === "console" || v === "records"
                ? this.trace!.info.prints || this.trace!.recordCount > 0
                : this.suited(v).length > 0,
        );
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
        return divided(
            guessUnit(agg.name, first ? keyText(first) : "", this.trace?.info.script ?? this.script),
            agg.normal,
        );
    }

    // -- address and theme

    address(): url.Address {
        return {
            node: this.node,
            also: this.also,
            name: this.name,
            script: this.ready ? null : this.script || null,
            args: this.givenArgs(),
            options: this.plan.options,
            view: this.view,
            look: this.look,
        };
    }

    // step: the kind of step that a user takes, which Back takes back; "": none. Steps in time follow quickly on each other: they are one.
    private write(step = ""): void {
        const before = this.written;
        this.written = url.write(this.address());
        const again = step === "range" && step === this.stepKind && performance.now() - this.stepAt < QUICK_MS;
        const to = `${location.pathname}${location.search}#${this.written}`;
        const next = step && !again && (before !== this.written || step === "run");
        const past = this.past + (next ? 1 : 0);
        const state: Entry = { step: past, way: this.way.id };
        try {
            if (next) history.pushState(state, "", to);
            else history.replaceState(state, "", to);
            if (next) this.pushed(past);
        } catch {
            // some browsers refuse more than so many changes in a time: a later one has it
        }
        if (step) [this.stepKind, this.stepAt] = [step, performance.now()];
    }

    // What was ahead in the history is gone.
    private pushed(past: number): void {
        this.past = this.top = past;
        this.first = false;
        for (const [id, at] of this.entries) if (at >= past) this.entries.delete(id);
        if (!this.ahead) this.entries.set(this.way.id, past);
    }

    // What is shown has this entry.
    private entered(): void {
        history.replaceState({ step: this.past, way: this.way.id } satisfies Entry, "");
        for (const [id, at] of this.entries) if (at === this.past) this.entries.delete(id); // it had another step before
        this.entries.set(this.way.id, this.past);
    }

    // Something else is about to be shown, at an entry of its own.
    private enter(): void {
        if (this.ahead) return;
        this.ahead = true;
        this.write("run");
    }

    // Back or Forward has come to an entry. At the same step, views are as they were then; the script, and what runs, stay.
    private goTo({ step, way }: Entry): void {
        const undone = this.ahead && step < this.past && !this.life.lost && ["starting", "failed"].includes(this.phase);
        this.past = step;
        this.first = step === 0;
        this.stepKind = "";
        this.ahead = false;
        const a = url.read(location.hash);
        const at = this.way.find(way) ?? (placeOf(a) === placeOf(this.address()) ? this.way.at : null);
        if (at !== this.way.at || undone) {
            this.showStep(at ?? -1, a);
            if (at === null) this.lacks("are gone, as later steps took their room or the page was loaded again");
        } else {
            this.view = a.view;
            this.look.take(a.look);
            this.write();
        }
        this.entered();
        this.changed();
    }

    /** Takes the token out of the address that the server printed; it must not stay there. */
    private takeToken(): boolean {
        const before = location.hash;
        const left = take(before);
        if (left !== before)
            history.replaceState(null, "", `${location.pathname}${location.search}${left ? `#${left}` : ""}`);
        return left !== before;
    }

    private scriptOf(a: url.Address): string {
        return a.script ?? this.scripts.find((s) => s.name === a.name)?.script ?? "";
    }

    private read(): void {
        const a = url.read(location.hash);
        this.view = a.view;
        this.look.take(a.look);
        if (a.node !== null) [this.node, this.also] = [a.node, a.also ?? []];
        this.name = a.name;
        this.args = a.args;
        this.plan.options = a.options ?? {};
        this.script = this.scriptOf(a);
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
