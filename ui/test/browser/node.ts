// node.ts - a real Erlang node with the workload of the end-to-end tests in it, and `erltrace serve`.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PATIENCE, ROOT } from "./browser.ts";
import { endsServer, finding, InVain, Unable, uses } from "./results.ts";

export const COOKIE = "erltrace-test-cookie";
export const TOOL = process.env.ERLTRACE ?? join(ROOT, "bin", "erltrace");

/** Lines of a stream, and waiting for one. */
export class Lines {
    readonly all: string[] = [];
    private ended = false;
    private wake: (() => void)[] = [];
    constructor(stream: NodeJS.ReadableStream) {
        const lines = createInterface({ input: stream });
        lines.on("line", (l) => (this.all.push(l), this.tell()));
        lines.on("close", () => ((this.ended = true), this.tell()));
    }
    private tell(): void {
        for (const w of this.wake.splice(0)) w();
    }
    async wait(what: RegExp, from = 0): Promise<string> {
        const end = Date.now() + PATIENCE;
        for (let i = from; ; ) {
            for (; i < this.all.length; i++) if (what.test(this.all[i]!)) return this.all[i]!;
            const last = () => this.all.slice(-20).join("\n");
            if (this.ended) throw new Error(`it ended before it said ${what}:\n${last()}`);
            if (Date.now() > end) throw new InVain(`waited in vain for ${what}:\n${last()}`);
            await new Promise<void>((done) => {
                const timer = setTimeout(done, end - Date.now() + 1);
                this.wake.push(() => (clearTimeout(timer), done()));
            });
        }
    }
}

const CACHE = process.env.ERLTRACE_CACHE ?? join(process.env.HOME ?? "/root", ".cache", "erltrace");

/** The releases besides the host's in which nodes can be started here. */
export function releases(): string[] {
    const all = spawnSync(join(ROOT, "scripts", "dev", "releases"), ["--others"])
        .stdout.toString()
        .trim()
        .split("\n");
    return process.getuid?.() === 0 ? all.filter((n) => existsSync(join(CACHE, `otp-${n}`))) : [];
}

function ended(p: ChildProcessWithoutNullStreams): Promise<void> {
    return p.exitCode !== null || p.signalCode !== null
        ? Promise.resolve()
        : new Promise((r) => p.once("exit", () => r()));
}

/**
 * A port of this host that nobody has. It is none of those that the kernel gives to who asks for any, so that nobody gets it before it is
 * used, nor while a server that is started again does not have it.
 */
export async function freePort(): Promise<number> {
    for (;;) {
        const port = 10_000 + Math.floor(20_000 * Math.random());
        const free = await new Promise<boolean>((done) => {
            const s = createServer();
            s.once("error", () => done(false));
            s.listen(port, "127.0.0.1", () => s.close(() => done(true)));
        });
        if (free) return port;
    }
}

export class ErlangNode {
    readonly name: string;
    private readonly home = mkdtempSync(join(tmpdir(), "et-ui-"));
    private readonly p: ChildProcessWithoutNullStreams;
    private readonly out: Lines;
    private seen = 0;
    private ending = false;

    private constructor(short: string, otp: string | null) {
        const host = spawnSync("hostname", ["-s"]).stdout.toString().trim() || "localhost";
        this.name = `${short}@${host}`;
        const ebin = join(ROOT, "build", "ui", "ebin");
        mkdirSync(ebin, { recursive: true });
        const demo = readdirSync(join(ROOT, "demo")).filter((f) => f.endsWith(".erl"));
        for (const source of [
            "test/lib/etw.erl",
            "test/lib/etlog.erl",
            "test/ui/etui.erl",
            ...demo.map((f) => join("demo", f)),
        ]) {
            const r = spawnSync("erlc", ["+debug_info", "-o", ebin, join(ROOT, source)]);
            if (r.error) throw new Unable(`erlc: ${r.error.message}`);
            if (r.status !== 0) throw new Error(`erlc ${source}: ${r.stdout.toString()}${r.stderr?.toString()}`);
        }
        writeFileSync(join(this.home, ".erlang.cookie"), COOKIE);
        chmodSync(join(this.home, ".erlang.cookie"), 0o400);
        spawnSync("epmd", ["-daemon"]);
        const env = {
            ...process.env,
            HOME: this.home,
            TMPDIR: this.home,
            ERL_CRASH_DUMP: "/dev/null",
            ERL_AFLAGS: "",
            ERL_FLAGS: "",
            ERL_ZFLAGS: "",
            ERLTRACE_CACHE: CACHE,
        };
        const erl = ["erl", "-noshell", "-sname", short, "-pa", ebin, "-s", "etw"];
        const command = otp === null ? erl : [join(ROOT, "scripts", "dev", "in-otp"), otp, ...erl];
        this.p = spawn(command[0]!, command.slice(1), { env, cwd: ROOT });
        this.p.once("exit", (status, signal) => {
            if (!this.ending) finding(`the node ${this.name} has died: ${signal ?? `status ${status}`}`);
        });
        this.p.stderr.resume();
        this.p.stdin.on("error", () => {});
        this.out = new Lines(this.p.stdout);
    }

