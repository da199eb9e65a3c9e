// export.tsx - the menu that saves what is shown: the view's own files, then the whole session.
import { fileName, savePage, saveSession } from "../keep.ts";
import { traceJson } from "../model/export.ts";
import type { Trace } from "../model/trace.ts";
import { save } from "./canvas.tsx";
import { Menu } from "./widgets.tsx";

interface Props {
    trace: Trace;
    items: [string, () => void][];
}
export function Export({ trace, items }: Props) {
    return (
        <Menu
            label="export"
            items={[
                ...items,
                ["JSON of everything", () => save(`${fileName()}.json`, traceJson(trace), "application/json")],
                ["session, to open again (Ctrl S)", () => void saveSession()],
                ["page with this session", () => void savePage()],
            ]}
        />
    );
}
