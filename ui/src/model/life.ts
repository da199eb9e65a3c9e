// life.ts - whether what is shown is live, and how the page gets back to a trace that is out of reach: without clock, socket or DOM.
//
// The owner says what has happened and when (ms); the answers say what it has to do. While `lost` is set, the trace on the page is one that
// goes on, or may be started again, and nothing that is shown is live.
import type { Stopped } from "./protocol.ts";

/** The connection; none: the page has no server. mute, nothing comes although the socket is open; cut, nothing answers; gone, the host answers that there is no server. */
export type Link = "connecting" | "open" | "mute" | "cut" | "gone" | "refused" | "none";

/** How long after a trace has ended with its server the page waits for another server, ms: a restart, and what a busy machine adds. */
export const RESTART_MS = 30_000;
/** How long it waits for a node to come back. */
export const NODE_MS = 60_000;

export type What = "link" | "reload" | "server" | "node";
interface Lost {
    what: What;
    since: number;
    until: number;
    /** A start or rejoin was sent, and has not been answered. */
    asked: boolean;
    /** What the server has said of the end, if it has. */
    end: Stopped | null;
}

export type Do = "rejoin" | "restart" | "look" | "end" | null;

export interface Now {
    phase: "idle" | "starting" | "running" | "stopped" | "failed";
    /** How long no reading has come although some should have, ms. */
    silent: number;
    stopping: boolean;
    placing: boolean;
    reason: Stopped["reason"] | null;
    /** It is a saved session. */
    saved: boolean;
}

export interface Told {
    state: string;
    icon: string;
    /** For the head. */
    text: string;
    /** For a banner, if there is more to say. */
    title: string;
    more: string;
    /** For a screen reader: without what counts. */
    say: string;
}

const seconds = (ms: number) => `${Math.max(0, Math.round(ms / 1000))} s`;

const ENDED: Record<Stopped["reason"], string> = {
    left: "stopped",
    exit: "stopped by exit()",
    user: "stopped by another page",
    overload: "stopped by overload",
    lost: "stopped: out of reach",
    limit: "stopped at a limit",
    error: "stopped by an error",
    server: "stopped: server gone",
};

export class Life {
    link: Link = "connecting";
    lost: Lost | null = null;
    /** How long the server lets a trace wait for its page, ms. */
    keep = 0;
    private since = 0; // of the link's state
    private server = "";
    private why = ""; // the server has closed the connection

    /** The page was loaded again while a trace of that server ran. */
    reloaded(server: string, now: number): void {
        this.server = server;
        this.lose("reload", now, now + RESTART_MS);
    }

    private lose(what: What, now: number, until: number, end: Stopped | null = null): void {
        this.lost = { what, since: now, until, asked: false, end };
    }

    /** The connection has changed. fresh: it is a new socket, on which the server is going to say hello. */
    linked(link: Link, fresh: boolean, why: string, busy: boolean, now: number): void {
        this.why = why;
        if (link !== this.link) this.since = now;
        this.link = link;
        if (link === "open" || link === "connecting") {
            if (link === "open" && !fresh && this.lost?.what === "link") this.lost = null; // it was only silent
        } else if (this.lost) this.lost.asked = false;
        else if (busy) this.lose("link", now, now + this.keep + RESTART_MS);
    }

    /** The server has said hello. */
    hello(server: string, keep: number, now: number): Do {
        const same = this.server === server;
        this.server = server;
        this.keep = keep;
        const lost = this.lost;
        if (!lost || lost.what === "node") return null;
        if (same && lost.what !== "server") {
            lost.asked = true;
            return "rejoin";
        }
        if (lost.what === "reload" || now > lost.until) return "end";
        lost.what = "server";
        lost.asked = true;
        return "restart";
    }

    /** A trace that had ended was started again at the user's wish. */
    again(what: What, end: Stopped, now: number): void {
        this.lose(what, now, now + NODE_MS, end);
        this.lost!.asked = true;
    }

    get serverId(): string {
        return this.server;
    }

    /** The trace has ended. Returns whether that is not its end for the page, which starts it again when it can. */
    stopped(m: Stopped, now: number): boolean {
        if (m.reason !== "lost" && m.reason !== "server") return false;
        if (m.reason === "lost") this.lose("node", now, now + NODE_MS, m);
        else this.lose("server", now, now + this.keep + RESTART_MS, m);
        return true;
    }