    /** which: what tells its name from others of the same test. name: the whole of it, without the host. otp: one of releases(). */
    static async start(
        which = "",
        name = `etui${which}${process.pid}`,
        otp: string | null = null,
    ): Promise<ErlangNode> {
        const n = new ErlangNode(name, otp);
        uses(n.name);
        try {
            await n.out.wait(/\x01ready/);
        } catch (e) {
            await n.end();
            throw e;
        }
        n.seen = n.out.all.length;
        return n;
    }

    /** Evaluates an expression there and gives its value. */
    async call(expression: string): Promise<unknown> {
        uses(this.name);
        const from = this.seen;
        this.p.stdin.write(`${expression}.\n`);
        const line = await this.out.wait(/\x01(ok|error) /, from);
        this.seen = this.out.all.indexOf(line, from) + 1;
        const [, how, value] = /\x01(ok|error) (.*)$/.exec(line)!;
        if (how === "error") throw new Error(`${expression}: ${value}`);
        return JSON.parse(value!);
    }

    /** No trace flag, pattern or session is left. How long that takes is said, and bounded only by what a machine that does much else may take. */
    async clean(): Promise<number> {
        const [how, what] = (await this.call(`etw:await_clean(${Math.round(0.8 * PATIENCE)}, fun etw:traced/0)`)) as [
            "clean" | "dirty",
            number | string[],
        ];
        if (how !== "clean") throw new Error(`left behind in the node: ${(what as string[]).slice(0, 10).join("; ")}`);
        process.stdout.write(`    clean after ${what as number} ms\n`);
        return what as number;
    }

    async end(): Promise<void> {
        this.ending = true;
        this.p.kill("SIGKILL");
        await ended(this.p);
        rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
    }
}

export class Server {
    url = "";
    private ending = false;
    private constructor(
        readonly p: ChildProcessWithoutNullStreams,
        private readonly out: Lines,
        private readonly err: Lines,
    ) {
        p.once("exit", (status, signal) => {
            if (!this.ending)
                finding(`erltrace serve has died: ${signal ?? `status ${status}`}\n${err.all.join("\n")}`);
        });
    }

    /** Whether this build has a server at all. */
    static there(): boolean {
        return existsSync(TOOL) && existsSync(join(ROOT, "ui", "dist", "index.html"));
    }

    static async start(node: string, ...options: string[]): Promise<Server> {
        const p = spawn(
            TOOL,
            ["serve", "--listen", "127.0.0.1:0", ...(node ? ["--node", node] : []), "--cookie", COOKIE, ...options],
            {
                cwd: ROOT,
                env: { DTRACE_OPT_LEASE: "30s", ...process.env, ERLTRACE_ROOT: process.env.ERLTRACE_HOME ?? ROOT },
            },
        );
        const s = new Server(p, new Lines(p.stdout), new Lines(p.stderr));
        try {
            s.url = /https?:\/\/\S+/.exec(await s.out.wait(/https?:\/\//))![0];
        } catch (e) {
            await s.end("SIGKILL");
            (e as Error).message += `\n${s.err.all.join("\n")}`;
            throw e;
        }
        return s;
    }

    /** Its address with another path and something behind the #. */
    at(path: string, hash = ""): string {
        const u = new URL(this.url);
        u.pathname = path;
        u.hash = hash ? `${u.hash}&${hash.replace(/^#/, "")}` : u.hash;
        return u.href;
    }

    async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
        this.ending = true;
        endsServer();
        this.p.kill(signal);
        await ended(this.p);
    }
}
