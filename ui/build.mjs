// build.mjs - bundles the page into dist/: index.html and, with the hash of their content in their names, one script, one
// style sheet and the icon. No inline script or style, no address of another host.
//
//   node build.mjs             dist/
//   node build.mjs --tests     build/test/: each test/*.test.ts, for node --test
//   node build.mjs --browser   build/browser/main.mjs: the tests that drive a browser
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

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

async function page() {
    rmSync(at("dist"), { recursive: true, force: true });
    mkdirSync(at("dist/assets"), { recursive: true });
    const made = await build({
        ...common,
        entryPoints: [at("src/main.tsx")],
        outdir: at("dist"),
        write: false,
        minify: true,
        format: "esm",
        target: ["es2020", "firefox104", "chrome99", "safari16.4"], // adopted style sheets
        legalComments: "none",
        define: { "process.env.NODE_ENV": '"production"' },
    });
    const text = (ext) => made.outputFiles.find((f) => f.path.endsWith(ext)).contents;
    const names = {
        "@SCRIPT@": hashed("page.js", text(".js")),
        "@STYLE@": hashed("page.css", text(".css")),
        "@ICON@": hashed("icon.svg", readFileSync(at("src/icon.svg"))),
    };
    let html = readFileSync(at("src/index.html"), "utf8");
    for (const [mark, name] of Object.entries(names)) html = html.replaceAll(mark, name);
    writeFileSync(at("dist/index.html"), html);
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