    /** The answer to a rejoin or restart: it runs. Returns why there is a gap, if there is one. */
    started(): What | null {
        const what = this.lost?.what ?? null;
        this.lost = null;
        return what;
    }

    /** The answer was that it does not run. A node that comes back takes a while until its modules are there. */
    failed(now: number): Do {
        const lost = this.lost!;
        lost.asked = false;
        return lost.what === "node" && now < lost.until ? null : "end";
    }

    /** Some time has gone: once a second. */
    tick(now: number): Do {
        const lost = this.lost;
        if (!lost || lost.asked) return null;
        if (now > lost.until) return "end";
        return lost.what === "node" && this.link === "open" ? "look" : null;
    }

    /** The node is there again. */
    found(): Do {
        if (this.lost?.what !== "node" || this.lost.asked) return null;
        this.lost.asked = true;
        return "restart";
    }

    /** What becomes of the trace, as the end of a text. */
    private prospect(now: number): string {
        const lost = this.lost;
        if (!lost) return "";
        const waits = lost.since + this.keep - now;
        if (this.link === "gone")
            return ` If it is back within ${seconds(lost.until - now)}, the script starts again by itself, and the map goes on.`;
        if (lost.what !== "link") return "";
        return waits > 0
            ? ` The trace goes on, and waits ${seconds(waits)} more for this page.`
            : " By now the trace has ended.";
    }

    tell(n: Now, now: number): Told {
        const told = (state: string, icon: string, text: string, title = "", more = ""): Told => ({
            state,
            icon,
            text,
            title,
            more,
            say: title || text.replace(/ for [\d.]+ s$/, ""),
        });
        const ago = seconds(now - this.since);
        const lost = this.lost;
        switch (this.link) {
            case "refused":
                return told(
                    "refused",
                    "⊘",
                    "not admitted",
                    "The server does not admit this page.",
                    "Its token is another one by now: open the address that erltrace serve printed. What is shown here stays.",
                );
            case "connecting":
                return told("connecting", "○", "connecting");
            case "mute":
                return told(
                    "mute",
                    "⚠",
                    `no answer for ${ago}`,
                    "The server does not answer.",
                    `It stands still, or the network is cut; trying again.${this.prospect(now)}`,
                );
            case "cut":
                return told(
                    "cut",
                    "⚠",
                    "connection cut",
                    this.why ? "The server has closed the connection." : "The connection is cut.",
                    `${this.why ? `It says: ${this.why}` : `Nothing has come for ${ago}`}; trying again.${this.prospect(now)}`,
                );
            case "gone":
                return told(
                    "gone",
                    "✖",
                    "server gone",
                    "The server is gone.",
                    `There has been none at its address for ${ago}; trying again.${this.prospect(now)}`,
                );
        }
        if (lost?.what === "node" && !lost.asked)
            return told(
                "node",
                "✖",
                "node gone",
                "The node is gone.",
                `If it is back within ${seconds(lost.until - now)}, the script starts again by itself, and the map goes on. It was said: ${lost.end?.text ?? ""}`,
            );
        if (lost)
            return (lost.what === "link" && lost.end === null) || lost.what === "reload"
                ? told("back", "↻", "coming back")
                : told("back", "↻", "starting again");
        if (n.stopping) return told("stopping", "◌", "stopping");
        switch (n.phase) {
            case "idle":
                return told("idle", "", "ready");
            case "starting":
                return told("starting", "◌", n.placing ? "placing probes" : "starting");
            case "failed":
                return told("failed", "✖", "failed");
            case "stopped":
                return n.saved
                    ? told("saved", "", "saved session")
                    : told("stopped", "■", ENDED[n.reason ?? "left"] ?? "stopped");
            case "running":
                return n.silent > 0
                    ? told("silent", "◔", `no data for ${seconds(n.silent)}`)
                    : told("running", "●", "running");
        }
    }
}

/** How a gap is told: why nothing is known of these seconds. */
export function gapText(what: What, ms: number): string {
    const whole = `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s missing`;
    const why = { node: "node restarted", server: "server restarted", link: "not traced", reload: "not traced" };
    return `${why[what]}: ${whole}`;
}
