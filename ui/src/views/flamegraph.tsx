// flamegraph.tsx - one tree of frames on a canvas: width is the share of the value, depth the distance from the root. Views decide which
// tree it is and what is zoomed.
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { oklch } from "../model/colour.ts";
import { depthOf, type Frame, find, frames, linesOf, pathOf } from "../model/flame.ts";
import { atLeast, percent } from "../model/format.ts";
import { type Thing, thingsOf } from "../model/next.ts";
import { css, font, prepare, useSize } from "./canvas.tsx";
import { ask } from "./next.tsx";

const NARROW = 0.4; // px below which a frame is not drawn
const FEW = 12; // levels up to which rows are high

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

/** What a frame names, with the line that is seen most. */
export function thingsOfFrame(f: Frame): Thing[] {
    const found = thingsOf(null, [f.name]);
    const line = linesOf(f, 1)[0]?.[0];
    return line && found[0] ? [{ ...found[0], line }] : found;
}

export interface Drawn {
    width: number;
    height: number;
    draw: (cx: CanvasRenderingContext2D) => void;
}

interface Props {
    root: Frame;
    /** How many levels are no frames of stacks: the root, columns. */
    bases?: number;
    /** The root is at the top. */
    icicle: boolean;
    path: readonly string[];
    onPath: (path: string[]) => void;
    /** Which frames the search finds. */
    test: ((name: string) => boolean) | null;
    /** The value of the whole, of which the tip shows the share. */
    whole: number;
    fn: string;
    text: (n: number) => string;
    label: string;
    id: string;
    /** Gets what draws the graph, for pictures of it. */
    drawn?: RefObject<Drawn>;
    onOpen?: (frame: Frame) => void;
}

