// lists.ts - what a node has: its probes, modules and functions, from the server.
import { get } from "../net/session.ts";

export interface ProbeItem {
    name: string;
    provider: string;
    text: string;
    section: string;
    function?: boolean;
    args: { type: string; name: string; text: string }[];
}

// Answers are kept for the life of the page; a node's functions change little.
const answers = new Map<string, Promise<{ items: unknown[]; more: boolean }>>();
export function ask<T>(path: string, params: Record<string, string | number>): Promise<{ items: T[]; more: boolean }> {
    const key = path + JSON.stringify(params);
    let answer = answers.get(key);
    if (!answer) {
        answer = get<{ items: unknown[]; more: boolean }>(path, params);
        answers.set(key, answer);
        answer.catch(() => answers.delete(key));
    }
    return answer as Promise<{ items: T[]; more: boolean }>;
}

export const probesOf = (node: string): Promise<ProbeItem[]> =>
    ask<ProbeItem>("/api/probes", { node, limit: 1000 }).then(
        (a) => a.items,
        () => [],
    );
