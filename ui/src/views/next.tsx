// next.tsx - the menu of what can be asked next about a row, a cell, a frame or a record: a button, a right click, or the menu key.
// model/next.ts writes the scripts.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { valuesOf } from "../model/buckets.ts";
import type { Unit } from "../model/format.ts";
import { keyCounts } from "../model/heat.ts";
import { type Chosen, within } from "../model/look.ts";
import { type Next, nextOf, type Thing, thingsOf } from "../model/next.ts";
import type { Picture } from "./heat/state.ts";
import { rove } from "./widgets.tsx";
import "../style/next.css";

interface Asked {
    things: Thing[];
    over: number; // ns above which a value is slow; 0: not known
    x: number;
    y: number;
    from: HTMLElement | null; // gets the focus back
}

const CELL_KEYS = 3; // the largest keys of a cell that the menu is about

let show: (a: Asked | null) => void = () => {};

const NS: Partial<Record<Unit, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
/** A value of an aggregation as ns; 0 if it is no time. */
export const inNs = (value: number, unit: Unit) => (Number.isFinite(value) ? value * (NS[unit] ?? 0) : 0);

/** Opens the menu at the pointer, or at the element if the menu key was pressed. */
export function ask(e: MouseEvent, things: Thing[], over = 0): void {
    if (things.length === 0) return;
    e.preventDefault();
    const el = e.currentTarget as HTMLElement;
    const box = el.getBoundingClientRect();
    const inside = e.type === "contextmenu" && (e.clientX !== 0 || e.clientY !== 0);
    show({
        things,
        over,
        x: inside ? e.clientX : box.left,
        y: inside ? e.clientY : box.bottom,
        from: (document.activeElement as HTMLElement | null) ?? el,
    });
}

/** The same for cells of a heat map: about their largest keys. */
export function askCells(e: MouseEvent, { columns, agg, unit }: Picture, cells: Omit<Chosen, "cell">): void {
    const inside = columns.flatMap((c) => c.parts).filter((c) => within(c, cells));
    const keys = keyCounts(agg, inside, cells.first, cells.last).keys.slice(0, CELL_KEYS);
    const things = keys.flatMap((k) => thingsOf(agg.means, agg.parts(k.key)));
    const first = things.filter((t, i) => things.findIndex((u) => u.means === t.means && u.text === t.text) === i);
    ask(e, first, inNs(valuesOf(agg.buckets!, cells.first, cells.last).from, unit));
}

/** The button of a row that opens the menu. */
export function NextButton({ things, over = 0 }: { things: Thing[]; over?: number }) {
    if (things.length === 0) return null;
    return (
        <button
            type="button"
            class="next"
            aria-haspopup="menu"
            aria-label={`what next for ${things[0]!.text}`}
            title="look closer (menu key, right click)"
            onClick={(e) => {
                e.stopPropagation();
                ask(e, things, over);
            }}
            onKeyDown={(e) => e.stopPropagation()} // it is in rows that use Enter and Space
        >
            ⋯
        </button>
    );
}

const KIND: Record<Thing["means"], string> = {
    process: "process",
    pid: "process",
    mfa: "function",
    function: "function",
    module: "module",
    table: "table",
};

/** The open menu; one for the page. */
export function NextMenu() {
    const [asked, set] = useState<Asked | null>(null);
    const box = useRef<HTMLDivElement>(null);
    useEffect(() => {
        show = set;
        return () => {
            show = () => {};
        };
    }, []);
    useLayoutEffect(() => {
        if (!asked) return;
        const el = box.current!;
        el.style.left = `${Math.max(8, Math.min(asked.x, innerWidth - el.offsetWidth - 8))}px`;
        el.style.top = `${Math.max(8, Math.min(asked.y, innerHeight - el.offsetHeight - 8))}px`;
        el.querySelector<HTMLElement>("[role=menuitem]")!.focus();
        const away = (e: Event) => {
            if (!el.contains(e.target as Node)) set(null);
        };
        addEventListener("pointerdown", away);
        addEventListener("resize", away);
        return () => {
            removeEventListener("pointerdown", away);
            removeEventListener("resize", away);
        };
    }, [asked]);
    if (!asked) return null;
    const close = () => {
        set(null);
        asked.from?.focus();
    };
    const hidden = app.terms !== null && app.terms.level !== "ok";
    const item = (n: Next) => {
        const off = n.terms && hidden;
        return (
            <button
                key={n.title}
                type="button"
                role="menuitem"
                tabIndex={-1}
                aria-disabled={off}
                title={off ? `terms are ${app.terms?.text} on this node` : undefined}
                onClick={() => {
                    if (off) return;
                    close();
                    app.follow(n);
                }}
            >
                {n.title}
            </button>
        );
    };
    return (
        <div
            class="next-menu"
            role="menu"
            aria-label="look closer"
            ref={box}
            onContextMenu={(e) => e.preventDefault()}
            onKeyDown={(e) => {
                if (e.key === "Escape") {
                    e.preventDefault();
                    e.stopPropagation();
                    close();
                } else if (e.key === "Tab") close();
                else rove(e);
            }}
        >
            {asked.things.map((t) => (
                <div key={`${t.means} ${t.text}`} role="group" aria-label={`${KIND[t.means]} ${t.text}`}>
                    <p aria-hidden="true">
                        {KIND[t.means]} <b>{t.text}</b>
                        {t.line && <span> {t.line}</span>}
                    </p>
                    {nextOf(t, asked.over).map(item)}
                </div>
            ))}
        </div>
    );
}
