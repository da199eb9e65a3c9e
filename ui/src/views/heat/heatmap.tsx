// heatmap.tsx - the heat map: a column for each interval, a row for each bucket, the count as colour.
//
// Two canvases lie on top of each other: the map with its axes, drawn when a column comes, and what follows the pointer. What is shown is
// worked out in state.ts and drawn in draw.ts and axes.ts; all arithmetic is in model/heat.ts.
import { useRef, useState } from "preact/hooks";
import { app, store } from "../../app.ts";
import { ago, counted, moment } from "../../model/format.ts";
import { Together } from "../../model/together.ts";
import type { Aggregation, Trace } from "../../model/trace.ts";
import { useSize } from "../canvas.tsx";
import "../../style/picture.css";
import { KeysPanel } from "../keys.tsx";
import { HeatFlags } from "../marks.tsx";
import { Splitter } from "../widgets.tsx";
import { KeyHues, Legend } from "./legend.tsx";
import { HeatBox } from "./map.tsx";
import { NodeMaps, usePictures } from "./nodes.tsx";
import { type Drag, useMoves } from "./pointer.ts";
import { useHeat } from "./state.ts";
import { Strip } from "./strip.tsx";
import { Toolbar } from "./toolbar.tsx";

const SIDE = "erltrace.keys"; // how wide the keys are, percent

export function HeatMap({ trace, agg }: { trace: Trace; agg: Aggregation }) {
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [share, setShare] = useState(Number(store.get(SIDE)) || 30);
    const [drag, setDrag] = useState<Drag>("select");
    const heat = useHeat(trace, agg, size);
    const { picture, live } = heat;
    const { columns, range } = picture;
    const { look } = app;
    const silent = live ? trace.silent : 0;
    const { chosen } = look;
    const moves = useMoves(heat, trace);

    const nodes = trace instanceof Together && app.view.small ? trace : null;
    const pictures = usePictures(nodes, picture, heat.kept);
    const notes = (
        <>
            <HeatFlags trace={trace} picture={picture} />
            {silent > 0 && <div class="held silent">no data for {ago(silent)}</div>}
            {!live && !(trace.stopped && range.to >= trace.t) && (
                <div class="held">
                    held at {moment(range.to, picture.width)}
                    {look.range === null && (chosen ? ": something is chosen (Esc)" : " while you point")}
                </div>
            )}
        </>
    );

    return (
        <div class="heat">
            <Toolbar
                trace={trace}
                agg={agg}
                heat={heat}
                moves={moves}
                drag={drag}
                onDrag={setDrag}
                maps={nodes ? pictures.map((p, k) => [nodes.nodes[k]!, p] as const) : [["", picture]]}
            />
            <div class="heat-body" style={{ "--side": `${share}%` }}>
                <div class="heat-main">
                    {nodes ? (
                        <NodeMaps
                            trace={nodes}
                            heat={heat}
                            pictures={pictures}
                            size={size}
                            drag={drag}
                            moves={moves}
                            box={box}
                        >
                            {notes}
                        </NodeMaps>
                    ) : (
                        <HeatBox
                            heat={heat}
                            size={size}
                            drag={drag}
                            moves={moves}
                            label={`heat map of ${agg.name}: ${counted(columns.length, "column")}; left and right move in time, up and down choose cells, whose keys are listed at the side`}
                            box={box}
                        >
                            {notes}
                        </HeatBox>
                    )}
                    <div class="heat-foot">
                        <Legend picture={pictures[0] ?? picture} />
                        <Strip all={trace.columns} agg={agg} range={range} onGo={moves.goTo} />
                    </div>
                    <KeyHues picture={picture} />
                </div>
                <Splitter
                    label="width of the keys"
                    share={share}
                    onShare={(share) => (setShare(share), store.set(SIDE, String(share)))}
                />
                <KeysPanel
                    trace={trace}
                    agg={agg}
                    columns={heat.seen}
                    unit={picture.unit}
                    chosen={chosen}
                    filter={look.filter}
                    onFilter={(filter) => look.set({ filter })}
                    onClear={() => look.set({ chosen: null })}
                />
            </div>
        </div>
    );
}
