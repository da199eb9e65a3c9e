// code.ts - CodeMirror with D, loaded when the editor is entered. It is in a shadow root, because there it can bring its styles without an
// exception in the page's content security policy (adopted style sheets instead of style elements).
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import {
    drawSelection,
    EditorView,
    highlightActiveLine,
    highlightSpecialChars,
    keymap,
    lineNumbers,
    placeholder,
} from "@codemirror/view";
import { tags as t } from "@lezer/highlight";
import type { Diagnostic } from "../model/protocol.ts";
import { completion } from "./complete.ts";
import { dLanguage } from "./dlang.ts";
import { documentation } from "./hover.ts";
import { span } from "./place.ts";

const colours = HighlightStyle.define([
    { tag: t.comment, color: "var(--code-comment)", fontStyle: "italic" },
    { tag: t.string, color: "var(--code-string)" },
    { tag: t.number, color: "var(--code-number)" },
    { tag: t.tagName, color: "var(--code-probe)", fontWeight: "600" },
    { tag: t.labelName, color: "var(--code-agg)", fontWeight: "600" },
    { tag: [t.keyword, t.typeName], color: "var(--code-keyword)" },
    { tag: t.atom, color: "var(--code-builtin)" },
    { tag: t.standard(t.name), color: "var(--code-function)" },
    { tag: [t.meta, t.macroName], color: "var(--code-meta)" },
    { tag: [t.operator, t.punctuation], color: "var(--code-operator)" },
    { tag: t.variableName, color: "var(--text)" },
]);

const theme = EditorView.theme({
    "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--code-ground)", fontSize: "12.5px" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
    ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
    ".cm-cursor": { borderLeftColor: "var(--text)", borderLeftWidth: "1.5px" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
        backgroundColor: "var(--code-selection)",
    },
    ".cm-activeLine": { backgroundColor: "var(--code-line)" },
    ".cm-gutters": { backgroundColor: "var(--code-ground)", color: "var(--quiet)", border: "none", fontSize: "11px" },
    ".cm-lineNumbers .cm-gutterElement": { paddingLeft: "8px", minWidth: "26px" },
    ".cm-gutter-lint": { width: "12px" },
    ".cm-gutter-lint .cm-gutterElement": { padding: "0 1px" },
    // marks are drawn here: CodeMirror's own are images in data: URLs, which the content security policy refuses
    ".cm-lint-marker": { width: "8px", height: "8px", borderRadius: "50%", margin: "6px 1px" },
    ".cm-lint-marker-error": { content: "none", background: "var(--bad)" },
    ".cm-lint-marker-warning": { content: "none", background: "var(--warn)", borderRadius: "1px" },
    ".cm-lint-marker-info": { content: "none", background: "var(--faint)" },
    ".cm-lintRange-info, .cm-lintRange-hint": {
        backgroundImage: "none",
        textDecoration: "underline dotted var(--muted) 1.2px",
        textUnderlineOffset: "3px",
    },
    ".cm-lintRange-error": {
        backgroundImage: "none",
        textDecoration: "underline wavy var(--bad) 1.2px",
        textUnderlineOffset: "3px",
    },
    ".cm-lintRange-warning": {
        backgroundImage: "none",
        textDecoration: "underline wavy var(--warn) 1.2px",
        textUnderlineOffset: "3px",
    },
    ".cm-tooltip": {
        backgroundColor: "var(--raised)",
        border: "1px solid var(--line-strong)",
        borderRadius: "6px",
        color: "var(--text)",
        boxShadow: "var(--shadow)",
        overflow: "hidden",
    },
    ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12px", maxHeight: "18em" },
    ".cm-tooltip-autocomplete > ul > li": {
        padding: "3px 8px",
        maxWidth: "520px",
        overflow: "hidden",
        textOverflow: "ellipsis",
    },
    ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
        backgroundColor: "var(--accent)",
        color: "var(--on-accent)",
    },
    ".cm-completionDetail": {
        color: "var(--muted)",
        fontStyle: "normal",
        fontFamily: "var(--sans)",
        marginLeft: "1em",
    },
    "li[aria-selected] .cm-completionDetail": { color: "inherit", opacity: "0.85" },
    ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
    ".cm-completionIcon": { display: "none" },
    ".cm-tooltip.cm-completionInfo": {
        padding: "8px 10px",
        maxWidth: "360px",
        whiteSpace: "pre-wrap",
        fontSize: "12px",
        color: "var(--muted)",
    },
    ".cm-diagnostic": {
        padding: "6px 10px",
        borderLeftWidth: "3px",
        fontSize: "12.5px",
        whiteSpace: "pre-wrap",
        maxWidth: "440px",
    },
    ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
    ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
    ".cm-matchingBracket": { backgroundColor: "var(--code-match) !important", outline: "none" },
    ".cm-selectionMatch": { backgroundColor: "var(--code-match)" },
    ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)", borderColor: "var(--line)" },
    ".cm-panel input, .cm-panel button": {
        font: "inherit",
        color: "inherit",
        background: "var(--ground)",
        border: "1px solid var(--line-strong)",
        borderRadius: "4px",
    },
    ".cm-placeholder": { color: "var(--quiet)" },
});

