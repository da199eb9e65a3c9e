// svg.ts - what is drawn on a canvas as SVG: a context that has those methods of a canvas's that the views use, and keeps what is drawn as
// elements.
import type { Path } from "./canvas.tsx";

const escaped = (s: string): string =>
    s.replace(/[&<>"\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, (c) =>
        c === "&" ? "&amp;" : c === "<" ? "&lt;" : c === ">" ? "&gt;" : c === '"' ? "&quot;" : "\ufffd",
    );
const n = (x: number): string => String(Math.round(x * 100) / 100);

interface Style {
    fillStyle: string;
    strokeStyle: string;
    lineWidth: number;
    lineJoin: string;
    globalAlpha: number;
    font: string;
    textAlign: string;
    textBaseline: string;
    dash: number[];
}

const ANCHOR: Record<string, string> = { center: "middle", right: "end", end: "end" };
const BASELINE: Record<string, string> = { middle: "central", top: "hanging" };

export class SvgContext implements Style {
    fillStyle = "#000";
    strokeStyle = "#000";
    lineWidth = 1;
    lineJoin = "miter";
    globalAlpha = 1;
    font = "10px sans-serif";
    textAlign = "left";
    textBaseline = "alphabetic";
    dash: number[] = [];
    private out: string[] = [];
    private path = "";
    private kept: { style: Style; groups: number }[] = [];
    private groups = 0; // that are open
    private ids = 0;
    private readonly ruler = document.createElement("canvas").getContext("2d")!;

    /** The document. title, about: for those who cannot see it. */
    text(width: number, height: number, title: string, about: string): string {
        return [
            `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" role="img">`,
            `<title>${escaped(title)}</title><desc>${escaped(about)}</desc>`,
            ...this.out,
            "</g>".repeat(this.groups),
            "</svg>\n",
        ].join("\n");
    }

    private paint(name: "fill" | "stroke", colour: string): string {
        // tools that know SVG 1.1 want colour and opacity apart
        const m = /^rgba?\(([^,]+,[^,]+,[^,]+),([^)]+)\)$/.exec(colour);
        const alpha = this.globalAlpha * (m ? Number(m[2]) : 1);
        return `${name}="${m ? `rgb(${m[1]})` : escaped(colour)}"${alpha < 1 ? ` ${name}-opacity="${n(alpha)}"` : ""}`;
    }

    private pen(): string {
        const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.map(n).join(" ")}"` : "";
        const join = this.lineJoin === "miter" ? "" : ` stroke-linejoin="${this.lineJoin}"`;
        return `fill="none" ${this.paint("stroke", this.strokeStyle)} stroke-width="${n(this.lineWidth)}"${dash}${join}`;
    }

    setLineDash(dash: number[]): void {
        this.dash = dash;
    }

    fillRect(x: number, y: number, w: number, h: number): void {
        if (w > 0 && h > 0)
            this.out.push(
                `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" ${this.paint("fill", this.fillStyle)}/>`,
            );
    }

    strokeRect(x: number, y: number, w: number, h: number): void {
        this.out.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" ${this.pen()}/>`);
    }

    fillText(text: string, x: number, y: number): void {
        const [, weight = "400", size = "10", family = "sans-serif"] =
            /^(?:(\S+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
        const anchor = ANCHOR[this.textAlign] ? ` text-anchor="${ANCHOR[this.textAlign]}"` : "";
        const base = BASELINE[this.textBaseline] ? ` dominant-baseline="${BASELINE[this.textBaseline]}"` : "";
        this.out.push(
            `<text x="${n(x)}" y="${n(y)}" font-family="${escaped(family)}" font-size="${size}" font-weight="${weight}"${anchor}${base} ${this.paint("fill", this.fillStyle)} xml:space="preserve">${escaped(text)}</text>`,
        );
    }

    measureText(text: string): TextMetrics {
        this.ruler.font = this.font;
        return this.ruler.measureText(text);
    }

    beginPath(): void {
        this.path = "";
    }
    moveTo(x: number, y: number): void {
        this.path += `M${n(x)} ${n(y)}`;
    }
    lineTo(x: number, y: number): void {
        this.path += `L${n(x)} ${n(y)}`;
    }
    rect(x: number, y: number, w: number, h: number): void {
        this.path += `M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}z`;
    }
    /** A whole one, not turned. */
    ellipse(x: number, y: number, rx: number, ry: number): void {
        const half = `a${n(rx)} ${n(ry)} 0 1 0`;
        this.path += `M${n(x - rx)} ${n(y)}${half} ${n(2 * rx)} 0${half} ${n(-2 * rx)} 0z`;
    }
    stroke(path?: Path): void {
        this.out.push(`<path d="${path ? path.data : this.path}" ${this.pen()}/>`);
    }
    fill(path?: Path): void {
        this.out.push(`<path d="${path ? path.data : this.path}" ${this.paint("fill", this.fillStyle)}/>`);
    }

    /** The part that may be drawn on, until restore(). */
    clip(): void {
        const id = `clip${++this.ids}`;
        this.out.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
        this.groups++;
    }
    translate(x: number, y: number): void {
        this.out.push(`<g transform="translate(${n(x)} ${n(y)})">`);
        this.groups++;
    }
    save(): void {
        const { fillStyle, strokeStyle, lineWidth, lineJoin, globalAlpha, font, textAlign, textBaseline, dash } = this;
        const style = { fillStyle, strokeStyle, lineWidth, lineJoin, globalAlpha, font, textAlign, textBaseline, dash };
        this.kept.push({ style, groups: this.groups });
    }
    restore(): void {
        const old = this.kept.pop();
        if (!old) return;
        this.out.push("</g>".repeat(this.groups - old.groups));
        this.groups = old.groups;
        Object.assign(this, old.style);
    }

    /** A small picture that is repeated, as a fillStyle. */
    createPattern(tile: HTMLCanvasElement): string {
        const id = `tile${++this.ids}`;
        this.out.push(
            `<pattern id="${id}" width="${tile.width}" height="${tile.height}" patternUnits="userSpaceOnUse"><image width="${tile.width}" height="${tile.height}" href="${tile.toDataURL()}"/></pattern>`,
        );
        return `url(#${id})`;
    }
}