export function FlameGraph({
    root,
    bases = 1,
    icicle,
    path,
    onPath,
    test,
    whole,
    fn,
    text,
    label,
    id,
    drawn,
    onOpen,
}: Props) {
    const box = useRef<HTMLDivElement>(null);
    const paper = useRef<HTMLCanvasElement>(null);
    const scroller = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [hover, setHover] = useState<{ frame: Frame; x: number; y: number } | null>(null);
    const [cursor, setCursor] = useState<readonly string[] | null>(null); // the frame that the keyboard is at
    const zoomed = useMemo(() => find(root, path) ?? root, [root, path]);
    const rows = useMemo(() => depthOf(root) + 1, [root]);
    const high = rows <= FEW ? 24 : 19;
    const height = Math.max(rows * high + 2, 40);
    const at = cursor ? find(root, cursor) : null;

    // The zoomed frame has the whole width, and so have those above it.
    const scale = 1 / Math.max(1e-12, zoomed.x1 - zoomed.x0);
    const boxOf = (f: Frame) => {
        const x0 = Math.max(0, (f.x0 - zoomed.x0) * scale) * size.width;
        const x1 = Math.min(1, (f.x1 - zoomed.x0) * scale) * size.width;
        const y = icicle ? f.depth * high : height - (f.depth + 1) * high;
        return { x: x0, y, w: x1 - x0, h: high - 1 };
    };
    const seen = (f: Frame) => f.x1 > zoomed.x0 && f.x0 < zoomed.x1;

    const draw = (cx: CanvasRenderingContext2D) => {
        const dark = app.dark;
        cx.textBaseline = "middle";
        cx.font = font(11);
        const char = cx.measureText("m").width;
        for (const f of frames(root)) {
            if (!seen(f)) continue;
            const b = boxOf(f);
            if (b.w < NARROW) continue;
            const hit = test?.(f.name) ?? false;
            const above = f.depth < zoomed.depth;
            const plain = f.depth < bases;
            cx.fillStyle = hit ? css("--pick") : plain ? css("--bar-out") : colourOf(f.name, dark);
            cx.globalAlpha = above ? 0.5 : test && !hit ? 0.72 : 1;
            cx.fillRect(b.x, b.y, Math.max(NARROW, b.w - (b.w > 3 ? 1 : 0)), b.h);
            cx.globalAlpha = 1;
            const room = Math.floor((b.w - 8) / char);
            if (room < 3) continue;
            cx.fillStyle = hit ? css("--on-pick") : plain ? css("--text") : css("--on-flame");
            cx.fillText(f.name.length > room ? `${f.name.slice(0, room - 1)}…` : f.name, b.x + 4, b.y + b.h / 2 + 0.5);
        }
        for (const [f, width] of [
            [hover?.frame, 1.5],
            [at, 2.5],
        ] as const) {
            if (!f || !seen(f)) continue;
            const b = boxOf(f);
            cx.strokeStyle = css("--mark");
            cx.lineWidth = width;
            cx.strokeRect(b.x + 1, b.y + 1, Math.max(1, b.w - 3), b.h - 2);
        }
    };
    if (drawn) drawn.current = { width: size.width, height, draw };
    useEffect(() => {
        if (size.width > 0) draw(prepare(paper.current!, { width: size.width, height }));
    }, [root, zoomed, size, height, test, hover?.frame, at, icicle, app.dark]);

    // Show the root first: at the bottom, unless it is at the top.
    useEffect(() => {
        scroller.current!.scrollTop = icicle ? 0 : scroller.current!.scrollHeight;
    }, [icicle, rows, size.height]);

    const under = (e: PointerEvent | MouseEvent): Frame | null => {
        const r = paper.current!.getBoundingClientRect();
        const [x, y] = [e.clientX - r.left, e.clientY - r.top];
        const depth = icicle ? Math.floor(y / high) : Math.floor((height - y) / high);
        for (const f of frames(root)) {
            if (f.depth !== depth || !seen(f)) continue;
            const b = boxOf(f);
            if (x >= b.x && x < b.x + b.w) return f;
        }
        return null;
    };
    const go = (f: Frame) => {
        setCursor(pathOf(f));
        const b = boxOf(f);
        const s = scroller.current!;
        const top = b.y + box.current!.offsetTop;
        if (top < s.scrollTop) s.scrollTop = top;
        else if (top + high > s.scrollTop + s.clientHeight) s.scrollTop = top + high - s.clientHeight;
    };
    const key = (e: KeyboardEvent) => {
        const f = at ?? zoomed;
        const beside = (by: number) => {
            const level = [...frames(root)].filter((g) => g.depth === f.depth && seen(g)).sort((a, b) => a.x0 - b.x0);
            return level[level.indexOf(f) + by];
        };
        const next: Record<string, () => Frame | null | undefined> = {
            ArrowUp: () => (icicle ? f.parent : f.children.find(seen)),
            ArrowDown: () => (icicle ? f.children.find(seen) : f.parent),
            ArrowLeft: () => beside(-1),
            ArrowRight: () => beside(1),
            Home: () => root,
        };
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        if (e.key === "Enter") onOpen ? onOpen(f) : onPath(pathOf(f));
        else if (e.key === "Escape") setCursor(null), onPath([]);
        else if (next[e.key]) {
            const to = at ? next[e.key]!() : f;
            if (to) go(to);
        } else return;
        e.preventDefault();
    };
    const said = (f: Frame) =>
        `${f.name}: ${fn} ${atLeast(text(f.value), f.atLeast)}, ${percent(f.value / Math.max(1, whole))} of all, itself ${atLeast(text(f.self), f.atLeast && f.self > 0)}`;
    const tip = hover?.frame;
    return (
        <div
            class={`flame-scroll ${icicle ? "" : "stands"}`}
            ref={scroller}
            tabIndex={0}
            role="application"
            aria-roledescription="flame graph"
            aria-label={`${label}; arrows go from frame to frame, Enter ${onOpen ? "opens" : "zooms"}, Escape shows all`}
            onKeyDown={key}
            onContextMenu={(e) => {
                const f = e.target === paper.current ? under(e) : (at ?? zoomed);
                if (f) ask(e, thingsOfFrame(f));
            }}
            onBlur={() => setCursor(null)}
        >
            <div class="flame-map" ref={box} style={{ height: `${height}px` }}>
                <canvas
                    ref={paper}
                    class="layer"
                    data-testid={id}
                    onPointerMove={(e) => {
                        const f = under(e);
                        setHover(f ? { frame: f, x: e.clientX, y: e.clientY } : null);
                    }}
                    onPointerLeave={() => setHover(null)}
                    onClick={(e) => {
                        const f = under(e);
                        if (f) onPath(pathOf(f));
                    }}
                    onDblClick={(e) => {
                        const f = under(e);
                        if (f) onOpen?.(f);
                    }}
                />
            </div>
            <span class="unseen" role="status" data-testid={`${id}-at`}>
                {at ? said(at) : ""}
            </span>
            {root.value === 0 && <div class="nothing">nothing yet</div>}
            {tip && (
                <div
                    class="tip fixed"
                    style={{
                        left: `${Math.min(hover.x + 14, innerWidth - 340)}px`,
                        top: `${Math.min(hover.y + 16, innerHeight - 110)}px`,
                    }}
                    data-testid="tip"
                >
                    <p class="tip-name">{tip.name}</p>
                    {linesOf(tip, 3).map(([line, n]) => (
                        <p key={line}>
                            {line} {percent(n / Math.max(1, tip.value))}
                        </p>
                    ))}
                    <dl>
                        <dt>{fn}</dt>
                        <dd>{atLeast(text(tip.value), tip.atLeast)}</dd>
                        <dt>of all</dt>
                        <dd>{percent(tip.value / Math.max(1, whole))}</dd>
                        <dt>itself</dt>
                        <dd>{atLeast(text(tip.self), tip.atLeast && tip.self > 0)}</dd>
                    </dl>
                </div>
            )}
        </div>
    );
}
