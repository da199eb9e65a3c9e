// widgets.tsx - the few controls that the views share.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const STEPS: Record<string, (at: number, n: number) => number> = {
    ArrowRight: (at, n) => (at + 1) % n,
    ArrowDown: (at, n) => (at + 1) % n,
    ArrowLeft: (at, n) => (at + n - 1) % n,
    ArrowUp: (at, n) => (at + n - 1) % n,
    Home: () => 0,
    End: (_, n) => n - 1,
};

/**
 * Handles arrow keys, Home and End inside a group of radios, tabs or menu items, which Tab enters once: the item they go to is chosen,
 * except for menu items. For onKeyDown of the group.
 */
export function rove(e: KeyboardEvent): void {
    const step = STEPS[e.key];
    const all = [
        ...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=radio], [role=tab], [role=menuitem]"),
    ];
    const at = all.indexOf(e.target as HTMLElement);
    if (!step || at < 0 || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const next = all[step(at, all.length)]!;
    next.focus();
    if (next.role !== "menuitem") next.click();
}

interface SegmentsProps<T extends string> {
    label: string;
    value: T;
    options: readonly (readonly [T, string, string?])[];
    onChange: (v: T) => void;
}

/** One of a few: value, text, and what it means. */
export function Segments<T extends string>({ label, value, options, onChange }: SegmentsProps<T>) {
    return (
        <div class="segments" role="radiogroup" aria-label={label} onKeyDown={rove}>
            <span class="segments-label" aria-hidden="true">
                {label}
            </span>
            {options.map(([v, text, title], i) => (
                <button
                    key={v}
                    type="button"
                    role="radio"
                    aria-checked={v === value}
                    tabIndex={v === value || (i === 0 && !options.some(([w]) => w === value)) ? 0 : -1}
                    class={v === value ? "on" : ""}
                    title={title ?? text}
                    onClick={() => onChange(v)}
                >
                    {text}
                </button>
            ))}
        </div>
    );
}

interface ToggleProps {
    on: boolean;
    title: string;
    onChange: (on: boolean) => void;
    children: ComponentChildren;
    class?: string;
}
export function Toggle({ on, title, onChange, children, class: more }: ToggleProps) {
    return (
        <button
            type="button"
            class={`toggle ${on ? "on" : ""} ${more ?? ""}`}
            aria-pressed={on}
            title={title}
            onClick={() => onChange(!on)}
        >
            {children}
        </button>
    );
}

interface PauseProps {
    held: boolean;
    /** The trace has ended: there is nothing to pause. */
    over: boolean;
    onChange: (held: boolean) => void;
}
/** Pauses a view, or resumes it. */
export function Pause({ held, over, onChange }: PauseProps) {
    if (over && !held) return null;
    return (
        <Toggle
            on={held}
            title={held ? "resume (Space)" : "pause, to look closer or back (Space)"}
            onChange={onChange}
            class="pause"
        >
            {held ? (over ? "▶ latest" : "▶ live") : "❚❚ pause"}
        </Toggle>
    );
}

const TAIL = 9; // characters at its end that a text keeps
const SHORT = 5; // characters up to which it is not cut

/** A text that is cut in its middle where it does not fit: names often differ at their ends. */
export function Middle({ text }: { text: string }) {
    const tail = text.length < SHORT ? 0 : Math.min(TAIL, Math.floor(text.length / 2));
    return (
        <span class="middle">
            <span>{text.slice(0, text.length - tail)}</span>
            <span>{text.slice(text.length - tail)}</span>
        </span>
    );
}

interface SplitterProps {
    label: string;
    /** Share of the width that the part at the right has, percent. */
    share: number;
    onShare: (share: number) => void;
}
const [NARROW, WIDE] = [15, 70]; // percent

/** The line between a view and its side; it is dragged, or moved by arrows. */
export function Splitter({ label, share, onShare }: SplitterProps) {
    const set = (x: number) => onShare(Math.round(Math.min(WIDE, Math.max(NARROW, x))));
    const move = (e: PointerEvent & { currentTarget: HTMLElement }) => {
        if (!e.currentTarget.hasPointerCapture(e.pointerId)) return;
        const around = e.currentTarget.parentElement!.getBoundingClientRect();
        set((100 * (around.right - e.clientX)) / around.width);
    };
    return (
        <div
            class="splitter"
            role="separator"
            aria-orientation="vertical"
            aria-label={label}
            aria-valuenow={share}
            aria-valuemin={NARROW}
            aria-valuemax={WIDE}
            tabIndex={0}
            title={`${label}: drag, or ← →`}
            onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
            onPointerMove={move}
            onKeyDown={(e) => {
                const by = e.key === "ArrowLeft" ? 2 : e.key === "ArrowRight" ? -2 : 0;
                if (by === 0) return;
                e.preventDefault();
                set(share + by);
            }}
        />
    );
}

