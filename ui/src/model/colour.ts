// colour.ts - from counts to colours: the three scales of a heat map and its palettes.
//
// A palette is a curve through OKLab whose lightness only rises (or only falls, on a light ground), in steps of one length: equal steps
// look equal, and the order stays readable without any colour vision. A scale gives each count greater than zero a place in 0..1 on that
// curve; zero is always the ground.

export type RGB = readonly [number, number, number];
export type ScaleKind = "log" | "rank" | "linear";

/** OKLCH (lightness 0..1, chroma, hue in degrees) to sRGB bytes, clamped to what a screen can show. */
export function oklch(l: number, c: number, h: number): RGB {
    const a = c * Math.cos((h * Math.PI) / 180);
    const b = c * Math.sin((h * Math.PI) / 180);
    // Björn Ottosson, "A perceptual color space for image processing", 2020
    const l_ = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m_ = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s_ = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const byte = (x: number) => {
        const v = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
        return Math.round(255 * Math.min(1, Math.max(0, v)));
    };
    return [
        byte(4.0767416621 * l_ - 3.3077115913 * m_ + 0.2309699292 * s_),
        byte(-1.2684380046 * l_ + 2.6097574011 * m_ - 0.3413193965 * s_),
        byte(-0.0041960863 * l_ - 0.7034186147 * m_ + 1.707614701 * s_),
    ];
}

// Knots of (lightness, chroma, hue). Chromas are those of colours that a screen can show, so that nothing is clamped. The first knot has a
// contrast of 3:1 or more against the map's ground: a cell of one event is seen.
type Knot = readonly [number, number, number];
const DARK: Knot[] = [
    [0.54, 0.2, 288],
    [0.65, 0.22, 325],
    [0.76, 0.14, 372],
    [0.86, 0.088, 418],
    [0.965, 0.08, 460],
];
const LIGHT: Knot[] = [
    [0.65, 0.16, 52],
    [0.56, 0.19, 28],
    [0.46, 0.18, -5],
    [0.36, 0.165, -45],
    [0.25, 0.13, -80],
];

const mix = (a: Knot, b: Knot, f: number): Knot => [
    a[0] + f * (b[0] - a[0]),
    a[1] + f * (b[1] - a[1]),
    a[2] + f * (b[2] - a[2]),
];

/** The distance of two colours in OKLab. */
function apart(a: Knot, b: Knot): number {
    const x = (k: Knot) => k[1] * Math.cos((k[2] * Math.PI) / 180);
    const y = (k: Knot) => k[1] * Math.sin((k[2] * Math.PI) / 180);
    return Math.hypot(a[0] - b[0], x(a) - x(b), y(a) - y(b));
}

/** `steps` colours along a curve through the knots, each as far from the next one as any other. */
function evenly(knots: Knot[], steps: number): RGB[] {
    const fine = 64; // pieces of the curve between two knots
    const points: Knot[] = [knots[0]!];
    for (let i = 1; i < knots.length; i++)
        for (let j = 1; j <= fine; j++) points.push(mix(knots[i - 1]!, knots[i]!, j / fine));
    const way = [0];
    for (let i = 1; i < points.length; i++) way.push(way[i - 1]! + apart(points[i - 1]!, points[i]!));
    const all = way[way.length - 1]!;
    let i = 0;
    return Array.from({ length: steps }, (_, k) => {
        const at = (k / (steps - 1)) * all;
        while (i < points.length - 2 && way[i + 1]! < at) i++;
        return oklch(...mix(points[i]!, points[i + 1]!, Math.min(1, (at - way[i]!) / (way[i + 1]! - way[i]!))));
    });
}

export const STEPS = 256;

/** The palette for a dark or a light ground: STEPS colours from few to many. */
export function palette(dark: boolean): RGB[] {
    return evenly(dark ? DARK : LIGHT, STEPS);
}

export interface Scale {
    kind: ScaleKind;
    /** Place of a count > 0 in 0..1. */
    of(count: number): number;
    /** The counts at some places, for a legend: ascending. */
    ticks: { at: number; count: number }[];
    max: number;
}

/**
 * The scale for what is in view: the counts of all cells there; those of zero and less are ignored. one: what a single event counts, the
 * least there is.
 */
export function scaleFor(kind: ScaleKind, counts: Iterable<number>, one = 1): Scale {
    const cells = new Map<number, number>(); // how many cells have a count
    let max = 0;
    for (const n of counts)
        if (n > 0) {
            if (kind === "rank") cells.set(n, (cells.get(n) ?? 0) + 1);
            if (n > max) max = n;
        }
    if (max === 0) return { kind, of: () => 0, ticks: [], max };
    const places = [0, 0.25, 0.5, 0.75, 1];
    const scale = (of: (n: number) => number, count: (place: number) => number): Scale => {
        const ticks = places.map((at) => ({ at, count: count(at) }));
        return { kind, of, ticks: ticks.filter((t, i) => i === 0 || t.count !== ticks[i - 1]!.count), max };
    };
    if (kind === "rank") {
        // A count's place is the share of the other cells that have less: that many cells are darker, whatever the counts are.
        const sorted = Float64Array.from(cells.keys()).sort();
        const last = sorted.length - 1;
        const less = new Float64Array(sorted.length);
        for (let i = 1; i <= last; i++) less[i] = less[i - 1]! + cells.get(sorted[i - 1]!)!;
        const find = (list: Float64Array, x: number) => {
            let lo = 0;
            let hi = last;
            while (lo < hi) {
                const mid = (lo + hi) >> 1;
                if (list[mid]! < x) lo = mid + 1;
                else hi = mid;
            }
            return lo;
        };
        return scale(
            (n) => (last === 0 ? 1 : less[find(sorted, n)]! / less[last]!),
            (p) => sorted[find(less, p * less[last]!)]!,
        );
    }
    if (kind === "log") {
        const top = Math.log(max / one);
        return scale(
            (n) => (top <= 0 ? 1 : Math.min(1, Math.max(0, Math.log(n / one) / top))),
            (p) => Math.round(one * Math.exp(p * Math.max(0, top))),
        );
    }
    return scale(
        (n) => Math.min(1, n / max),
        (p) => Math.round(p * max),
    );
}

// -- a hue per key

/**
 * Hues that differ for the colour-blind as well, in this order: blue, orange, magenta, green, sky, yellow; at equal lightness, so that
 * they do not look like counts.
 */
const HUES = [262, 58, 345, 152, 218, 100];
export const MOST_HUES = HUES.length;
const CHROMA = 0.15;
const LEVELS = 8; // of chroma

/**
 * A colour for a cell in which one key stands out: the key's hue, as saturated as its share of the cell is large, as light or dark as the
 * scale's place says. share 0: grey, the rest. The least has a contrast of 3:1 or more against the ground, as in the palettes.
 */
export function hueColour(dark: boolean, key: number, share: number, place: number): RGB {
    const l = dark ? 0.56 + 0.36 * place : 0.61 - 0.35 * place;
    return oklch(l, CHROMA * (Math.ceil(share * LEVELS) / LEVELS) * (1 - 0.35 * place), HUES[key] ?? 0);
}
