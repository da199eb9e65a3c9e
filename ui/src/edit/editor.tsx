// editor.tsx - the editor of scripts. The text is shown, in colour, and can be written in a plain field at once; CodeMirror, which is most of
// the page's bytes, takes its place when somebody enters it, or when there is something to mark.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Diagnostic } from "../model/protocol.ts";
import type { Code } from "./code.ts";
import { span } from "./place.ts";
import { tokens } from "./tokens.ts";
import "../style/editor.css";

export interface EditorHandle {
    /** Puts the cursor at a place in bytes, as given in diagnostics. */
    go(line: number, column: number): void;
    focus(): void;
}

interface Props {
    text: string;
    /** Increases when the text was set from elsewhere: the editor's own changes come back late, when it may hold more. */
    loaded: number;
    diagnostics: Diagnostic[];
    node: () => string | null;
    onChange: (text: string) => void;
    onRun: () => void;
    handle: { current: EditorHandle | null };
}

/** A text in colour, without CodeMirror. */
export function Coloured({ text }: { text: string }) {
    const parts = useMemo(() => {
        const out = [];
        let at = 0;
        for (const t of tokens(text)) {
            if (!t.kind) continue;
            if (t.from > at) out.push(text.slice(at, t.from));
            out.push(
                <span key={t.from} class={`tok-${t.kind.replace(".", "-")}`}>
                    {text.slice(t.from, t.to)}
                </span>,
            );
            at = t.to;
        }
        out.push(text.slice(at));
        return out;
    }, [text]);
    return <>{parts}</>;
}

/** The text before CodeMirror is there: it looks as it will in CodeMirror. */
function Plain({
    text,
    field,
    onInput,
    onRun,
    onEnter,
}: {
    text: string;
    field: { current: HTMLTextAreaElement | null };
    onInput: (text: string) => void;
    onRun: () => void;
    onEnter: () => void;
}) {
    const lines = text.split("\n").length;
    return (
        <div class="plain" onPointerEnter={onEnter}>
            <div class="plain-lines">
                <div class="plain-numbers" aria-hidden="true">
                    {Array.from({ length: lines }, (_, i) => `${i + 1}\n`).join("")}
                </div>
                <div class="plain-text">
                    <pre aria-hidden="true">
                        <Coloured text={text} />
                        {"\n"}
                    </pre>
                    <textarea
                        ref={field}
                        aria-label="D script"
                        placeholder="A D script, or pick one below. Ctrl+Space completes, Ctrl+Enter runs."
                        spellcheck={false}
                        autocapitalize="off"
                        autocomplete="off"
                        wrap="off"
                        value={text}
                        onFocus={onEnter}
                        onInput={(e) => onInput(e.currentTarget.value)}
                        onKeyDown={(e) => {
                            if ((e.ctrlKey || e.metaKey) && e.key === "Enter") {
                                e.preventDefault();
                                onRun();
                            }
                        }}
                    />
                </div>
            </div>
        </div>
    );
}

export function Editor({ text, loaded, diagnostics, node, onChange, onRun, handle }: Props) {
    const host = useRef<HTMLDivElement>(null);
    const field = useRef<HTMLTextAreaElement | null>(null);
    const code = useRef<Code | null>(null);
    const loading = useRef<Promise<void> | null>(null);
    const [ready, setReady] = useState(false);
    const now = useRef({ text, diagnostics, onChange, onRun, node });
    now.current = { text, diagnostics, onChange, onRun, node };
    const gone = useRef(false);

    const enter = (): Promise<void> => {
        loading.current ??= import("./code.ts").then(
            (m) => {
                if (gone.current || code.current) return;
                const was = field.current;
                const box = was?.closest(".plain");
                const doc = was?.value ?? now.current.text;
                const c = m.open(host.current!, doc, () => now.current);
                code.current = c;
                host.current!.hidden = false; // what is hidden takes no focus
                c.mark(now.current.diagnostics);
                if (was) {
                    c.view.dispatch({ selection: { anchor: was.selectionStart, head: was.selectionEnd } });
                    c.view.scrollDOM.scrollTop = box?.scrollTop ?? 0;
                    if (document.activeElement === was) c.view.focus();
                }
                setReady(true);
            },
            () => {
                loading.current = null; // it is tried again; until then the field takes what is typed
            },
        );
        return loading.current;
    };

    useLayoutEffect(() => {
        handle.current = {
            go: (line, column) =>
                void enter().then(() => {
                    const v = code.current?.view;
                    if (!v) return;
                    const at = span(v.state.doc.toString(), line, column, 1);
                    if (at) v.dispatch({ selection: { anchor: at.from }, scrollIntoView: true });
                    v.focus();
                }),
            focus: () => {
                field.current?.focus();
                void enter().then(() => code.current?.view.focus());
            },
        };
        return () => {
            gone.current = true;
            code.current?.view.destroy();
        };
    }, []);

    useEffect(() => code.current?.set(now.current.text), [loaded]);

    useEffect(() => {
        if (code.current) code.current.mark(diagnostics);
        else if (diagnostics.length > 0) void enter();
    }, [diagnostics]);

    // a script's header is shown in the list; here the code should be visible
    useLayoutEffect(() => {
        const box = field.current?.closest(".plain");
        const header = /^(#!.*\n)?\s*\/\*[\s\S]*?\*\/\s*/.exec(text)?.[0] ?? "";
        if (box) box.scrollTop = header.length < text.length ? (header.split("\n").length - 1) * 18.75 : 0;
    }, [loaded]);

    return (
        <div class="editor">
            {!ready && (
                <Plain text={text} field={field} onInput={onChange} onRun={onRun} onEnter={() => void enter()} />
            )}
            <div class="code-host" ref={host} hidden={!ready} />
        </div>
    );
}