interface SearchProps {
    value: string;
    placeholder: string;
    onInput: (v: string) => void;
    /** The key `/` focuses it. */
    main?: boolean;
}
export function Search({ value, placeholder, onInput, main }: SearchProps) {
    return (
        <input
            class="search"
            type="search"
            value={value}
            placeholder={placeholder}
            aria-label={placeholder}
            data-search={main ? "main" : undefined}
            autocomplete="off"
            spellcheck={false}
            onInput={(e) => onInput(e.currentTarget.value)}
            onKeyDown={(e) => {
                if (e.key === "Escape") {
                    onInput("");
                    e.currentTarget.blur();
                    e.stopPropagation();
                }
            }}
        />
    );
}

interface MenuProps {
    label: string;
    items: [string, () => void][];
}
/** A button with a menu. */
export function Menu({ label, items }: MenuProps) {
    const [open, setOpen] = useState(false);
    const box = useRef<HTMLDivElement>(null);
    const button = useRef<HTMLButtonElement>(null);
    useEffect(() => {
        if (!open) return;
        box.current!.querySelector<HTMLElement>("[role=menuitem]")!.focus();
        const away = (e: Event) => {
            if (!box.current!.contains(e.target as Node)) setOpen(false);
        };
        addEventListener("pointerdown", away);
        return () => removeEventListener("pointerdown", away);
    }, [open]);
    const key = (e: KeyboardEvent) => {
        if (open && e.key === "Escape") {
            e.preventDefault();
            button.current!.focus();
        }
        if (open && (e.key === "Escape" || e.key === "Tab")) setOpen(false);
        else rove(e);
    };
    return (
        <div class="menu" ref={box} onKeyDown={key}>
            <button type="button" ref={button} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
                {label} <span class="caret">▾</span>
            </button>
            {open && (
                <div class="menu-list" role="menu" aria-label={label}>
                    {items.map(([text, action]) => (
                        <button
                            key={text}
                            type="button"
                            role="menuitem"
                            tabIndex={-1}
                            onClick={() => {
                                setOpen(false);
                                button.current!.focus();
                                action();
                            }}
                        >
                            {text}
                        </button>
                    ))}
                </div>
            )}
        </div>
    );
}

interface SortHeadProps {
    on: boolean; // the list is sorted by it
    down: boolean;
    title: string;
    onSort: () => void;
    children: ComponentChildren;
    class?: string;
}
/** The head of a column that sorts the list. */
export function SortHead({ on, down, title, onSort, children, class: more }: SortHeadProps) {
    return (
        <span
            class={`th ${more ?? ""}`}
            role="columnheader"
            aria-sort={on ? (down ? "descending" : "ascending") : undefined}
        >
            <button type="button" class={on ? "sorted" : ""} title={title} onClick={onSort}>
                {children}
                {on ? (down ? " ↓" : " ↑") : ""}
            </button>
        </span>
    );
}

interface RowsProps<T> {
    rows: readonly T[];
    height: number;
    class?: string;
    head?: ComponentChildren;
    empty: string;
    row: (item: T, index: number) => ComponentChildren;
    /** Follows the end while the user is there. */
    follow?: boolean;
    label: string;
    /** Its role for screen readers; a table has rows with cells. */
    role?: "table" | "log";
}
/** A long list of which only the visible part is rendered. */
export function Rows<T>({ rows, height, class: more, head, empty, row, follow, label, role = "table" }: RowsProps<T>) {
    const box = useRef<HTMLDivElement>(null);
    const [seen, setSeen] = useState({ top: 0, height: 800 });
    const stick = useRef(true);
    useEffect(() => {
        const el = box.current!;
        const look = () => setSeen({ top: el.scrollTop, height: el.clientHeight });
        const observer = new ResizeObserver(look);
        observer.observe(el);
        const scrolled = () => {
            stick.current = el.scrollHeight - el.scrollTop - el.clientHeight < height * 2;
            look();
        };
        el.addEventListener("scroll", scrolled, { passive: true });
        return () => {
            observer.disconnect();
            el.removeEventListener("scroll", scrolled);
        };
    }, []);
    useEffect(() => {
        if (follow && stick.current) box.current!.scrollTop = box.current!.scrollHeight;
    }, [rows.length, rows[rows.length - 1]]);
    const first = Math.max(0, Math.floor(seen.top / height) - 10);
    const last = Math.min(rows.length, Math.ceil((seen.top + seen.height) / height) + 10);
    return (
        <div
            class={`rows ${more ?? ""}`}
            ref={box}
            tabIndex={0}
            role={rows.length > 0 || head ? role : undefined}
            aria-label={label}
            aria-rowcount={role === "table" ? rows.length : undefined}
            aria-live={role === "log" ? "off" : undefined}
        >
            {head}
            {rows.length === 0 && <div class="nothing">{empty}</div>}
            <div style={{ height: `${first * height}px` }} />
            {rows.slice(first, last).map((item, i) => row(item, first + i))}
            <div style={{ height: `${(rows.length - last) * height}px` }} />
        </div>
    );
}
