// browser.ts - what tests of the page are written with: a browser, a place for its pages, pictures of them, and tests that
// are functions.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { hasEndedServer, InVain, pageErrors, Unable } from "./results.ts";

export type { Case } from "./results.ts";

export const ROOT = process.env.ERLTRACE_ROOT ?? process.cwd();
export const PATIENCE = Number(process.env.PATIENCE ?? 60) * 1000;

export interface Open {
    dark?: boolean;
    width?: number;
    height?: number;
    scale?: number;
    phone?: boolean;
    /** The page's clock stands, but for what pass() lets go by: how slow the machine is changes nothing then. */
    stands?: boolean;
}

/** Lets time go by for the page, ms: one whose clock stands. */
export const pass = (page: Page, ms: number): Promise<void> =>
    page.evaluate((ms) => (window as unknown as { pass: (ms: number) => void }).pass(ms), ms);

/** Holds the page's timers of just that many ms: the test says when their time is up. Returns a function for that, which gives how many there were. */
export async function hold(page: Page, ms: number): Promise<() => Promise<number>> {
    await page.evaluate((ms) => {
        const [set, clear] = [window.setTimeout, window.clearTimeout];
        const held = new Map<unknown, () => void>();
        let last = 0;
        const later = (f: () => void, after?: number) => {
            if (after !== ms) return set(f, after);
            held.set(--last, f);
            return last;
        };
        const over = () => {
            const due = [...held.values()];
            held.clear();
            for (const f of due) f();
            return due.length;
        };
        Object.assign(window, {
            setTimeout: later,
            clearTimeout: (id: number) => held.delete(id) || clear(id),
            over,
        });
    }, ms);
    return () => page.evaluate(() => (window as unknown as { over: () => number }).over());
}

