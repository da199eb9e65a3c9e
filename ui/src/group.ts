// group.ts - one script on several nodes: for each a socket with its trace, and all of them as one trace. Each node starts, is lost, is waited
// for, and ends by itself; the others do not notice.
import type { Phase } from "./app.ts";
import { Life, type Link } from "./model/life.ts";
import { type Message, type NodeInfo, type Progress, type Started, warning } from "./model/protocol.ts";
import { cellsOf, Together } from "./model/together.ts";
import { Trace } from "./model/trace.ts";
import * as mine from "./net/mine.ts";
import { get, Session } from "./net/session.ts";

export class Member {
    phase: Phase = "starting";
    trace: Trace | null = null;
    /** Why it has not started. */
    failed: { tag: string; text: string; hint: string | null } | null = null;
    progress: Progress | null = null;
    private readonly session: Session;
    readonly life = new Life();
    private id = 0;
    private recordId = 0;
    private readonly clock = setInterval(() => this.tick(), 1000);

    /** left: the trace that this page was watching on that server before it was loaded again. */
    constructor(
        readonly node: string,
        private readonly start: Record<string, unknown>,
        private readonly cells: number,
        private readonly notify: (m: Message | null) => void,
        private readonly left: { server: string; trace: number } | null,
    ) {
        if (left) this.life.reloaded(left.server, Date.now());
        this.session = new Session(
            (m) => this.message(m),
            (link, fresh, why) => this.linked(link, fresh, why),
        );
        if (!left) this.id = this.session.send(start);
    }

    get busy(): boolean {
        return this.phase === "starting" || this.phase === "running";
    }

    send(m: Record<string, unknown>): void {
        if (!this.busy) return;
        const { lost } = this.life;
        if (m.type !== "stop" || !this.trace || !lost) {
            this.session.send(m);
            return;
        }
        // nobody waits any more for what is out of reach
        if (this.session.open && (lost.asked || lost.what !== "node")) this.session.send(m);
        this.trace.cut = false;
        this.trace.stopped = { type: "stopped", reason: "left", text: "while it was out of reach; it ends by itself" };
        this.life.lost = null;
        this.end("stopped");
        this.notify(null);
    }

    /** Lets its trace go on without any page, or no longer. */
    record(on: boolean): void {
        if (this.phase === "running") this.recordId = this.session.send({ type: "record", on });
    }

    /** Another trace is shown. What this one still has to say is taken, if the server is there. */
    close(): void {
        if (!this.busy) return;
        const says = this.trace !== null && this.session.open && !this.life.lost;
        this.send({ type: "stop" });
        if (this.trace) this.trace.stopped ??= { type: "stopped", reason: "left" };
        this.end(this.trace ? "stopped" : "idle", says);
    }

    private linked(link: Link, fresh: boolean, why: string): void {
        if (!this.busy) {
            if (link !== "open") this.session.close();
            return;
        }
        this.life.linked(link, fresh, why, this.trace !== null, Date.now());
        if (!this.trace && !this.left && (link === "cut" || link === "gone" || link === "refused")) this.lost();
        this.notice();
    }

    /** What is out of reach is not live. */
    private notice(): void {
        if (this.trace) this.trace.cut = this.life.lost !== null;
        this.notify(null);
    }

    private tick(): void {
        const what = this.life.tick(Date.now());
        if (what === "end") this.lost();
        if (what === "look") void this.look();
        if (this.life.lost) this.notify(null); // what is said has how long
    }

    /** Starts the script again if the node is there. */
    private async look(): Promise<void> {
        const { nodes } = await get<{ nodes: NodeInfo[] }>("/api/nodes").catch(() => ({ nodes: [] as NodeInfo[] }));
        const there = nodes.some((n) => n.node === this.node && n.attachable);
        if (this.busy && there && this.life.found() === "restart") this.again();
    }

    private again(): void {
        const { script, name, args, options } = this.trace!.info;
        this.id = this.session.send({ type: "start", page: mine.page(), script, name, args, options, node: this.node });
    }

    private lost(): void {
        const away = this.left && !this.trace;
        const text = away
            ? "its trace has ended, as the page was away for too long"
            : "the connection to the server was lost";
        if (this.trace) this.trace.stopped = this.life.lost?.end ?? { type: "stopped", reason: "lost", text };
        else this.failed = { tag: "", text, hint: null };
        this.end(this.trace ? "stopped" : "failed");
        this.notify(null);
    }

    /** Goes on, after the connection was lost, with the trace or with another one of the same script. */
    private back(server: string, keep: number): void {
        const what = this.life.hello(server, keep, Date.now());
        const t = this.trace;
        if (what === "end") this.lost();
        if (what === "rejoin")
            this.id = this.session.send({
                type: "rejoin",
                page: mine.page(),
                ...(t ? { trace: t.live.trace, n: t.last, news: t.news } : { trace: this.left?.trace ?? 0 }),
            });
        if (what === "restart") {
            if (t) this.again();
            else this.id = this.session.send(this.start);
        }
    }

