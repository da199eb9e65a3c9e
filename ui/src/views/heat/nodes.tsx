// nodes.tsx - a map for each of several nodes, side by side: with the same rows, times and colours. What is pointed at or chosen on one is
// shown on all.
import type { ComponentChildren, RefObject } from "preact";
import { useMemo, useState } from "preact/hooks";
import { compact, counted } from "../../model/format.ts";
import type { Together } from "../../model/together.ts";
import type { Size } from "../canvas.tsx";
import { HeatBox } from "./map.tsx";
import type { Drag, Moves } from "./pointer.ts";
import { type Heat, type Kept, type Picture, pictureOf, scaleOver } from "./state.ts";

/** What each node has of the map of all. */
export function usePictures(trace: Together | null, whole: Picture, kept: Kept): Picture[] {
    return useMemo(() => {
        if (!trace) return [];
        const pictures = trace.nodes.map((node) => {
            const columns = whole.columns.flatMap(({ parts, from, t }) => {
                const own = parts.flatMap((c) => trace.partOf(node, c) ?? []);
                return own.length > 0 ? [{ parts: own, from, t }] : [];
            });
            return pictureOf(whole, columns, kept, node);
        });
        const scale = scaleOver(pictures);
        return pictures.map((p) => ({ ...p, scale }));
    }, [trace, whole]);
}

interface Props {
    trace: Together;
    heat: Heat;
    pictures: readonly Picture[];
    size: Size;
    drag: Drag;
    moves: Moves;
    /** Whose size is that of each map. */
    box: RefObject<HTMLDivElement>;
    /** What is said over the first one. */
    children: ComponentChildren;
}

export function NodeMaps({ trace, heat, pictures, size, drag, moves, box, children }: Props) {
    const [over, setOver] = useState<{ k: number; t: number; r: number } | null>(null);
    return (
        <div class="heat-nodes">
            {pictures.map((picture, k) => {
                const node = trace.nodes[k]!;
                const { columns, data } = picture;
                const i = over ? columns.findIndex((c) => c.t === over.t) : -1;
                const count = over && i >= 0 ? data[i]?.counts?.[over.r] : undefined;
                return (
                    <figure key={node} data-node={node}>
                        <figcaption>
                            <b>{node}</b>
                            {over && <span class="num">{count === undefined ? "–" : compact(count)}</span>}
                        </figcaption>
                        <HeatBox
                            heat={{ ...heat, picture }}
                            size={size}
                            drag={drag}
                            moves={moves}
                            label={`heat map of ${picture.agg.name} on ${node}: ${counted(columns.length, "column")}`}
                            {...(k === 0 ? { box } : {})}
                            linked={over && over.k !== k && i >= 0 ? { i, r: over.r } : null}
                            onHover={(cell) =>
                                setOver((old) =>
                                    cell ? { k, t: columns[cell.i]!.t, r: cell.r } : old?.k === k ? null : old,
                                )
                            }
                        >
                            {k === 0 && children}
                        </HeatBox>
                    </figure>
                );
            })}
        </div>
    );
}
