// main.ts - runs the tests of the page: `node build/browser/main.mjs`: those named in TEST_CHOSEN, one a line, or all that need a browser; its last
// line is `N passed, N failed`. `--list`: the names of those that need a browser.
import { access } from "./access.ts";
import { bench } from "./bench.ts";
import { Browsers } from "./browser.ts";
import { editor } from "./editor.ts";
import { evidence } from "./evidence.ts";
import { FakeServer } from "./fake.ts";
import { realKernel } from "./kernel.ts";
import { look } from "./look.ts";
import { next, nextReal } from "./next.ts";
import { nodes, realNodes } from "./nodes.ts";
import { pictureTests } from "./picture.ts";
import { pictures } from "./pictures.ts";
import { plain } from "./plain.ts";
import { Real, real } from "./real.ts";
import { type Case, finding, runAll } from "./results.ts";
import { survive, surviveViews } from "./survive.ts";
import { views } from "./views.ts";

if (process.argv.includes("--bench")) {
    const browsers = new Browsers();
    const [seconds, view] = process.argv.slice(process.argv.indexOf("--bench") + 1);
    try {
        await bench(browsers, Number(seconds ?? 20), view);
    } finally {
        await browsers.end();
    }
    process.exit(0);
}
const wanted = process.env.TEST_CHOSEN?.split("\n");

/** The tests that test/ui/run has chosen. */
function chosen(cases: Case[]): Case[] {
    return cases.filter((c) => !wanted || wanted.includes(c.name));
}

const browsers = new Browsers();
const server = new FakeServer();
const node = new Real(browsers);
const madeUp = chosen([
    ...views(browsers, server),
    ...access(browsers, server),
    ...surviveViews(browsers, server),
    ...look(browsers, server),
    ...editor(browsers, server),
    ...evidence(browsers, server),
    ...nodes(browsers, server),
    ...pictureTests(browsers, server),
    ...next(browsers, server),
]);
const onANode = chosen([
    ...real(node),
    ...realKernel(node),
    ...realNodes(node),
    ...nextReal(node),
    ...pictures(node),
    ...survive(node),
]);
if (process.argv.includes("--list")) {
    for (const c of [...madeUp, ...onANode]) console.log(c.name);
    process.exit(0);
}
process.on("unhandledRejection", (e) => finding(`nobody waits for this error: ${String((e as Error)?.stack ?? e)}`));

/** A place for a node that all tests share. Where it cannot be made, each of them says why. */
async function placed(cases: Case[]): Promise<Case[]> {
    try {
        if (cases.length > 0) await node.start();
        return cases;
    } catch (e) {
        return cases.map(({ name }) => ({ name, run: () => Promise.reject(e) }));
    }
}

const results: [number, number][] = [];
try {
    results.push(await runAll(plain(wanted ?? [])));
    await server.start();
    const tidy = () => browsers.tidy();
    results.push(await runAll(madeUp, tidy), await runAll(await placed(onANode), tidy));
} catch (e) {
    console.log(`  FAILED  the tests end here\n${String((e as Error).stack ?? e).replace(/^/gm, "          ")}`);
    results.push([0, 1]);
} finally {
    await node.end();
    await browsers.end();
    server.end();
}
const [passed, failed] = [0, 1].map((k) => results.reduce((sum, r) => sum + r[k]!, 0));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed! > 0 ? 1 : 0);
