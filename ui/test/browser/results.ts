// results.ts - what becomes of a test: its verdict, of which class its failure is, and the line of JSON that says so.
//
// A test that fails has one of four classes:
//
//   timeout    a wait has ended by PATIENCE
//   machine    the machine could not run it: no Chromium, no space, no port
//   finding    what no test may cause: a process that died, an error in the page, something left behind
//   assertion  everything else: a value that is wrong, an error of the test itself
import { appendFileSync } from "node:fs";
import { loadavg } from "node:os";

export interface Case {
    name: string;
    run: () => Promise<void>;
    /** How long it took, ms, if it has run before. */
    took?: number;
}

export type Class = "assertion" | "timeout" | "finding" | "machine";

/** A wait has ended by PATIENCE. */
export class InVain extends Error {
    override name = "InVain";
}

/** The machine cannot run the test. */
export class Unable extends Error {
    override name = "Unable";
    constructor(reason: string) {
        super(`could not run: ${reason}`);
    }
}

class Skip extends Error {}

/** Ends the test: it cannot be run here. */
export function skip(reason: string): never {
    throw new Skip(reason);
}

/** What is known of the test that runs. */
class Test {
    loose: string | null = null;
    /** What no test may cause, whatever it expects. */
    readonly findings: string[] = [];
    /** The errors of each of its browser contexts, which the test itself checks when it closes them. */
    readonly pages: string[][] = [];
    readonly nodes = new Set<string>();
    /** It has ended a server, so that requests fail. */
    ended = false;
}

/** The test that runs; there is one at a time. */
let now = new Test();

/** From here on load may change the values that this test looks at, for this reason, which is said with what is wrong. */
export function loose(reason: string): void {
    if (reason.trim() === "") throw new Error("loose: without a reason");
    now.loose = reason;
}

/** Something has happened that fails the test that runs. */
export function finding(text: string): void {
    now.findings.push(text);
}

/** The errors of a new browser context. */
export function pageErrors(): string[] {
    const errors: string[] = [];
    now.pages.push(errors);
    return errors;
}

/** The test ends a server. */
export function endsServer(): void {
    now.ended = true;
}

/** Whether it has: requests of its pages may fail then. */
export const hasEndedServer = (): boolean => now.ended;

/** The test uses this node. */
export function uses(node: string): void {
    now.nodes.add(node);
}

const MACHINE = /\b(ENOSPC|EDQUOT|EADDRINUSE|EMFILE|ENFILE|ENOMEM|EAGAIN)\b/;

function classOf(e: unknown, t: Test): Class {
    const { name, message, code } = e as Error & { code?: string };
    if (e instanceof Unable || MACHINE.test(`${code} ${message}`)) return "machine";
    if (t.findings.length > 0 || t.pages.some((p) => p.length > 0)) return "finding";
    if (e instanceof InVain || name === "TimeoutError") return "timeout";
    return "assertion";
}

function write(
    c: Case,
    t: Test,
    verdict: "pass" | "fail" | "skip",
    ms: number,
    why: Class | null,
    text: string | null,
) {
    if (!process.env.TEST_RESULTS) return;
    const line = {
        suite: "ui",
        test: c.name,
        otp: "",
        verdict,
        class: why,
        ms: Math.round(ms),
        load: loadavg()[0],
        node: t.nodes.size > 0 ? [...t.nodes].join(" ") : null,
        text: text?.slice(0, 4000) ?? null,
    };
    appendFileSync(process.env.TEST_RESULTS, `${JSON.stringify(line)}\n`);
}

/** Runs the cases one after the other, and tidy after each; the numbers of those that passed and failed. */
export async function runAll(cases: Case[], tidy: () => Promise<void> = async () => {}): Promise<[number, number]> {
    let passed = 0;
    let failed = 0;
    for (const c of cases) {
        const began = performance.now();
        const t = new Test();
        now = t;
        let error: unknown = null;
        try {
            await c.run();
            if (t.findings.length > 0) error = new Error("what it expected has happened, and this besides");
        } catch (e) {
            error = e;
        }
        await tidy();
        const ms = c.took ?? performance.now() - began;
        if (error instanceof Skip) {
            console.log(`  skip    ${c.name}: ${error.message}`);
            write(c, t, "skip", ms, null, error.message);
        } else if (error === null) {
            passed++;
            console.log(`  ok      ${c.name} (${(ms / 1000).toFixed(1)} s)`);
            write(c, t, "pass", ms, null, null);
        } else {
            failed++;
            const why = classOf(error, t);
            const { stack, message } = error as Error;
            const said = error instanceof Unable ? message : String(stack ?? error);
            const lines = [said, ...t.findings, ...t.pages.flat()];
            if (why === "assertion" && t.loose !== null) lines.unshift(`load may change it: ${t.loose}`);
            const text = lines.join("\n");
            console.log(`  FAILED  ${c.name} (${why})\n${text.replace(/^/gm, "          ")}`);
            write(c, t, "fail", ms, why, text);
        }
    }
    return [passed, failed];
}
