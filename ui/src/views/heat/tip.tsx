// tip.tsx - what is in the cell under the pointer.
import { total, valuesOf } from "../../model/buckets.ts";
import { atLeast, compact, exact, moment, percent, range } from "../../model/format.ts";
import { type Cell, hasLower, keyCounts } from "../../model/heat.ts";
import { keyText } from "../../model/trace.ts";
import type { Size } from "../canvas.tsx";
import { Middle } from "../widgets.tsx";
import type { Picture } from "./state.ts";

const WIDE = 320; // px: maximum width
const KEYS = 3; // the largest keys that it shows

interface Props {
    picture: Picture;
    cell: Cell;
    at: { x: number; y: number };
    size: Size;
}
export function Tip({ picture, cell, at, size }: Props) {
    const { agg, unit, width, filter } = picture;
    const { parts, from, t } = picture.columns[cell.i]!;
    const { hist } = picture.data[cell.i]!;
    const row = picture.lay.rows[cell.r]!;
    const values = valuesOf(agg.buckets!, row.first, row.last);
    const all = hist ? total(hist) || 1 : 1;
    const upTo = (first: number) => total([...(hist ?? [])].filter(([b]) => b >= first && b <= row.last));
    const count = upTo(row.first);
    const found = keyCounts(agg, count > 0 ? parts : [], row.first, row.last, filter);
    const keys = found.keys.slice(0, KEYS);
    const seconds = (t - from) / 1000;
    return (
        <div
            class="tip"
            style={{
                left: `${at.x + 14 + WIDE > size.width ? Math.max(0, at.x - 14 - WIDE) : at.x + 14}px`,
                top: `${at.y > size.height - 200 ? at.y - 186 : at.y + 14}px`,
            }}
            data-testid="tip"
        >
            <dl>
                <dt>time</dt>
                <dd>{moment(t, width)}</dd>
                <dt>range</dt>
                <dd>{atLeast(range(values.from, values.to, unit), hasLower(agg, found))}</dd>
                <dt>count</dt>
                <dd>{hist ? exact(count) : "not known"}</dd>
                {hist && (picture.rate || Math.abs(seconds - 1) > 0.1) && (
                    <>
                        <dt>per second</dt>
                        <dd>{compact(Math.round((count / seconds) * 10) / 10)}</dd>
                    </>
                )}
                <dt>of column</dt>
                <dd>{hist ? percent(count / all) : "–"}</dd>
                <dt>up to here</dt>
                <dd>{hist ? percent(upTo(0) / all) : "–"}</dd>
            </dl>
            {keys.length > 0 && (
                <dl class="tip-keys">
                    {keys.map((k) => (
                        <>
                            <dt>
                                <Middle text={keyText(agg.parts(k.key))} />
                            </dt>
                            <dd>{exact(k.count)}</dd>
                        </>
                    ))}
                </dl>
            )}
        </div>
    );
}
