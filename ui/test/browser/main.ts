// main.ts - runs the tests of the page in a browser: `node build/browser/main.mjs [--only TEXT]`; its last line is `N passed, N failed`.
import { access } from "./access.ts";
import { bench } from "./bench.ts";
import { Browsers, runAll } from "./browser.ts";
import { FakeServer } from "./fake.ts";
import { pictures } from "./pictures.ts";
import { Real, real } from "./real.ts";
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
const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : undefined;
const browsers = new Browsers();
const server = new FakeServer();
await server.start();
// what has run before, without a browser
const before = [Number(process.env.PASSED ?? 0), Number(process.env.FAILED ?? 0)] as const;
let result: [number, number] = [0, 1];
try {
    const cases = [...views(browsers, server), ...access(browsers, server)];
    const node = new Real(browsers);
    const [a, b] = await runAll(cases, only);
    let [c, d] = [0, 0];
    if (!only || [...real(node), ...pictures(node)].some((x) => x.name.includes(only)))
        try {
            await node.start();
            [c, d] = await runAll([...real(node), ...pictures(node)], only);
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
