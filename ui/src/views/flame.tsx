// flame.tsx - the flame graph, drawn on a canvas: width is the share of the value, depth the stack. model/flame.ts makes the tree.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { traceJson } from "../model/export.ts";
import { depthOf, find, flame, folded, frames, linesOf, matched, pathOf, stacksOf, type Frame } from "../model/flame.ts";
import { exact, percent, value } from "../model/format.ts";
import { isAmount } from "../model/functions.ts";
import { oklch } from "../model/colour.ts";
import type { Aggregation, Trace } from "../model/trace.ts";
import { css, font, prepare, save, savePng, useSize } from "./canvas.tsx";
import { Menu, Pause, Search, Segments, Toggle } from "./widgets.tsx";

const NARROW = 0.4; // px below which a frame is not drawn

// A module has one hue, and its functions differ slightly in lightness: neighbours can be told apart, and a colour means something.
function colourOf(name: string, dark: boolean): string {
    const module = /^([^:`+]+)[:`]/.exec(name)?.[1] ?? name;
    const hash = (s: string) => {
        let h = 2166136261;
        for (let i = 0; i < s.length; i++) h = Math.imul(h ^ s.charCodeAt(i), 16777619);
        return (h >>> 0) / 2 ** 32;
    };
    const hue = 15 + 75 * hash(module);
    const light = (dark ? 0.6 : 0.82) + 0.06 * (hash(name) - 0.5);
    const [r, g, b] = oklch(light, dark ? 0.13 : 0.11, hue);
    return `rgb(${r},${g},${b})`;
}

export function Flame({ trace, agg }: { trace: Trace; agg: Aggregation }) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const scroller = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [search, setSearch] = useState("");
    const [path, setPath] = useState<string[]>([]);
    const [held, setHeld] = useState(false);
    const [hover, setHover] = useState<{ frame: Frame; x: number; y: number } | null>(null);
    const { reverse, icicle } = app.view;
    const version = held ? -1 : trace.version;
    const stacks = useMemo(() => stacksOf(agg), [version, agg]);
    const root = useMemo(() => flame(stacks, reverse), [stacks, reverse]);
    const zoomed = useMemo(() => find(root, path) ?? root, [root, path]);
    const unit = app.unitOf(agg);
    const test = useMemo(() => {
        const s = search.trim();
        if (!s) return null;
        try {
            const re = new RegExp(s, "i");
            return (n: string) => re.test(n);
        } catch {
            return (n: string) => n.toLowerCase().includes(s.toLowerCase());
        }
    }, [search]);
    const rows = useMemo(() => depthOf(root) + 1, [root]);
    const ROW = rows <= 12 ? 24 : 19;
    const height = Math.max(rows * ROW + 2, 40);

    // The zoomed frame has the whole width, and so have those above it.
    const scale = 1 / Math.max(1e-12, zoomed.x1 - zoomed.x0);
    const boxOf = (f: Frame) => {
        const x0 = Math.max(0, (f.x0 - zoomed.x0) * scale) * size.width;
        const x1 = Math.min(1, (f.x1 - zoomed.x0) * scale) * size.width;
        const y = icicle ? f.depth * ROW : height - (f.depth + 1) * ROW;
        return { x: x0, y, w: x1 - x0, h: ROW - 1 };
    };

    useEffect(() => {
        if (size.width === 0) return;
        const cx = prepare(canvas.current!, { width: size.width, height });
        const dark = app.dark;
        cx.textBaseline = "middle";
        cx.font = font(11);
        const char = cx.measureText("m").width;
        for (const f of frames(root)) {
            if (f.x1 <= zoomed.x0 || f.x0 >= zoomed.x1) continue;
            const b = boxOf(f);
            if (b.w < NARROW) continue;
            const hit = test?.(f.name) ?? false;
            const above = f.depth < zoomed.depth;
            cx.fillStyle = hit ? css("--pick") : f.parent === null ? css("--bar-out") : colourOf(f.name, dark);
            cx.globalAlpha = above ? 0.5 : test && !hit ? 0.72 : 1;
            cx.fillRect(b.x, b.y, Math.max(NARROW, b.w - (b.w > 3 ? 1 : 0)), b.h);
            cx.globalAlpha = 1;
            const room = Math.floor((b.w - 8) / char);
            if (room < 3) continue;
            cx.fillStyle = hit ? css("--on-pick") : f.parent === null ? css("--text") : css("--on-flame");
            cx.fillText(f.name.length > room ? `${f.name.slice(0, room - 1)}…` : f.name, b.x + 4, b.y + b.h / 2 + 0.5);
        }
        if (hover) {
            const b = boxOf(hover.frame);
            cx.strokeStyle = css("--mark");
            cx.lineWidth = 1.5;
            cx.strokeRect(b.x + 0.75, b.y + 0.75, Math.max(1, b.w - 2.5), b.h - 1.5);
        }
    }, [root, zoomed, size, height, test, hover?.frame, icicle, app.dark]);

    // Show the root first: at the bottom, unless it is at the top.
    useEffect(() => {
        scroller.current!.scrollTop = icicle ? 0 : scroller.current!.scrollHeight;
    }, [icicle, rows, size.height]);

    const at = (e: PointerEvent | MouseEvent): Frame | null => {
        const r = canvas.current!.getBoundingClientRect();
        const [x, y] = [e.clientX - r.left, e.clientY - r.top];
        const depth = icicle ? Math.floor(y / ROW) : Math.floor((height - y) / ROW);
        for (const f of frames(root)) {
            if (f.depth !== depth || f.x1 <= zoomed.x0 || f.x0 >= zoomed.x1) continue;
            const b = boxOf(f);
            if (x >= b.x && x < b.x + b.w) return f;
        }
        return null;
    };
    const share = test ? matched(root, test) / Math.max(1, root.value) : null;
    const name = `erltrace-${agg.name.replace(/\W/g, "") || "flame"}`;
    const text = (n: number) => (isAmount(agg.fn) && unit ? value(n, unit) : exact(n));
    const stacked = agg.keyTypes.includes("stack") || stacks.some(([f]) => f.length > agg.keyTypes.length);
    useLayoutEffect(() => {
        const space = () => setHeld(!held);
        addEventListener("erltrace:pause", space);
        return () => removeEventListener("erltrace:pause", space);
    });
    return (
        <div class="flame">
            <div class="toolbar">
                <Search value={search} placeholder="search frames (regular expression)" onInput={setSearch} main />
                {share !== null && (
                    <span class="matched" data-testid="matched">
                        {percent(share)} matched
                    </span>
                )}
                <Segments
                    label="merge"
                    value={reverse ? "leaf" : "root"}
                    options={[
                        ["root", "from the root", "who calls what"],
                        ["leaf", "inverted", "from the innermost frame: what calls it"],
                    ]}
                    onChange={(v) => (setPath([]), app.setView({ reverse: v === "leaf" }))}
                />
                <Toggle on={icicle} title="the root at the top" onChange={(icicle) => app.setView({ icicle })}>
                    icicle
                </Toggle>
                {path.length > 0 && (
                    <button type="button" onClick={() => setPath([])} title="the whole graph (Esc)">
                        reset zoom
                    </button>
                )}
                <span class="grow" />
                <Pause held={held} over={trace.stopped !== null} onChange={setHeld} />
                <Menu
                    label="export"
                    items={[
                        ["PNG image", () => savePng(`${name}.png`, `${trace.info.name} · ${agg.name} · ${trace.info.node}`, [canvas.current!])],
                        ["folded stacks", () => save(`${name}.folded`, folded(stacks), "text/plain")],
                        ["JSON of everything", () => save(`${name}.json`, traceJson(trace), "application/json")],
                    ]}
                />
            </div>
            <nav class="crumbs" aria-label="zoomed frame">
                {zoomed === root ? (
                    <span class="muted">{stacked ? "width is the share of the value, height the stack" : "no stacks in this aggregation: the tree of its keys"}; click a frame to zoom</span>
                ) : (
                    [root, ...pathOf(zoomed).map((_, i, p) => find(root, p.slice(0, i + 1))!)].map((f) => (
                        <button type="button" key={f.depth} onClick={() => setPath(pathOf(f))}>
                            {f.name}
                        </button>
                    ))
                )}
            </nav>
            <div class={`flame-scroll ${icicle ? "" : "stands"}`} ref={scroller} tabIndex={0} onKeyDown={(e) => e.key === "Escape" && setPath([])}>
                <div class="flame-map" ref={box} style={{ height: `${height}px` }}>
                    <canvas
                        ref={canvas}
                        class="layer"
                        data-testid="flame"
                        onPointerMove={(e) => {
                            const f = at(e);
                            setHover(f ? { frame: f, x: e.clientX, y: e.clientY } : null);
                        }}
                        onPointerLeave={() => setHover(null)}
                        onClick={(e) => {
                            const f = at(e);
                            if (f) setPath(pathOf(f));
                        }}
                    />
                </div>
                {root.value === 0 && <div class="nothing">nothing yet</div>}
            </div>
            {hover && (
                <div class="tip fixed" style={{ left: `${Math.min(hover.x + 14, innerWidth - 340)}px`, top: `${Math.min(hover.y + 16, innerHeight - 110)}px` }} data-testid="tip">
                    <p class="tip-name">{hover.frame.name}</p>
                    {linesOf(hover.frame, 3).map(([line, n]) => (
                        <p key={line}>
                            {line} {percent(n / Math.max(1, hover.frame.value))}
                        </p>
                    ))}
                    <dl>
                        <dt>{agg.fn}</dt>
                        <dd>{text(hover.frame.value)}</dd>
                        <dt>of all</dt>
                        <dd>{percent(hover.frame.value / Math.max(1, root.value))}</dd>
                        <dt>itself</dt>
                        <dd>{text(hover.frame.self)}</dd>
                    </dl>
                </div>
            )}
        </div>
    );
}
