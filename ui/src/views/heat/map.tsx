// map.tsx - one map with its two canvases: the cells and axes, drawn when a column comes, and above them what follows the pointer.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { app } from "../../app.ts";
import type { Cell } from "../../model/heat.ts";
import { prepare, type Size } from "../canvas.tsx";
import { askCells } from "../next.tsx";
import { CellLayer } from "./cells.ts";
import { drawMap, drawOver } from "./draw.ts";
import { type Drag, type Moves, usePointer } from "./pointer.ts";
import type { Heat } from "./state.ts";
import { Tip } from "./tip.tsx";

interface Props {
    heat: Heat;
    size: Size;
    drag: Drag;
    moves: Moves;
    label: string;
    box?: RefObject<HTMLDivElement>;
    /** The cell that is pointed at on another map beside this one. */
    linked?: Cell | null;
    onHover?: (cell: Cell | null) => void;
    children?: ComponentChildren;
}

export function HeatBox({ heat, size, drag, moves, label, box, linked, onHover, children }: Props) {
    const map = useRef<HTMLCanvasElement>(null);
    const over = useRef<HTMLCanvasElement>(null);
    const layer = useMemo(() => new CellLayer(), []);
    const { picture } = heat;
    const { chosen } = app.look;
    const { at, hover, pull, handlers } = usePointer(heat, over, drag);
    const shown = hover ?? linked ?? null;

    useEffect(() => {
        if (size.width > 0) drawMap(prepare(map.current!, size), picture, layer);
    }, [picture, size, app.dark]);
    useEffect(() => {
        if (size.width > 0) drawOver(prepare(over.current!, size), picture, chosen, shown, pull, drag === "zoom");
    }, [chosen, shown?.i, shown?.r, pull, picture, size, app.dark]);
    useEffect(() => onHover?.(hover), [hover?.i, hover?.r, picture]);

    return (
        <div
            class={`heat-map drag-${drag}`}
            ref={box}
            role="application"
            tabIndex={0}
            aria-label={label}
            onContextMenu={(e) => {
                const c = hover && picture.columns[hover.i];
                const r = hover && picture.lay.rows[hover.r];
                const cells = c && r ? { from: c.from, to: c.t, first: r.first, last: r.last } : chosen;
                if (cells) askCells(e, picture, cells);
            }}
        >
            <canvas ref={map} class="layer" data-testid="heatmap" />
            <canvas ref={over} class="layer" {...handlers} onDblClick={moves.reset} onWheel={moves.wheel} />
            {picture.columns.length === 0 && <div class="nothing over">waiting for the first interval …</div>}
            {children}
            {hover && at && (
                <Tip picture={picture} cell={hover} {...(onHover ? onPage(at, over.current!) : { at, size })} />
            )}
        </div>
    );
}

// A small map is not as large as its tip: that has its place on the page.
function onPage({ x, y }: { x: number; y: number }, canvas: HTMLCanvasElement) {
    const { left, top } = canvas.getBoundingClientRect();
    return { at: { x: x + left, y: y + top }, size: { width: innerWidth, height: innerHeight } };
}
