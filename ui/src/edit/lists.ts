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

const NOTHING = { items: [], more: false };

/** The probes of all providers that have not hundreds. */
export const probesOf = (node: string): Promise<ProbeItem[]> =>
    ask<ProbeItem>("/api/probes", { node, limit: 1000 }).then(
        (a) => a.items,
        () => [],
    );

/** Those of one provider whose names begin with the prefix. */
export const probesFrom = (
    node: string,
    provider: string,
    prefix: string,
): Promise<{ items: ProbeItem[]; more: boolean }> =>
    ask<ProbeItem>("/api/probes", { node, provider, prefix, limit: 1000 }).catch(() => NOTHING);

/** The providers of the kernel, which are there where pages may trace it. */
export const kernelProviders = (node: string): Promise<string[]> =>
    ask<string>("/api/providers", { node, limit: 1000 }).then(
        (a) => (a.items.includes("syscall") ? a.items.filter((p) => !NODE_PROVIDERS.test(p)) : []),
        () => [],
    );

/** Whether a description's provider is one of nodes, or of any tier. */
export const NODE_PROVIDERS = /^(|erlang.*|dtrace|profile|[^a-z].*)$/;
