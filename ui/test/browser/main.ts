// main.ts - runs the tests of the page in a browser: `node build/browser/main.mjs [--list]`: all, or those named in TEST_CHOSEN, one a line; its last line is `N passed, N failed`.
import { access } from "./access.ts";
import { bench } from "./bench.ts";
import { Browsers, type Case, runAll } from "./browser.ts";
import { editor } from "./editor.ts";
import { evidence } from "./evidence.ts";
import { FakeServer } from "./fake.ts";
import { look } from "./look.ts";
import { next, nextReal } from "./next.ts";
import { nodes, realNodes } from "./nodes.ts";
import { pictureTests } from "./picture.ts";
import { pictures } from "./pictures.ts";
import { Real, real } from "./real.ts";
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
const onANode = chosen([...real(node), ...realNodes(node), ...nextReal(node), ...pictures(node), ...survive(node)]);
if (process.argv.includes("--list")) {
    for (const c of [...madeUp, ...onANode]) console.log(c.name);
    process.exit(0);
}
await server.start();
// what has run before, without a browser
const before = [Number(process.env.PASSED ?? 0), Number(process.env.FAILED ?? 0)] as const;
let result: [number, number] = [0, 1];
try {
    const [a, b] = await runAll(madeUp);
    let [c, d] = [0, 0];
    if (onANode.length > 0)
        try {
            await node.start();
            [c, d] = await runAll(onANode);
        } finally {
            await node.end();
        }
    result = [a + c, b + d];
} finally {
    await browsers.end();
    server.end();
}
const [passed, failed] = [before[0] + result[0], before[1] + result[1]];
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
