// plain.ts - the tests that need no browser: the types of all that is written in TypeScript, and the model in node (ui/test/*.test.ts).
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./browser.ts";
import { type Case, InVain, skip, Unable } from "./results.ts";

const UI = join(ROOT, "ui");
const MODEL = "model: ";

/** Runs a program to its end; what it has printed, and whether all was well. */
function run(program: string, ...words: string[]): { ok: boolean; text: string } {
    const r = spawnSync(program, words, { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28 });
    if (r.error) throw new Unable(String(r.error));
    return { ok: r.status === 0, text: `${r.stdout}${r.stderr}` };
}

const types: Case = {
    name: "types",
    async run() {
        const { ok, text } = run(join(UI, "node_modules", ".bin", "tsc"), "--noEmit", "-p", UI);
        if (!ok) throw new Error(text);
    },
};

/** A test of a report in the Test Anything Protocol, with what is said below it. */
interface Point {
    ok: boolean;
    skip: string | null;
    text: string;
}

/** The tests of a report, by their names. */
export function pointsOf(report: string): Map<string, Point> {
    const points = new Map<string, Point>();
    let last: Point | null = null;
    for (const line of report.split("\n")) {
        const m = /^ *(not )?ok \d+ - (.*?)(?: # SKIP ?(.*))?$/.exec(line);
        if (m) {
            last = { ok: !m[1], skip: m[3] ?? null, text: "" };
            points.set(m[2]!.replace(/\\([\\#])/g, "$1"), last);
        } else if (/^ *\.\.\.$/.test(line)) last = null;
        else if (last) last.text += `${line}\n`;
    }
    return points;
}

/** The tests of the model that are called so, after they have run, all at once. */
function model(names: string[]): Case[] {
    let report = "";
    try {
        const built = run(process.execPath, join(UI, "build.mjs"), "--tests");
        const folder = join(UI, "build", "test");
        const exactly = (name: string) => `^${name.slice(MODEL.length).replace(/[\]\\.*^$+?(){}|/[]/g, "\\$&")}$`;
        report = built.ok
            ? run(
                  process.execPath,
                  "--test",
                  "--test-reporter=tap",
                  ...names.map((n) => `--test-name-pattern=${exactly(n)}`),
                  ...readdirSync(folder).map((f) => join(folder, f)),
              ).text
            : built.text;
    } catch (e) {
        const fail = () => Promise.reject(e);
        return names.map((name) => ({ name, run: fail }));
    }
    const points = pointsOf(report);
    return names.map((name) => {
        const p = points.get(name.slice(MODEL.length));
        return {
            name,
            took: Number(/duration_ms: ([\d.]+)/.exec(p?.text ?? "")?.[1] ?? 0),
            async run() {
                if (!p) throw new Error(`it has not run:\n${report.slice(-3000)}`);
                if (p.skip !== null) skip(p.skip);
                if (!p.ok) throw new (/testTimeoutFailure/.test(p.text) ? InVain : Error)(p.text);
            },
        };
    });
}

/** Those of the names that are tests without a browser. */
export function plain(names: string[]): Case[] {
    const wanted = names.filter((n) => n.startsWith(MODEL));
    return [...(names.includes(types.name) ? [types] : []), ...(wanted.length > 0 ? model(wanted) : [])];
}
