// strip.tsx - all stored columns as one line of totals, with those in view marked; dragging moves the view.
import { useEffect, useRef } from "preact/hooks";
import { app } from "../../app.ts";
import { total } from "../../model/buckets.ts";
import type { Range } from "../../model/look.ts";
import type { Aggregation, Column } from "../../model/trace.ts";
import { css, prepare, useSize } from "../canvas.tsx";

const LEAST_MS = 60_000; // a strip of less would be rough

interface Props {
    all: readonly Column[];
    agg: Aggregation;
    range: Range; // in view
    onGo: (to: number) => void;
}
export function Strip({ all, agg, range, onGo }: Props) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(box);
    const end = all[all.length - 1]?.t ?? 0;
    const begin = Math.min(end - LEAST_MS, all[0] ? all[0].t - all[0].dt : end);
    const per = size.width / (end - begin);
    useEffect(() => {
        if (size.width === 0) return;
        const cx = prepare(canvas.current!, size);
        const rates = all.map((c) => total(c.merged.get(agg.id) ?? []) / c.dt);
        const max = Math.max(1e-9, ...rates);
        cx.fillStyle = css("--faint");
        all.forEach((c, i) => {
            const h = (rates[i]! / max) * (size.height - 4);
            const w = c.dt * per;
            cx.fillRect((c.t - begin) * per - w, size.height - h, Math.max(0.6, w - (w > 3 ? 1 : 0)), h);
        });
        cx.fillStyle = css("--pick");
        cx.globalAlpha = 0.16;
        const [x, x1] = [Math.max(0, (range.from - begin) * per), (range.to - begin) * per];
        cx.fillRect(x, 0, x1 - x, size.height);
        cx.globalAlpha = 1;
        cx.strokeStyle = css("--pick");
        cx.strokeRect(Math.max(0.5, x + 0.5), 0.5, Math.min(size.width - 1, x1 - x - 1), size.height - 1);
    }, [Math.floor(end / 1000), size, Math.floor(range.from / 1000), Math.floor(range.to / 1000), agg, app.dark]);
    const go = (e: PointerEvent) => {
        if (e.buttons !== 1 || all.length === 0) return;
        const at = begin + (e.clientX - box.current!.getBoundingClientRect().left) / per;
        onGo(at + (range.to - range.from) / 2);
    };
    return (
        <div
            class="overview"
            ref={box}
            title="the last ten minutes: drag to look back"
            onPointerDown={(e) => (box.current!.setPointerCapture(e.pointerId), go(e))}
            onPointerMove={go}
            data-testid="overview"
        >
            <canvas ref={canvas} />
        </div>
    );
}
