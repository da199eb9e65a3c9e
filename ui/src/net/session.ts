// session.ts - the socket: one trace at a time, and messages for the listener. Connects again by itself when the connection is lost, but
// never starts a trace again by itself.
import type { Message } from "../model/protocol.ts";
import { ask, token } from "./token.ts";

export type Link = "connecting" | "open" | "lost" | "refused";

export class Session {
    link: Link = "connecting";
    private socket: WebSocket | null = null;
    private ids = 0;
    private attempts = 0;
    private waiting: object[] = [];

    constructor(
        private readonly onMessage: (m: Message) => void,
        private readonly onLink: (link: Link, why: string) => void,
    ) {
        this.connect();
    }

    private connect(): void {
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        const socket = new WebSocket(`${scheme}//${location.host}/ws`, ["erltrace.1", `token.${token() || "none"}`]);
        this.socket = socket;
        let opened = false;
        socket.onopen = () => {
            opened = true;
            this.attempts = 0;
            this.set("open", "");
            for (const m of this.waiting.splice(0)) socket.send(JSON.stringify(m));
        };
        socket.onmessage = (e) => {
            if (typeof e.data !== "string") return;
            let m: Message;
            try {
                m = JSON.parse(e.data) as Message;
            } catch {
                return;
            }
            this.onMessage(m);
        };
        socket.onclose = (e) => {
            if (this.socket !== socket) return;
            this.waiting = [];
            const why =
                e.code === 1013 ? "the server has no room for another page" : e.code === 1001 ? "the server has ended" : e.code === 1008 || e.code === 1009 ? e.reason || "the server did not understand the page" : "";
            this.set("lost", why);
            // A server that refuses us answers a plain request with 403; one that is gone does not answer.
            if (!opened)
                ask("/api/state", { cache: "no-store" })
                    .then((r) => {
                        if (r.status === 403) this.set("refused", "");
                    })
                    .catch(() => {});
            const wait = Math.min(8000, 250 * 2 ** this.attempts++);
            setTimeout(() => this.connect(), wait);
        };
    }

    private set(link: Link, why: string): void {
        this.link = link;
        this.onLink(link, why);
    }

    /** Sends a message, if necessary once there is a connection again; returns the number that answers will carry. */
    send(m: Record<string, unknown>): number {
        const id = ++this.ids;
        const message = { ...m, id };
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
        else if (m.type !== "check") this.waiting.push(message);
        return id;
    }
}

/** Fetches a list from the server; throws an Error with the text that the server gives. */
export async function get<T>(path: string, params: Record<string, string | number> = {}, signal?: AbortSignal): Promise<T> {
    const q = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]));
    const r = await ask(q.size ? `${path}?${q}` : path, signal ? { signal } : {});
    const body = (await r.json().catch(() => null)) as (T & { error?: { text: string; hint?: string } }) | null;
    if (!r.ok || body === null) throw new Error(body?.error?.text ?? `the server answered ${r.status}`);
    return body;
}
