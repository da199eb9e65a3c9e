// canvas.tsx - canvases that fit their place and the screen's pixels, and the theme's colours for them.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { app } from "../app.ts";
import { palette, type RGB } from "../model/colour.ts";

export interface Size {
    width: number;
    height: number;
}

/** The size of an element, px, as it changes. */
export function useSize(ref: RefObject<HTMLElement>): Size {
    const [size, set] = useState<Size>({ width: 0, height: 0 });
    useEffect(() => {
        const el = ref.current!;
        const observer = new ResizeObserver(() => {
            const { clientWidth: width, clientHeight: height } = el;
            set((old) => (old.width === width && old.height === height ? old : { width, height }));
        });
        observer.observe(el);
        return () => observer.disconnect();
    }, []);
    return size;
}

/** Resizes a canvas and returns its context, in CSS pixels, cleared. */
export function prepare(canvas: HTMLCanvasElement, size: Size): CanvasRenderingContext2D {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(size.width * ratio)), Math.max(1, Math.round(size.height * ratio))];
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
    }
    const cx = canvas.getContext("2d")!;
    cx.setTransform(ratio, 0, 0, ratio, 0, 0);
    cx.clearRect(0, 0, size.width, size.height);
    cx.lineWidth = 1;
    cx.globalAlpha = 1;
    cx.setLineDash([]);
    return cx;
}

let cached = { theme: "", css: new Map<string, string>(), ramp: [] as string[], rgb: [] as RGB[] };
function current(): typeof cached {
    const theme = document.documentElement.dataset.theme ?? "";
    if (cached.theme !== theme) {
        const rgb = palette(theme === "dark");
        cached = { theme, css: new Map(), rgb, ramp: rgb.map(([r, g, b]) => `rgb(${r},${g},${b})`) };
    }
    return cached;
}

/** A colour of the style sheet: css("--line"). */
export function css(name: string): string {
    const { css } = current();
    let v = css.get(name);
    if (v === undefined) css.set(name, (v = getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
    return v;
}

/** The colours of a heat map, from few to many. */
export const ramp = (): string[] => current().ramp;

/** A path of lines that also says what it is, in the words of SVG. */
export class Path extends Path2D {
    data = "";
    override moveTo(x: number, y: number): void {
        super.moveTo(x, y);
        this.data += `M${x.toFixed(2)} ${y.toFixed(2)}`;
    }
    override lineTo(x: number, y: number): void {
        super.lineTo(x, y);
        this.data += `L${x.toFixed(2)} ${y.toFixed(2)}`;
    }
    /** The same path, to go on from. */
    copy(): Path {
        const path = new Path(this);
        path.data = this.data;
        return path;
    }
}

/** Slanting lines for the ground where nothing is known. */
export function hatch(cx: CanvasRenderingContext2D): CanvasPattern | string {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const t = tile.getContext("2d")!;
    t.strokeStyle = css("--faint");
    t.lineWidth = 1;
    t.beginPath();
    for (const x of [-8, 0, 8]) {
        t.moveTo(x, 8);
        t.lineTo(x + 8, 0);
    }
    t.stroke();
    return cx.createPattern(tile, "repeat") ?? css("--unknown");
}

export const MONO =
    "ui-monospace, 'SF Mono', 'Cascadia Mono', 'JetBrains Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";
export const font = (px: number, weight = 400): string => `${weight} ${px}px ${MONO}`;

/** Colours of lines: distinct in lightness as well as in hue (after Okabe and Ito). */
export function lineColours(): string[] {
    return app.dark
        ? ["#56b4e9", "#e69f00", "#2dc198", "#f0e442", "#e58ab8", "#ef7d3c", "#8fa3ff", "#b8b8b8", "#9bd36a", "#d0a87a"]
        : [
              "#0072b2",
              "#c77d00",
              "#00845f",
              "#8a7f00",
              "#b1487f",
              "#cc4a00",
              "#4a4fc4",
              "#6b6b6b",
              "#4c8a1c",
              "#85572a",
          ];
}

export const clip = (s: string, n: number): string => (s.length > n ? `${s.slice(0, n - 1)}…` : s);

/** Saves a file for the user. */
export function save(name: string, data: BlobPart, type: string): void {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([data], { type }));
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}
