// colour.ts - from counts to colours: the three scales of a heat map and its palettes.
//
// A palette is a curve through OKLab whose lightness only rises (or only falls, on a light ground), in even steps: equal steps of share
// look equal, and the order stays readable without any colour vision. A scale gives each count greater than zero a place in 0..1 on that
// curve; zero is always the ground.

export type RGB = readonly [number, number, number];
export type ScaleKind = "rank" | "linear" | "log";

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

// Knots of (position, lightness, chroma, hue). Lightness is a straight line.
type Knot = readonly [number, number, number, number];
const DARK: Knot[] = [
    [0, 0.3, 0.1, 286],
    [0.25, 0.46, 0.16, 318],
    [0.5, 0.62, 0.2, 372],
    [0.75, 0.78, 0.16, 416],
    [1, 0.95, 0.1, 460],
];
const LIGHT: Knot[] = [
    [0, 0.93, 0.045, 90],
    [0.25, 0.78, 0.13, 58],
    [0.5, 0.61, 0.19, 22],
    [0.75, 0.45, 0.17, -30],
    [1, 0.28, 0.13, -74],
];

function at(knots: Knot[], x: number): RGB {
    let i = 0;
    while (i < knots.length - 2 && knots[i + 1]![0] <= x) i++;
    const [x0, l0, c0, h0] = knots[i]!;
    const [x1, l1, c1, h1] = knots[i + 1]!;
    const f = (x - x0) / (x1 - x0);
    return oklch(l0 + f * (l1 - l0), c0 + f * (c1 - c0), h0 + f * (h1 - h0));
}

export const STEPS = 256;

/** The palette for a dark or a light ground: STEPS colours from few to many. */
export function palette(dark: boolean): RGB[] {
    return Array.from({ length: STEPS }, (_, i) => at(dark ? DARK : LIGHT, i / (STEPS - 1)));
}

export interface Scale {
    kind: ScaleKind;
    /** Place of a count > 0 in 0..1. */
    of(count: number): number;
    /** The counts at some places, for a legend: ascending. */
    ticks: { at: number; count: number }[];
    max: number;
}

/** The scale for what is in view: the counts of all cells there; those of zero and less are ignored. */
export function scaleFor(kind: ScaleKind, counts: Iterable<number>): Scale {
    const seen = new Set<number>();
    let max = 0;
    for (const n of counts)
        if (n > 0) {
            seen.add(n);
            if (n > max) max = n;
        }
    if (max === 0) return { kind, of: () => 0, ticks: [], max };
    const places = [0, 0.25, 0.5, 0.75, 1];
    if (kind === "rank") {
        // Equal counts have one rank; ranks are spread evenly.
        const sorted = Float64Array.from(seen).sort();
        const last = sorted.length - 1;
        const of = (n: number) => {
            if (last === 0) return 1;
            let lo = 0;
            let hi = last;
            while (lo < hi) {
                const mid = (lo + hi) >> 1;
                if (sorted[mid]! < n) lo = mid + 1;
                else hi = mid;
            }
            return lo / last;
        };
        const ticks = places.map((p) => ({ at: p, count: sorted[Math.round(p * last)]! }));
        return { kind, of, ticks: ticks.filter((t, i) => i === 0 || t.count !== ticks[i - 1]!.count), max };
    }
    if (kind === "log") {
        const top = Math.log(max);
        const of = (n: number) => (top === 0 ? 1 : Math.min(1, Math.max(0, Math.log(n) / top)));
        const ticks = places.map((p) => ({ at: p, count: Math.round(Math.exp(p * top)) }));
        return { kind, of, ticks: ticks.filter((t, i) => i === 0 || t.count !== ticks[i - 1]!.count), max };
    }
    const ticks = places.map((p) => ({ at: p, count: Math.round(p * max) }));
    return {
        kind,
        of: (n) => Math.min(1, n / max),
        ticks: ticks.filter((t, i) => i === 0 || t.count !== ticks[i - 1]!.count),
        max,
    };
}