/** Where chromium is; a test without it cannot run. */
export function chromiumPath(): string {
    for (const p of [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"])
        if (p && existsSync(p)) return p;
    throw new Error("no chromium: scripts/dev/deps ui installs it");
}

/** The processes that have the folder as their HOME: ours, and no others. */
function chromiumOf(folder: string): number[] {
    return readdirSync("/proc")
        .filter((p) => /^\d+$/.test(p))
        .map(Number)
        .filter((p) => {
            try {
                return readFileSync(`/proc/${p}/environ`).includes(`HOME=${folder}\0`);
            } catch {
                return false;
            }
        });
}

/** What Chromium says of a request whose server has ended: where the connection was then decides which. */
const LOST =
    /net::ERR_(CONNECTION_(CLOSED|ABORTED)|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH)/;

export class Browsers {
    private browser: Browser | null = null;
    private folder = mkdtempSync(join(tmpdir(), "erltrace-ui-"));

    constructor(private readonly path = chromiumPath()) {}

    /** The browser, which is started if it does not run. A machine that is busy may fail to start it once. */
    async start(): Promise<Browser> {
        if (this.browser?.isConnected()) return this.browser;
        this.browser = await this.launch().catch(() =>
            this.launch().catch((e: unknown) => {
                throw new Unable(`Chromium does not start: ${String(e)}`);
            }),
        );
        return this.browser;
    }

    private launch(): Promise<Browser> {
        return chromium.launch({
            timeout: PATIENCE,
            executablePath: this.path,
            headless: true,
            env: {
                ...process.env,
                HOME: this.folder,
                TMPDIR: this.folder,
                XDG_CONFIG_HOME: this.folder,
                XDG_CACHE_HOME: this.folder,
            } as Record<string, string>,
            args: [
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-default-apps",
                "--disable-extensions",
                "--no-first-run",
                "--no-default-browser-check",
                "--metrics-recording-only",
                "--mute-audio",
                "--font-render-hinting=none",
                "--hide-scrollbars=false",
            ],
        });
    }

    /** A fresh context; whatever goes wrong in its pages is an error of the test. */
    async context(o: Open = {}): Promise<{ context: BrowserContext; errors: string[] }> {
        const browser = await this.start();
        const context = await browser.newContext({
            viewport: { width: o.width ?? 1360, height: o.height ?? 820 },
            deviceScaleFactor: o.scale ?? 1,
            colorScheme: o.dark ? "dark" : "light",
            hasTouch: o.phone ?? false,
            isMobile: o.phone ?? false,
            timezoneId: "UTC",
            locale: "en-US",
            acceptDownloads: true,
        });
        context.setDefaultTimeout(PATIENCE);
        const errors = pageErrors();
        context.on("page", (p) => p.on("crash", () => errors.push("the page has crashed")));
        context.on("weberror", (e) => errors.push(String(e.error().stack ?? e.error())));
        if (o.stands)
            await context.addInitScript(() => {
                let now = performance.now();
                performance.now = () => now;
                Object.assign(window, { pass: (ms: number) => void (now += ms) });
            });
        // Typing over styled text makes the browser itself try an inline style inside of the editor, which CodeMirror replaces
        // anyway; that one refusal is expected, others are errors.
        await context.addInitScript(() =>
            document.addEventListener("securitypolicyviolation", (e) => {
                if (
                    !(
                        e.effectiveDirective.startsWith("style-src") &&
                        e.target instanceof Element &&
                        e.target.closest(".editor") &&
                        e.sourceFile === ""
                    )
                )
                    console.error(`refused: ${e.effectiveDirective} ${e.sourceFile}:${e.lineNumber} ${e.sample}`);
            }),
        );
        context.on("console", (m) => {
            if (
                m.type() === "error" &&
                !(LOST.test(m.text()) && hasEndedServer()) &&
                !/^Applying inline style|Opener-Policy header has been ignored|status of 403|ERR_CONNECTION_(REFUSED|RESET)|WebSocket connection|blocked by CORS policy|net::ERR_FAILED|status of 50\d/.test(
                    m.text(),
                )
            )
                errors.push(m.text());
        });
        context.on("request", (r) => {
            const host = new URL(r.url()).hostname;
            if (!/^(127\.0\.0\.1|localhost|\[::1\]|198\.18\.\d+\.1)$/.test(host) && !/^(blob|data|file):/.test(r.url()))
                errors.push(`a request to another host: ${r.url()}`);
        });
        return { context, errors };
    }

    /** Closes what a test that failed has left open. */
    async tidy(): Promise<void> {
        for (const c of this.browser?.contexts() ?? []) await c.close().catch(() => {});
    }

    /** Kills the browser with all its processes, also those that it is starting; the next context gets a new one. */
    async kill(): Promise<void> {
        await until("the browser to be gone", () => {
            const all = chromiumOf(this.folder);
            for (const p of all) {
                try {
                    process.kill(p, "SIGKILL");
                } catch {
                    // it has ended meanwhile
                }
            }
            return all.length === 0 && !this.browser!.isConnected();
        });
        this.browser = null;
    }

    async end(): Promise<void> {
        await this.browser?.close();
        rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    }
}

const PICTURES = process.env.PICTURES ?? join(ROOT, "build", "ui");

/** Pictures are those of doc/images: WebP, which is a fifth of the size. */
const FOR_DOC = process.env.PICTURE_SECONDS !== undefined;
const QUALITY = 0.82;

export const DIST = join(ROOT, "ui", "dist");

/** The files that the page has loaded until now, and how many bytes they are with index.html, packed. */
export async function firstPaint(page: Page): Promise<{ bytes: number; first: string[] }> {
    const urls = await page.evaluate(() => performance.getEntriesByType("resource").map((e) => e.name));
    const first = [...new Set(urls.map((u) => new URL(u).pathname).filter((p) => p.startsWith("/assets/")))];
    const packed = (p: string) => gzipSync(readFileSync(join(DIST, p)), { level: 9 }).length;
    return { bytes: ["index.html", ...first].reduce((n, p) => n + packed(p), 0), first };
}

/** A picture of the page in build/ui; the pointer out of the way unless it is to be seen. */
export async function picture(page: Page, name: string): Promise<void> {
    mkdirSync(PICTURES, { recursive: true });
    const png = await page.screenshot({ animations: "disabled", caret: "hide" });
    const data = FOR_DOC ? await webp(page.context().browser()!, png) : png;
    writeFileSync(join(PICTURES, `${name}.${FOR_DOC ? "webp" : "png"}`), data);
}

/** A picture in another format, which the browser itself makes. */
async function webp(browser: Browser, png: Buffer): Promise<Buffer> {
    const page = await browser.newPage();
    try {
        const data = await page.evaluate(
            async ([base64, quality]) => {
                const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
                const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
                const canvas = new OffscreenCanvas(image.width, image.height);
                canvas.getContext("2d")!.drawImage(image, 0, 0);
                const made = new Uint8Array(
                    await (await canvas.convertToBlob({ type: "image/webp", quality })).arrayBuffer(),
                );
                let text = "";
                for (const b of made) text += String.fromCharCode(b);
                return btoa(text);
            },
            [png.toString("base64"), QUALITY] as const,
        );
        return Buffer.from(data, "base64");
    } finally {
        await page.close();
    }
}

/**
 * Clicks once. A button that moves away between press and release (a list has come, the head has another width) has not been clicked. `what`: a
 * selector, or an element that keeps its name until it is clicked.
 */
export async function click(page: Page, what: string | Locator, tries = 3): Promise<void> {
    const target = typeof what === "string" ? page.locator(what) : what;
    await target.evaluate(
        (el, selector) => {
            const nameOf = (e: Element) =>
                `${e.tagName} ${e.getAttribute("aria-label") ?? ""} ${e.getAttribute("title") ?? ""} ${e.textContent}`;
            const name = nameOf(el);
            delete document.body.dataset.clicked;
            const heard = (e: Event) => {
                const at = (e.target as Element).closest(selector ?? el.tagName);
                if (!at || (!selector && at !== el && nameOf(at) !== name)) return;
                document.body.dataset.clicked = "yes";
                document.removeEventListener("click", heard, true);
            };
            document.addEventListener("click", heard, true);
        },
        typeof what === "string" ? what : null,
    );
    const clicked = page.locator("body[data-clicked]");
    while ((await clicked.count()) === 0) {
        await target.click();
        tries--;
        await clicked.waitFor({ timeout: PATIENCE / 3 }).catch((e: unknown) => {
            if (tries <= 0) throw e;
        });
    }
}

/** Enters the editor, which is complete then. */
export async function enter(page: Page): Promise<Locator> {
    await page.locator(".editor textarea, .editor .cm-content").first().click();
    const content = page.locator(".editor .cm-content");
    await content.waitFor();
    await content.click();
    return content;
}

/** The text in the editor, whether it was entered or not. */
export const written = (page: Page): Promise<string | null> =>
    page.locator(".editor pre, .editor .cm-content").first().textContent();

/** Opens the menu `export` for `item`. As one does by hand: a button that has moved away between press and release (a banner has come) is clicked again. */
export async function openExport(page: Page, item: string | RegExp, tries = 3): Promise<Locator> {
    const entry = page.getByRole("menuitem", { name: item });
    while ((await entry.count()) === 0) {
        await page.getByRole("button", { name: /export/ }).click();
        tries--;
        await entry
            .first()
            .waitFor({ timeout: PATIENCE / 3 })
            .catch((e: unknown) => {
                if (tries <= 0) throw e;
            });
    }
    return entry.first();
}

/** A file of the menu `export`. A browser that has hardly any time may think by then that nobody has clicked, and gives none: once more. */
export async function download(page: Page, item: string, tries = 3): Promise<{ name: string; data: Buffer }> {
    const entry = await openExport(page, item);
    const coming = page
        .waitForEvent("download", { timeout: tries > 1 ? PATIENCE / 3 : PATIENCE })
        .catch((e: unknown) => {
            if (tries > 1) return null;
            throw e;
        });
    await entry.click();
    const d = await coming;
    return d ? { name: d.suggestedFilename(), data: readFileSync((await d.path())!) } : download(page, item, tries - 1);
}

/** Waits until `test` gives something; says what it waited for when it never does. */
export async function until<T>(
    what: string,
    test: () => Promise<T | null | undefined | false> | T | null | undefined | false,
    patience = PATIENCE,
): Promise<T> {
    const end = Date.now() + patience;
    for (;;) {
        const v = await test();
        if (v) return v;
        if (Date.now() > end) throw new InVain(`waited in vain for: ${what}`);
        await new Promise((r) => setTimeout(r, 50));
    }
}

/** What is wrong after a wait that was in vain. */
function inVain(check: () => void): void {
    try {
        check();
    } catch (e) {
        throw new InVain(`waited in vain: ${(e as Error).message}`);
    }
}

/** Waits until what is read is what is wanted: the page draws when it has time. Fails with the difference. */
export async function same<T>(read: () => Promise<T>, wanted: T): Promise<void> {
    const end = Date.now() + PATIENCE;
    for (;;) {
        const found = await read();
        if (isDeepStrictEqual(found, wanted)) return;
        if (Date.now() > end) inVain(() => assert.deepEqual(found, wanted));
        await new Promise((r) => setTimeout(r, 50));
    }
}

/** The same for text and a pattern. */
export async function like(read: () => Promise<string | undefined | null>, wanted: RegExp): Promise<void> {
    const end = Date.now() + PATIENCE;
    for (;;) {
        const found = (await read()) ?? "";
        if (wanted.test(found)) return;
        if (Date.now() > end) inVain(() => assert.match(found, wanted));
        await new Promise((r) => setTimeout(r, 50));
    }
}

/** The texts of elements, without the sign of the menu's button that may be at their end. */
export const textsOf = async (l: Locator): Promise<string[]> =>
    (await l.allTextContents()).map((text) => text.replace(/⋯$/, ""));
