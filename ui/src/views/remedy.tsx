// remedy.tsx - the button that does what a banner advises.
import { useApp } from "../app.ts";
import { button, ofTag, type Remedy as What } from "../model/advice.ts";
import { raised } from "../model/options.ts";

export function Remedy({ remedy }: { remedy: What }) {
    const a = useApp();
    const text = button(remedy, a.script, a.plan.options);
    if (text === null) return null;
    const act = () => {
        if (remedy.do === "raise") {
            const more = raised(remedy.option, 4, a.script, a.plan.options);
            if (!more) return;
            a.plan.options = more.options;
            a.rewrite(more.script, true);
        } else if (remedy.do === "edit") dispatchEvent(new Event("erltrace:edit"));
        else if (remedy.do === "nodes") void a.fetchNodes();
        else a.run();
    };
    return (
        <button type="button" class="remedy" onClick={act}>
            {text}
        </button>
    );
}

/** What to do about a tag: advice and its button. */
export function Advised({ tag }: { tag: string }) {
    const a = ofTag(tag);
    return a ? (
        <>
            <p class="advice">{a.advice}</p>
            <Remedy remedy={a.remedy} />
        </>
    ) : null;
}
