// hover.ts - documentation of the word under the pointer, or under the cursor with Ctrl+I.
import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import { type Doc, docAt } from "./docs.ts";
import { probesOf } from "./lists.ts";

const show = StateEffect.define<Tooltip | null>();

const asked = StateField.define<Tooltip | null>({
    create: () => null,
    update(shown, tr) {
        for (const e of tr.effects) if (e.is(show)) return e.value;
        return tr.docChanged || tr.selection ? null : shown;
    },
    provide: (f) => showTooltip.from(f),
});

function tooltip(doc: Doc): Tooltip {
    return {
        pos: doc.from,
        end: doc.to,
        above: true,
        create() {
            const dom = document.createElement("div");
            dom.className = "cm-doc";
            dom.setAttribute("role", "tooltip");
            dom.dataset.testid = "doc";
            const title = dom.appendChild(document.createElement("b"));
            title.textContent = doc.title;
            for (const line of doc.lines) dom.appendChild(document.createElement("p")).textContent = line;
            return { dom };
        },
    };
}

export function documentation(node: () => string | null): Extension {
    const find = async (view: EditorView, pos: number): Promise<Doc | null> => {
        const where = node();
        return docAt(view.state.doc.toString(), pos, where === null ? [] : await probesOf(where));
    };
    return [
        asked,
        hoverTooltip(async (view, pos) => {
            const doc = await find(view, pos);
            return doc ? tooltip(doc) : null;
        }),
        keymap.of([
            {
                key: "Mod-i",
                run(view) {
                    const pos = view.state.selection.main.head;
                    void find(view, pos).then((doc) => {
                        const text = doc ? `${doc.title}: ${doc.lines.join(". ")}` : "nothing is known of this word";
                        view.dispatch({
                            effects: [show.of(doc ? tooltip(doc) : null), EditorView.announce.of(text)],
                        });
                    });
                    return true;
                },
            },
            {
                key: "Escape",
                run(view) {
                    if (!view.state.field(asked)) return false;
                    view.dispatch({ effects: show.of(null) });
                    return true;
                },
            },
        ]),
        EditorView.theme({
            ".cm-doc": { padding: "8px 10px", maxWidth: "420px", fontSize: "12px", fontFamily: "var(--sans)" },
            ".cm-doc b": { fontFamily: "var(--mono)" },
            ".cm-doc p": { margin: "4px 0 0", color: "var(--muted)", whiteSpace: "pre-wrap" },
        }),
    ];
}
