// fake.ts - the page against the made-up server of test/fake: files over HTTP with the headers of the real one, the socket played
// by the test.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Page, WebSocketRoute } from "playwright-core";
import type { Message, NodeInfo, RunningTrace } from "../../src/model/protocol.ts";
import { HELLO, NODES, PROBES, SCRIPTS } from "../fake/world.ts";
import { type Browsers, DIST, type Open, pass, until } from "./browser.ts";

const TYPES: Record<string, string> = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
};
export const CSP =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export class FakeServer {
    private server: Server;
    url = "";
    /** As a server that was started again: the page's token is of another one. */
    refuses = false;
    nodes: NodeInfo[] = NODES;
    running: RunningTrace[] = [
        {
            trace: 12,
            node: "shop@host",
            name: "latency.d",
            script: SCRIPTS[0]!.script,
            args: [],
            viewers: 2,
            since: Date.now() - 60000,
        },
    ];

    constructor() {
        this.server = createServer((req, res) => {
            const u = new URL(req.url!, "http://x");
            const json = (v: unknown) => {
                res.writeHead(200, { "content-type": "application/json" });
                res.end(JSON.stringify(v));
            };
            if (this.refuses && u.pathname.startsWith("/api/")) {
                res.writeHead(403, { "content-type": "application/json" });
                res.end(JSON.stringify({ error: { tag: "WEB_TOKEN", text: "no" } }));
                return;
            }
            const prefix = u.searchParams.get("prefix") ?? "";
            const items = (all: string[]) => json({ items: all.filter((x) => x.startsWith(prefix)), more: false });
            switch (u.pathname) {
                case "/api/state":
                    return json({
                        version: "0.1.0",
                        protocol: 1,
                        destructive: false,
                        node: "shop@host",
                        traces: this.running,
                    });
                case "/api/nodes":
                    return json({ nodes: this.nodes });
                case "/api/about":
                    return json({
                        findings: [{ subject: "terms", level: "ok", text: "visible to scripts", help: null }],
                    });
                case "/api/scripts":
                    return json({ scripts: SCRIPTS });
                case "/api/probes":
                    return json({ items: PROBES.filter((p) => p.name.startsWith(prefix)), more: false });
                case "/api/providers":
                    return items([]);
                case "/api/modules":
                    return items(["shop", "shop_customer", "shop_sup", "lists", "ets"]);
                case "/api/functions":
                    return items(u.searchParams.get("module") === "shop" ? ["order/2", "pay/2", "price/1"] : ["map/2"]);
            }
            const path = /^\/(heatmap|list)?$/.test(u.pathname) ? "/index.html" : u.pathname;
            try {
                const data = readFileSync(join(DIST, path.replace(/\.\./g, "")));
                res.writeHead(200, {
                    "content-type": TYPES[extname(path)] ?? "application/octet-stream",
                    "content-security-policy": CSP,
                    "x-content-type-options": "nosniff",
                });
                res.end(data);
            } catch {
                res.writeHead(404);
                res.end();
            }
        });
    }

    async start(): Promise<void> {
        await new Promise<void>((r) => this.server.listen(0, "127.0.0.1", r));
        this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    }

    end(): void {
        this.server.closeAllConnections();
        this.server.close();
    }
}

export type Said = Record<string, unknown> & { type: string; id: number };

/** A page whose socket the test holds. */
export class Stage {
    said: Said[] = [];
    socket: WebSocketRoute | null = null;
    /** Whether the page hears that the server is there when it asks. */
    answers = true;
    /** What the next sockets say first. */
    hello: Message = HELLO;
    constructor(
        readonly page: Page,
        readonly errors: string[],
    ) {}

    send(...messages: Message[]): void {
        for (const m of messages) this.socket!.send(JSON.stringify(m));
    }

    /** The next thing of this type that the page says, from `from` on. */
    async says(type: string, from = 0): Promise<Said> {
        return until(`the page to say ${type}`, () => this.said.slice(from).find((m) => m.type === type));
    }

    /** Lets time go by for the page, ms. */
    pass(ms: number): Promise<void> {
        return pass(this.page, ms);
    }

    async close(): Promise<void> {
        await this.page.context().close();
        if (this.errors.length > 0) throw new Error(`in the page: ${this.errors.join("\n")}`);
    }
}

/** The page's clock stands: how long nothing comes is for the test to say. */
export async function stage(browsers: Browsers, server: FakeServer, path = "/", open: Open = {}): Promise<Stage> {
    const { context, errors } = await browsers.context({ stands: true, ...open });
    const page = await context.newPage();
    const s = new Stage(page, errors);
    await page.routeWebSocket(/\/ws$/, (ws) => {
        s.socket = ws;
        ws.onMessage((m) => {
            const said = JSON.parse(String(m)) as Said;
            if (said.type !== "ping") s.said.push(said);
            else if (s.answers) ws.send(JSON.stringify({ type: "pong", t: 0 }));
        });
        ws.send(JSON.stringify(s.hello));
    });
    await page.goto(server.url + path);
    await page.waitForSelector(".head");
    return s;
}