export interface Calls {
    node: () => string | null;
    onChange: (text: string) => void;
    onRun: () => void;
}

export interface Code {
    view: EditorView;
    set(text: string): void;
    mark(diagnostics: Diagnostic[]): void;
}

/** The offset of the code of a script, after the header that the list shows. */
export function codeStart(text: string): number {
    const code = (/^(#!.*\n)?\s*\/\*[\s\S]*?\*\/\s*/.exec(text)?.[0] ?? "").length;
    return code < text.length ? code : 0;
}

/** Makes the editor in a host element without a shadow root. */
export function open(host: HTMLElement, text: string, calls: () => Calls): Code {
    const root = host.attachShadow({ mode: "open" });
    const v = new EditorView({
        root,
        parent: root as unknown as Element,
        state: EditorState.create({
            doc: text,
            extensions: [
                Prec.highest(
                    keymap.of([
                        {
                            key: "Mod-Enter",
                            run: () => {
                                calls().onRun();
                                return true;
                            },
                        },
                    ]),
                ),
                lineNumbers(),
                highlightSpecialChars(),
                history(),
                drawSelection(),
                EditorState.allowMultipleSelections.of(true),
                indentUnit.of("    "),
                dLanguage,
                syntaxHighlighting(colours),
                bracketMatching(),
                closeBrackets(),
                autocompletion({
                    override: [completion(() => calls().node())],
                    icons: false,
                    activateOnTyping: true,
                }),
                highlightActiveLine(),
                highlightSelectionMatches(),
                search({ top: true }),
                lintGutter(),
                documentation(() => calls().node()),
                placeholder("A D script, or pick one below. Ctrl+Space completes, Ctrl+Enter runs."),
                EditorView.contentAttributes.of({
                    "aria-label": "D script",
                    spellcheck: "false",
                    autocapitalize: "off",
                }),
                keymap.of([
                    ...closeBracketsKeymap,
                    ...defaultKeymap,
                    ...searchKeymap,
                    ...historyKeymap,
                    ...completionKeymap,
                    ...lintKeymap,
                    indentWithTab,
                ]),
                EditorView.updateListener.of((u) => {
                    if (u.docChanged) calls().onChange(u.state.doc.toString());
                }),
                theme,
            ],
        }),
    });
    return {
        view: v,
        set(text) {
            if (v.state.doc.toString() === text) return;
            const at = codeStart(text);
            v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: text }, selection: { anchor: at } });
            // after the layout
            requestAnimationFrame(() =>
                v.dispatch({
                    effects: EditorView.scrollIntoView(Math.min(at, v.state.doc.length), { y: "start", yMargin: 8 }),
                }),
            );
        },
        mark(diagnostics) {
            const doc = v.state.doc.toString();
            const marks = diagnostics.flatMap((d) => {
                const at = span(doc, d.line, d.column, d.length);
                return at
                    ? [
                          {
                              ...at,
                              severity: d.severity === "note" ? ("info" as const) : d.severity,
                              message: d.hint ? `${d.text}\n${d.hint}` : d.text,
                              source: d.tag,
                          },
                      ]
                    : [];
            });
            v.dispatch(setDiagnostics(v.state, marks));
        },
    };
}
