// session.ts - the socket: messages for the listener, and whether it is alive. It connects again by itself, as soon as a plain request is
// answered; what becomes of a trace is for its owner to decide (model/life.ts).
//
// A browser does not tell a page of the server's pings, and a cut network closes no socket. So the page asks when it has heard nothing, and
// without an answer the connection counts as mute.
import type { Link } from "../model/life.ts";
import type { Message } from "../model/protocol.ts";
import { ask, token } from "./token.ts";

const TICK_MS = 500;
/** So many of them without a word, and so long: a page in the background has slower clocks. */
const SILENT_TICKS = 3;
const SILENT_MS = 1400;
const PROBE_MS = 1000;
const RETRY_MS = 250;
const RETRY_MOST_MS = 1000;
/** After a minute in vain there is less hurry. */
const PATIENT_AFTER = 60;
const PATIENT_MS = 5000;

/** The network is down. A server on this machine is reached without one. */
const offline = () => !navigator.onLine && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname);

export class Session {
    link: Link = "connecting";
    private socket: WebSocket | null = null;
    private ids = 0;
    private attempts = 0;
    private heard = 0; // when
    private silent = 0; // ticks since
    private timer = 0;
    private probing = false;
    private waiting: object[] = [];
    private readonly over = new AbortController();

    /** onLink: fresh tells that this is a new socket, why what the server has closed it for. */
    constructor(
        private readonly onMessage: (m: Message) => void,
        private readonly onLink: (link: Link, fresh: boolean, why: string) => void,
    ) {
        this.connect();
        const { signal } = this.over;
        const ticks = setInterval(() => this.tick(), TICK_MS);
        signal.addEventListener("abort", () => clearInterval(ticks));
        for (const what of ["online", "pageshow"]) addEventListener(what, () => this.retry(), { signal });
        addEventListener("offline", () => this.tick(), { signal });
        document.addEventListener("visibilitychange", () => document.hidden || this.retry(), { signal });
    }

    private connect(): void {
        if (this.over.signal.aborted) return;
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        const socket = new WebSocket(`${scheme}//${location.host}/ws`, ["erltrace.1", `token.${token() || "none"}`]);
        const old = this.socket;
        let spoken = false;
        this.socket = socket;
        old?.close();
        this.hear();
        socket.onmessage = (e) => {
            if (this.socket !== socket || typeof e.data !== "string") return;
            this.hear();
            if (!spoken || this.link !== "open") this.set("open", !spoken);
            if (!spoken) for (const m of this.waiting.splice(0)) socket.send(JSON.stringify(m));
            spoken = true;
            this.attempts = 0;
            let m: Message;
            try {
                m = JSON.parse(e.data) as Message;
            } catch {
                return;
            }
            if (!this.over.signal.aborted) this.onMessage(m);
        };
        socket.onclose = (e) => {
            if (this.socket !== socket) return;
            this.socket = null;
            this.waiting = [];
            const why =
                e.code === 1013
                    ? "it has no room for another page"
                    : e.code === 1008 || e.code === 1009
                      ? e.reason || "it did not understand the page"
                      : "";
            // otherwise a request tells whether it is the server or the network that is gone
            if (e.code === 1001) this.set("gone");
            else if (why || this.link === "open") this.set("cut", false, why);
            if (spoken) this.retry();
            else this.later();
        };
    }

    /** Ends the connection for good. */
    close(): void {
        this.over.abort();
        clearTimeout(this.timer);
        const socket = this.socket;
        this.socket = null;
        socket?.close();
    }

    private hear(): void {
        this.heard = performance.now();
        this.silent = 0;
    }

    private tick(): void {
        if (this.socket?.readyState !== WebSocket.OPEN) {
            // one that does not come to open
            if (this.socket && performance.now() - this.heard > 4 * PROBE_MS) this.socket.close();
            return;
        }
        this.silent++;
        if (this.silent > 1) this.socket.send(JSON.stringify({ type: "ping", t: Math.round(performance.now()) }));
        if (this.silent <= SILENT_TICKS || performance.now() - this.heard < SILENT_MS) return;
        if (this.link === "open") this.set("mute");
        this.retry();
    }

    /** Tries at once, unless that is not needed, or under way. */
    retry(): void {
        if (
            this.over.signal.aborted ||
            this.probing ||
            this.link === "open" ||
            this.socket?.readyState === WebSocket.CONNECTING
        )
            return;
        clearTimeout(this.timer);
        void this.probe();
    }

    private later(): void {
        if (this.over.signal.aborted) return;
        const wait =
            this.attempts > PATIENT_AFTER ? PATIENT_MS : Math.min(RETRY_MOST_MS, RETRY_MS * 2 ** this.attempts);
        this.attempts++;
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.retry(), wait);
    }

    /** Asks whether there is a server. One that refuses us answers with 403; one that is gone does not answer, but its host does, at once. */
    private async probe(): Promise<void> {
        this.probing = true;
        const heard = this.heard;
        const before = performance.now();
        const end = new AbortController();
        const timer = setTimeout(() => end.abort(), PROBE_MS);
        try {
            const r = await ask("/api/state", { cache: "no-store", signal: end.signal });
            await r.arrayBuffer();
            if (r.status === 403) this.set("refused");
            else if (this.heard === heard) this.connect(); // otherwise the socket was only silent
        } catch {
            const late = performance.now() - before >= PROBE_MS - 50;
            if (this.socket === null && this.link !== "refused") this.set(late || offline() ? "cut" : "gone");
            else if (this.socket && offline()) this.set("cut");
        }
        clearTimeout(timer);
        this.probing = false;
        if (this.socket?.readyState !== WebSocket.CONNECTING && this.link !== "open") this.later();
    }

    private set(link: Link, fresh = false, why = ""): void {
        if (link === this.link && !fresh && !why) return;
        this.link = link;
        this.onLink(link, fresh, why);
    }

    /** Whether a message would be sent now. */
    get open(): boolean {
        return this.socket?.readyState === WebSocket.OPEN;
    }

    /** Sends a message, if necessary once there is a connection; returns the number that answers will carry. */
    send(m: Record<string, unknown>): number {
        const id = ++this.ids;
        const message = { ...m, id };
        if (this.open) this.socket!.send(JSON.stringify(message));
        else if (m.type !== "check") this.waiting.push(message);
        return id;
    }
}

/** Fetches a list from the server; throws an Error with the text that the server gives. */
export async function get<T>(
    path: string,
    params: Record<string, string | number> = {},
    signal?: AbortSignal,
): Promise<T> {
    const q = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]));
    const r = await ask(q.size ? `${path}?${q}` : path, signal ? { signal } : {});
    const body = (await r.json().catch(() => null)) as (T & { error?: { text: string; hint?: string } }) | null;
    if (!r.ok || body === null) throw new Error(body?.error?.text ?? `the server answered ${r.status}`);
    return body;
}