    private begun(m: Started): boolean {
        const what = this.life.started();
        const t = this.trace;
        const goesOn = t !== null && what !== null && (t.live.t === m.t || t.resume(m, what));
        if (!goesOn) this.trace = new Trace(m, this.cells);
        this.phase = "running";
        return goesOn;
    }

    private end(phase: Phase, says = false): void {
        this.phase = phase;
        clearInterval(this.clock);
        if (!says) this.session.close();
    }

    private message(m: Message): void {
        switch (m.type) {
            case "progress":
                this.progress = m;
                break;
            case "hello":
                this.back(m.server, m.limits.keep);
                break;
            case "started":
                if (this.begun(m)) {
                    this.notice();
                    return;
                }
                break;
            case "missed":
                for (const one of m.messages) this.message(one);
                break;
            case "failed":
                if (m.id === this.recordId) {
                    this.notify({ type: "diagnostics", diagnostics: [warning(`${this.node}: ${m.text}`, m)] });
                    return;
                }
                if (m.id !== this.id) break;
                if (this.life.lost) {
                    if (this.life.lost.end) Object.assign(this.life.lost.end, { text: m.text, hint: m.hint });
                    if (this.life.failed(Date.now()) === "end") this.lost();
                    else this.notice();
                    return;
                }
                this.failed = m;
                this.end("failed");
                break;
            case "stopped":
                if (this.phase === "running" && this.life.stopped(m, Date.now())) {
                    this.notice();
                    return;
                }
                if (this.trace) this.trace.stopped = m;
                this.end(this.trace ? "stopped" : "idle");
                break;
            default:
                this.trace?.take(m);
        }
        this.notify(m);
    }
}

export class Group {
    readonly members: Member[];
    /** What has come from all nodes; null until the first one has started. */
    trace: Together | null = null;
    private fresh = false;

    /**
     * start: the message that starts the trace of a node, or joins one. notify: called after each message of a node's, and other changes. left: what this
     * page was watching before it was loaded again.
     */
    constructor(
        readonly nodes: readonly string[],
        start: (node: string) => Record<string, unknown>,
        private apart: boolean,
        private readonly notify: (m: Message | null) => void,
        readonly left: mine.Left | null = null,
    ) {
        const cells = cellsOf(nodes.length);
        const traces = new Map(left?.traces);
        this.members = nodes.map((node, i) => {
            const trace = traces.get(node);
            const had = left && trace !== undefined ? { server: left.server, trace } : null;
            return new Member(node, start(node), cells, (m) => this.heard(i, m), had);
        });
    }

    /** What a page that is loaded again finds its traces by; null: none runs. */
    get found(): Omit<mine.Left, "place"> | null {
        const going = this.members.filter((m) => m.busy && m.trace);
        if (going.length === 0) return null;
        return {
            server: going[0]!.life.serverId,
            trace: 0,
            traces: going.map((m) => [m.node, m.trace!.live.trace]),
        };
    }

    private heard(i: number, m: Message | null): void {
        const { node, trace } = this.members[i]!;
        if (m?.type === "started" && trace) {
            this.trace ??= new Together(trace.info, this.nodes, this.apart);
            this.trace.add(node, trace);
        }
        this.fresh = true;
        this.notify(m);
    }

    /** Takes over what has come since the last time; for before it is drawn. */
    update(): void {
        if (!this.fresh) return;
        this.fresh = false;
        this.trace?.update();
    }

    setApart(apart: boolean): void {
        this.apart = apart;
        this.trace?.setApart(apart);
    }

    get phase(): Phase {
        const some = (phase: Phase) => this.members.some((m) => m.phase === phase);
        return (["running", "starting", "stopped", "failed"] as const).find(some) ?? "idle";
    }

    /** How long a node has sent nothing that should have. */
    get silent(): number {
        return Math.max(...this.members.map((m) => m.trace?.silent ?? 0));
    }

    /** The nodes whose traces go on without any page, and all that run. */
    get recorded(): { on: number; of: number } {
        const going = this.members.filter((m) => m.phase === "running");
        return { on: going.filter((m) => m.trace?.recorded).length, of: going.length };
    }

    record(on: boolean): void {
        for (const m of this.members) m.record(on);
    }

    /** Why nothing runs. */
    get failed(): Member["failed"] {
        return this.members.find((m) => m.failed)?.failed ?? null;
    }

    get progress(): Progress | null {
        return this.members.find((m) => m.phase === "starting" && m.progress)?.progress ?? null;
    }

    send(m: Record<string, unknown>): void {
        for (const x of this.members) x.send(m);
    }

    close(): void {
        for (const x of this.members) x.close();
    }
}
