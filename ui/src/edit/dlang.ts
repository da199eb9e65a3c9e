// dlang.ts - D for CodeMirror: colours and indentation.
import { StreamLanguage } from "@codemirror/language";
import { type State, token } from "./tokens.ts";

export const dLanguage = StreamLanguage.define<State>({
    name: "d",
    startState: () => ({ comment: false, depth: 0 }),
    token,
    languageData: {
        commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
        closeBrackets: { brackets: ["(", "[", "{", '"'] },
        indentOnInput: /^\s*[{}]$/,
    },
    indent(state, after, cx) {
        return (after.startsWith("}") ? state.depth - 1 : state.depth) * cx.unit;
    },
});
