// live.ts - runs the small maps of the first page: a socket and a trace each, on the node that the user has chosen. They end when another
// script is run, when the page is left, and while nobody has looked at it for a while.
import { LIVE_MAPS, type LiveMap } from "./model/live.ts";
import type { Message } from "./model/protocol.ts";
import { Trace } from "./model/trace.ts";
import { Session } from "./net/session.ts";

/** Percent of a scheduler that a trace may take if nobody says otherwise. */
export const DEAR = 40;
/** How long a hidden page goes on, ms. */
const HIDDEN_MS = 60_000;

export interface Running {
    map: LiveMap;
    trace: Trace | null;
    /** Why there is nothing to see: it was refused, or has ended. */
    why: string | null;
    hint: string | null;
    session: Session;
}

export class Live {
    /** The node that is watched; null: none. */
    node: string | null = null;
    running: Running[] = [];
    private wanted: string | null = null; // the node to watch when the first page is shown again
    /** Stopped since the page was hidden. */
    asleep = false;
    private timer = 0;
    private readonly seen = () => {
        clearTimeout(this.timer);
        if (document.hidden) this.timer = window.setTimeout(() => this.sleep(), HIDDEN_MS);
        else if (this.asleep) this.start(this.node!);
    };

    constructor(private readonly changed: () => void) {}

    start(node: string): void {
        this.stop();
        this.node = this.wanted = node;
        this.running = LIVE_MAPS.map((map) => this.open(map, node));
        document.addEventListener("visibilitychange", this.seen);
        this.changed();
    }

    /** Ends all of them, for now. */
    stop(): void {
        document.removeEventListener("visibilitychange", this.seen);
        clearTimeout(this.timer);
        for (const r of this.running) r.session.close();
        this.running = [];
        this.node = null;
        this.asleep = false;
        this.changed();
    }

    /** The user wants no more of it. */
    end(): void {
        this.wanted = null;
        this.stop();
    }

    /** The first page is shown again. */
    resume(): void {
        if (this.wanted !== null) this.start(this.wanted);
    }

    private sleep(): void {
        for (const r of this.running) r.session.close();
        this.asleep = true;
        this.changed();
    }

    /** Watches on although it costs more than its part: the limit is that of any trace. */
    again(r: Running): void {
        const map = { ...r.map, load: DEAR, script: r.map.script.replace(/maxload=\d+/, `maxload=${DEAR}`) };
        r.session.close();
        this.running = this.running.map((x) => (x === r ? this.open(map, this.node!) : x));
        this.changed();
    }

    /** What all of them cost, permille of a scheduler. */
    get share(): number {
        let sum = 0;
        for (const r of this.running)
            if (r.trace && !r.trace.stopped) for (const c of r.trace.cost.values()) sum += c.share;
        return sum;
    }

    private open(map: LiveMap, node: string): Running {
        const r: Running = {
            map,
            trace: null,
            why: null,
            hint: null,
            session: new Session(
                (m) => this.message(r, m),
                (link, fresh, why) => {
                    if (link === "connecting" || this.asleep) return;
                    if (r.trace) r.trace.cut = link !== "open";
                    const lost = link !== "mute" && (link !== "open" || (fresh && r.trace !== null));
                    if (lost) {
                        r.why = why || "the connection to the server was lost";
                        r.session.close();
                    }
                    this.changed();
                },
            ),
        };
        r.session.send({ type: "start", node, script: map.script, name: map.name, args: [] });
        return r;
    }

    private message(r: Running, m: Message): void {
        const t = r.trace;
        switch (m.type) {
            case "started":
                r.trace = new Trace(m);
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
            case "cost":
                t?.cost.set(m.node, m);
                break;
            case "failed":
                r.why = m.text;
                r.hint = m.hint;
                break;
            case "stopped":
                if (t) t.stopped = m;
                r.why =
                    m.reason === "overload"
                        ? `stopped: it took more than ${r.map.load} % of a scheduler`
                        : m.text || "it has ended";
                r.hint = m.hint ?? null;
                break;
            default:
                return;
        }
        this.changed();
    }
}
