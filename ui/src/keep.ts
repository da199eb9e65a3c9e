// keep.ts - sessions as files: saves what is shown, opens what was saved, and makes a page that has a session inside and needs no server.
import { app } from "./app.ts";
import { Wrong } from "./model/checked.ts";
import { pack, type Saved, unpack } from "./model/saved.ts";
import * as url from "./model/url.ts";
import { ask } from "./net/token.ts";
import { save } from "./views/canvas.tsx";

/** The element of a page with a session inside that has it, as base64 of its file. */
const INSIDE = "session";
/** The page without a session, and where one goes. */
const PAGE = "/alone.html";
const place = (data: string) => `<script type="text/plain" id="${INSIDE}">${data}</script>`;

/** Why a file could not be opened, or saved; "": nothing went wrong. */
let problem = "";
/** A page with a session inside, before anything was drawn. */
let original = "";

export const keepProblem = (): string => problem;

export function tell(text: string): void {
    problem = text;
    app.changed();
}

function current(): Saved | null {
    const trace = app.trace;
    if (!trace) return null;
    const look = url.write({ ...app.address(), node: null, name: "", script: null, args: [] });
    const origin = trace.origin ?? {
        erltrace: app.version,
        running: app.phase === "running",
        notices: app.notices,
    };
    return { ...origin, trace, look };
}

/** "shop-latency-2026-11-26T13-05-00": a name for files of this trace. */
export function fileName(what = ""): string {
    const t = app.trace;
    const words = [
        t?.info.node.split("@")[0] ?? "",
        t?.info.name.replace(/\.d$/, "") ?? "",
        what.replace(/\W/g, ""),
        t ? new Date(t.info.t).toISOString().slice(0, 19).replaceAll(":", "-") : "",
    ];
    return `erltrace-${words
        .map((w) => w.replace(/[^\w.-]/g, ""))
        .filter(Boolean)
        .join("-")}`;
}

async function trying(what: string, action: () => Promise<void>): Promise<void> {
    try {
        await action();
        tell("");
    } catch (e) {
        tell(`${what}: ${e instanceof Wrong || e instanceof Error ? e.message : String(e)}`);
    }
}

export const saveSession = (): Promise<void> =>
    trying("The session was not saved", async () => {
        const s = current();
        if (!s) return;
        const { data, ending } = await pack(s);
        save(`${fileName()}${ending}`, new Blob(data), "application/octet-stream");
    });

const read64 = (blob: Blob): Promise<string> =>
    new Promise((done, failed) => {
        const reader = new FileReader();
        reader.onload = () => done(String(reader.result).replace(/^[^,]*,/, ""));
        reader.onerror = () => failed(new Error("the browser cannot read it"));
        reader.readAsDataURL(blob);
    });

/** Saves a page with the session inside. */
export const savePage = (): Promise<void> =>
    trying("The page was not saved", async () => {
        const s = current();
        if (!s) return;
        let page = original;
        if (!page) {
            const answer = await ask(PAGE, { cache: "no-cache" }).catch(() => null);
            if (!answer?.ok) throw new Error("the server does not answer; save the session, which a page can open");
            page = await answer.text();
        }
        const data = await read64(new Blob((await pack(s)).data));
        const made = page.replace(new RegExp(place("[^<]*")), () => place(data));
        save(`${fileName()}.html`, made, "text/html");
    });

/** Opens a file; what is shown stays if it is no session. */
export const openFile = (file: Blob & { name?: string }): Promise<void> =>
    trying(`${file.name ?? "The session"} was not opened`, async () => {
        if (app.busy) throw new Wrong("a trace is running here: stop it first, or open the file in another tab");
        app.show(await unpack(file));
    });

/** Lets the user choose a file. */
export function chooseFile(): void {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".json,.gz";
    input.onchange = () => input.files?.[0] && void openFile(input.files[0]);
    input.click();
}

/** Opens the session that is inside this page, if there is one; files that are dropped anywhere; and listens for keys. */
export function startKeeping(): void {
    const inside = document.getElementById(INSIDE);
    if (inside) {
        original = `<!DOCTYPE html>${document.documentElement.outerHTML}`;
        app.life.link = "none";
        const bytes = Uint8Array.from(atob(inside.textContent ?? ""), (c) => c.charCodeAt(0));
        void openFile(new Blob([bytes]));
    }
    const files = (e: DragEvent) => e.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (e) => {
        if (!files(e)) return;
        e.preventDefault();
        document.body.classList.add("dropping");
    });
    addEventListener("dragleave", (e) => {
        if (!e.relatedTarget) document.body.classList.remove("dropping");
    });
    addEventListener("drop", (e) => {
        if (!files(e)) return;
        e.preventDefault();
        document.body.classList.remove("dropping");
        const file = e.dataTransfer!.files[0];
        if (file) void openFile(file);
    });
    addEventListener("keydown", (e) => {
        if (!(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
        const key = e.key.toLowerCase();
        if (key !== "s" && key !== "o") return;
        e.preventDefault();
        if (key === "s") void saveSession();
        else chooseFile();
    });
}
