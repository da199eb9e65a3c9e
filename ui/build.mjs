// build.mjs - bundles the page into dist/: index.html and, with the hash of their content in their names, the script, what it loads
// later, one style sheet and the icon. No inline script or style, no address of another host. Besides, alone.html: the same page in one
// file, for a session that is looked at without a server.
//
//   node build.mjs             dist/
//   node build.mjs --tests     build/test/: each test/*.test.ts, for node --test
//   node build.mjs --browser   build/browser/main.mjs: the tests that drive a browser

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(here, ...parts);
const common = {
    bundle: true,
    logLevel: "warning",
    jsx: "automatic",
    jsxImportSource: "preact",
    absWorkingDir: here,
};

// Tests run in node, those of a browser drive it from there.
async function tests(files, folder) {
    rmSync(at("build", folder), { recursive: true, force: true });
    await build({
        ...common,
        entryPoints: files,
        outdir: at("build", folder),
        outExtension: { ".js": ".mjs" },
        format: "esm",
        platform: "node",
        target: "node18",
        sourcemap: "inline",
        external: ["playwright-core"],
    });
}

// Writes data as NAME-HASH.EXT and returns that name.
function hashed(name, data) {
    const ext = extname(name);
    const hash = createHash("sha256").update(data).digest("hex").slice(0, 10);
    const file = `${basename(name, ext)}-${hash}${ext}`;
    writeFileSync(at("dist/assets", file), data);
    return `/assets/${file}`;
}

// The page's script and style, minified; how: where they are written, and whether in parts.
async function bundle(how) {
    return build({
        ...common,
        entryPoints: { page: at("src/main.tsx") },
        outdir: at("dist/assets"),
        entryNames: "[name]-[hash]",
        chunkNames: "[name]-[hash]",
        minify: true,
        ...how,
        target: ["es2020", "firefox104", "chrome99", "safari16.4"], // adopted style sheets
        legalComments: "none",
        define: { "process.env.NODE_ENV": '"production"' },
    });
}

async function page() {
    rmSync(at("dist"), { recursive: true, force: true });
    mkdirSync(at("dist/assets"), { recursive: true });
    const made = await bundle({ format: "esm", splitting: true, metafile: true });
    const [script, { cssBundle }] = Object.entries(made.metafile.outputs).find(
        ([, o]) => o.entryPoint === "src/main.tsx",
    );
    const names = {
        "@SCRIPT@": `/assets/${basename(script)}`,
        "@STYLE@": `/assets/${basename(cssBundle)}`,
        "@ICON@": hashed("icon.svg", readFileSync(at("src/icon.svg"))),
    };
    const html = readFileSync(at("src/index.html"), "utf8");
    writeFileSync(
        at("dist/index.html"),
        Object.entries(names).reduce((h, [mark, name]) => h.replaceAll(mark, name), html),
    );
    writeFileSync(at("dist/alone.html"), alone(html, await bundle({ format: "iife", write: false })));
}

// The page in one file, with a place for a session. It may run this script, use this style, and load nothing. A browser that has read it
// writes it back unchanged, since it is as browsers write pages: no blank before the end of a tag, none after the body.
function alone(html, page) {
    const text = (ext) => page.outputFiles.find((f) => f.path.endsWith(ext)).text.trim();
    const [script, style] = [text(".js"), text(".css")];
    for (const end of ["</script", "</style", "<!--", "]]>"])
        if (script.includes(end) || style.includes(end))
            throw new Error(`alone.html: ${end} inside of the script or style`);
    const hash = (data) => `'sha256-${createHash("sha256").update(data).digest("base64")}'`;
    const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ].join("; ");
    const icon = readFileSync(at("src/icon.svg")).toString("base64");
    const tags = {
        '<meta charset="utf-8">': (tag) => `${tag}<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        '<link rel="stylesheet" href="@STYLE@">': () => `<style>${style}</style>`,
        '<script type="module" src="@SCRIPT@"></script>': () => `<script type="module">${script}</script>`,
        '<div id="page"></div>': (tag) => `${tag}<script type="text/plain" id="session"></script>`,
        "@ICON@": () => `data:image/svg+xml;base64,${icon}`,
    };
    let made = html.trim().replace(/>\s+</g, "><").replace(/ \/>/g, ">").replace("<!doctype", "<!DOCTYPE");
    for (const [tag, by] of Object.entries(tags)) {
        if (!made.includes(tag)) throw new Error(`alone.html: index.html has no ${tag}`);
        made = made.replace(tag, () => by(tag));
    }
    return made;
}

if (process.argv.includes("--tests"))
    await tests(
        readdirSync(at("test"))
            .filter((f) => f.endsWith(".test.ts"))
            .map((f) => at("test", f)),
        "test",
    );
else if (process.argv.includes("--browser")) await tests([at("test/browser/main.ts")], "browser");
else await page();
