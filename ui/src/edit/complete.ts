// complete.ts - completion of D: probes, modules and functions from the server, words of the language, names of the script.
import {
    type Completion,
    type CompletionContext,
    type CompletionResult,
    insertCompletionText,
    pickedCompletion,
    startCompletion,
} from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import { D_OPTIONS } from "../model/words.ts";
import { ask, kernelProviders, NODE_PROVIDERS, type ProbeItem, probesFrom, probesOf } from "./lists.ts";
import { names, placeOf, records } from "./place.ts";
import { COMMON_PROBES, WORDS } from "./tokens.ts";

// Replaces what was typed by text; `again`: opens completion again for what follows it.
const insert =
    (text: string, again: boolean) =>
    (view: EditorView, c: Completion, from: number, to: number): void => {
        view.dispatch({ ...insertCompletionText(view.state, text, from, to), annotations: pickedCompletion.of(c) });
        if (again) setTimeout(() => startCompletion(view), 0);
    };

const provider = (p: string): string => (p === "erlang" ? "erlang*" : p);
/** What to ask the server for modules and functions of: without a provider, the node's. */
const of = (p: string): Record<string, string> => (NODE_PROVIDERS.test(p) ? {} : { provider: p });
const info = (p: ProbeItem): string =>
    [p.text, ...p.args.map((a, i) => `arg${i}  ${a.type.replace(/\s*$/, "")} ${a.name}: ${a.text}`)].join("\n");

export function completion(node: () => string | null) {
    return async (cx: CompletionContext): Promise<CompletionResult | null> => {
        const text = cx.state.doc.toString();
        const place = placeOf(text, cx.pos);
        if (
            !place ||
            (place.text === "" &&
                !cx.explicit &&
                place.kind !== "module" &&
                place.kind !== "function" &&
                place.kind !== "name" &&
                place.kind !== "member" &&
                place.kind !== "record" &&
                place.kind !== "field")
        )
            return null;
        const result = (options: Completion[], validFor: RegExp): CompletionResult => ({
            from: place.from,
            options,
            validFor,
        });
        const where = node();
        switch (place.kind) {
            case "option":
                return result(
                    D_OPTIONS.map(([label, detail]) => ({ label, detail, type: "property" })),
                    /^[\w=]*$/,
                );
            case "member":
                return result(
                    names(text, place.of as "self" | "this").map((label) => ({ label, type: "variable" })),
                    /^\w*$/,
                );
            case "record":
                return result(
                    [...records(text)].map(([label, fields]) => ({
                        label,
                        detail: fields.join(", "),
                        type: "type",
                        apply: insert(`${label}.`, true),
                    })),
                    /^\w*$/,
                );
            case "field":
                return result(
                    (records(text).get(place.of) ?? []).map((label) => ({ label, type: "property" })),
                    /^\w*$/,
                );
            case "aggregation":
                return result(
                    names(text, "@").map((n) => ({ label: `@${n}`, type: "variable" })),
                    /^@\w*$/,
                );
            case "provider": {
                const probes = where === null ? [] : await probesOf(where);
                const kernel = where === null ? [] : await kernelProviders(where);
                return result(
                    [
                        {
                            label: "erlang*:",
                            detail: "probes of the node",
                            type: "namespace",
                            boost: 2,
                            apply: insert("erlang*:", true),
                        },
                        ...kernel.map((p) => ({
                            label: `${p}:`,
                            detail: "probes of the kernel",
                            type: "namespace",
                            apply: insert(`${p}:`, true),
                        })),
                        ...COMMON_PROBES.map(([label, detail]) => ({ label, detail, type: "constant", boost: 1 })),
                        ...probes.map((p) => ({
                            label: p.name,
                            detail: p.text,
                            type: "function",
                            info: info(p),
                            apply: insert(
                                p.function ? `${provider(p.provider)}:` : `${provider(p.provider)}:::${p.name}`,
                                p.function === true,
                            ),
                        })),
                    ],
                    /^[\w-]*:?$/,
                );
            }
            case "module": {
                if (where === null) return null;
                const a = await ask<string>("/api/modules", {
                    node: where,
                    ...of(place.provider),
                    prefix: place.text,
                    limit: 200,
                }).catch(() => null);
                if (!a) return null;
                return {
                    from: place.from,
                    options: [
                        { label: ":", detail: "any module", type: "keyword", boost: -1, apply: insert("::", true) },
                        ...a.items.map((m) => ({ label: m, type: "namespace", apply: insert(`${m}:`, true) })),
                    ],
                    ...(a.more ? {} : { validFor: /^[\w.]*$/ }),
                };
            }
            case "function": {
                const kernel = !NODE_PROVIDERS.test(place.provider);
                if (where === null || (!place.module && !kernel)) return null;
                const a = await ask<string>("/api/functions", {
                    node: where,
                    ...of(place.provider),
                    module: place.module,
                    prefix: place.text,
                    limit: 500,
                }).catch(() => null);
                if (!a) return null;
                return {
                    from: place.from,
                    options: [
                        ...(kernel
                            ? [
                                  {
                                      label: ":",
                                      detail: "any function",
                                      type: "keyword",
                                      boost: -1,
                                      apply: insert(":", true),
                                  },
                              ]
                            : []),
                        ...a.items.map((f) => ({ label: f, type: "function", apply: insert(`${f}:`, true) })),
                    ],
                    ...(a.more ? {} : { validFor: /^[\w/]*$/ }),
                };
            }
            case "name": {
                const entry = (p: ProbeItem): Completion => ({
                    label: p.name,
                    detail: p.text,
                    info: info(p),
                    type: "function",
                });
                if (where !== null && !NODE_PROVIDERS.test(place.provider)) {
                    const a = await probesFrom(where, place.provider, place.text);
                    return {
                        from: place.from,
                        options: a.items.map(entry),
                        ...(a.more ? {} : { validFor: /^[\w-]*$/ }),
                    };
                }
                const probes = where === null ? [] : await probesOf(where);
                const functions = place.func !== "" || place.module !== "";
                return result(
                    probes
                        .filter((p) => NODE_PROVIDERS.test(p.provider))
                        .filter((p) => functions === (p.function === true) || !functions)
                        .map(entry),
                    /^[\w-]*$/,
                );
            }
            case "word": {
                const own = NODE_PROVIDERS.test(place.provider);
                const probes =
                    where === null || place.probe === null
                        ? []
                        : own
                          ? (await probesOf(where)).filter((p) => NODE_PROVIDERS.test(p.provider))
                          : (await probesFrom(where, place.provider, place.probe)).items;
                const probe = probes.find((p) => p.name === place.probe);
                return result(
                    WORDS.filter((w) => !w.elsewhere).map((w) => {
                        const arg = probe && /^arg(\d)$/.exec(w.label) ? probe.args[Number(w.label[3])] : undefined;
                        return {
                            label: w.label,
                            detail: arg ? `${arg.name}: ${arg.text}` : w.detail,
                            type: w.kind === "aggregation" || w.kind === "function" ? "function" : w.kind,
                            ...(arg ? { boost: 1 } : {}),
                            ...(w.call ? { apply: w.label + w.call } : {}),
                        };
                    }),
                    /^\w*$/,
                );
            }
        }
    };
}
