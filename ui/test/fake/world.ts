// world.ts - a made-up server for tests of the page: what it answers and sends is decided here, so that what is seen can be
// checked to the last digit. Numbers are the same each time.
import type { Cost, Message, Part, Results, Script, Started } from "../../src/model/protocol.ts";
import { engineOf, said } from "./engine.ts";

export const T0 = Date.UTC(2026, 10, 20, 12, 0, 0);

/** Numbers that look random and are the same each time (mulberry32). */
export function random(seed: number): () => number {
    let a = seed >>> 0;
    return () => {
        a = (a + 0x6d2b79f5) >>> 0;
        let t = a;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
}

export const LATENCY = `/*
 * latency.d - how long each call of the shop takes.
 */
#pragma D option quiet

erlang*:shop::entry
{
    self->ts[probefunc] = timestamp;
}

erlang*:shop::return
/self->ts[probefunc]/
{
    @time[probefunc] = quantize(timestamp - self->ts[probefunc]);
    @calls[copyinstr(arg0), probefunc] = count();
    self->ts[probefunc] = 0;
}
`;

export const SCRIPTS: Script[] = [
    {
        name: "latency.d",
        title: "time from the sending of a message until its receiver runs",
        text: "What it shows beyond a few microseconds is receivers waiting for a scheduler.",
        args: [],
        view: "heatmap",
        place: "heatmap",
        script: LATENCY,
    },
    {
        name: "calls.d",
        title: "calls of the functions of a module, each second",
        text: "The ten most called.",
        args: [{ name: "MODULE", default: "lists" }],
        view: "list",
        place: "list",
        script: "erlang*:$1::entry\n{\n    @[probefunc] = count();\n}\n",
    },
    {
        name: "births.d",
        title: "process births and deaths, each second",
        text: "A node that starts many more processes than it ends is leaking them.",
        args: [],
        view: "console",
        place: null,
        script: 'erlang*:::process-spawn { born++; }\ntick-1sec { printf("%d\\n", born); born = 0; }\n',
    },
    {
        name: "exits.d",
        title: "why processes end, and how long they lived",
        text: "",
        args: [],
        view: "list",
        place: null,
        script: "erlang*:::process-exit { @[copyinstr(arg1)] = count(); }\n",
    },
    {
        name: "gc.d",
        title: "garbage collections: how long they take, how much they reclaim, which processes need them",
        text: "Words are 8 bytes.",
        args: [],
        view: "heatmap",
        place: null,
        script: "erlang*:::gc_minor-start { self->t = timestamp; }\n",
    },
    {
        name: "runtime.d",
        title: "which processes use the schedulers, and in what slices",
        text: "",
        args: [],
        view: "heatmap",
        place: null,
        script: "erlang*:::process-scheduled { self->t = timestamp; }\n",
    },
];

export const NODES = [
    { node: "shop@host", pid: 4711, otp: "27", attachable: true, why: null, help: null },
    { node: "", pid: 4242, otp: null, attachable: true, why: null, help: null },
    { node: "old@host", pid: 99, otp: "21", attachable: false, why: "OTP 21 is not supported", help: null },
];

export const PROBES = [
    {
        name: "process-spawn",
        provider: "erlang",
        text: "a process is born",
        section: "Processes",
        args: [
            { type: "char *", name: "p", text: "the new process as text" },
            { type: "char *", name: "mfa", text: "its first function" },
        ],
    },
    {
        name: "process-exit",
        provider: "erlang",
        text: "a process ends",
        section: "Processes",
        args: [
            { type: "char *", name: "p", text: "the process as text" },
            { type: "char *", name: "reason", text: "why" },
        ],
    },
    {
        name: "message-send",
        provider: "erlang",
        text: "a message is sent",
        section: "Messages",
        args: [
            { type: "char *", name: "sender", text: "who sends" },
            { type: "char *", name: "receiver", text: "who gets it" },
        ],
    },
    {
        name: "entry",
        provider: "erlang",
        text: "a function is called",
        section: "Functions",
        function: true,
        args: [{ type: "char *", name: "p", text: "the process as text" }],
    },
    {
        name: "return",
        provider: "erlang",
        text: "a function returns",
        section: "Functions",
        function: true,
        args: [{ type: "char *", name: "p", text: "the process as text" }],
    },
];

export const HELLO: Message = {
    type: "hello",
    version: "0.1.0",
    protocol: 1,
    destructive: false,
    server: "a".repeat(32),
    limits: { script: 65536, message: 131072, keys: 20000, rows: 2000, keep: 10_000 },
};

const FUNCTIONS = [
    "order/2",
    "price/1",
    "stock/2",
    "reserve/3",
    "pay/2",
    "ship/1",
    "mail/2",
    "log/3",
    "find/2",
    "cart/1",
];
const PROCESSES = ["shop_front", "shop_store", "shop_till", "<0.211.0>", "<0.212.0>", "<0.240.0>"];
/** Stacks of the shop, made from what calls what: outermost frame first. */
const CALLS: Record<string, string[]> = {
    "": ["proc_lib:init_p/5"],
    "proc_lib:init_p/5": [
        "gen_server:loop/7",
        "shop_customer:loop/2",
        "gen_server:loop/7",
        "cowboy_stream_h:request_process/3",
    ],
    "cowboy_stream_h:request_process/3": ["shop_http:init/2"],
    "shop_http:init/2": ["shop:order/2", "jsx:encode/1", "shop:find/2"],
    "jsx:encode/1": ["jsx_to_json:format/2", "maps:to_list/1"],
    "jsx_to_json:format/2": ["unicode:characters_to_binary/1", "lists:reverse/1", "jsx_to_json:format/2"],
    "gen_server:loop/7": ["gen_server:handle_msg/6", "gen_server:decode_msg/8"],
    "gen_server:handle_msg/6": ["gen_server:try_handle_call/4", "gen_server:try_dispatch/4"],
    "gen_server:try_handle_call/4": ["shop:handle_call/3"],
    "gen_server:try_dispatch/4": ["shop:handle_info/2"],
    "shop:handle_call/3": ["shop:order/2", "shop:pay/2", "shop:order/2"],
    "shop:handle_info/2": ["shop:mail/2", "shop:log/3"],
    "shop:order/2": ["shop:price/1", "shop:stock/2", "shop:reserve/3"],
    "shop:price/1": ["lists:foldl/3", "shop:discount/2"],
    "lists:foldl/3": ["maps:get/2", "shop:tax/2", "lists:foldl/3"],
    "shop:tax/2": ["math:pow/2", "erlang:round/1"],
    "shop:stock/2": ["ets:lookup/2"],
    "shop:reserve/3": ["ets:update_counter/3", "gen_server:call/2"],
    "gen_server:call/2": ["gen:do_call/4"],
    "shop:pay/2": ["crypto:hash/2", "gen_tcp:send/2", "gen_tcp:recv/2"],
    "gen_tcp:send/2": ["prim_inet:send/2"],
    "prim_inet:send/2": ["erts_internal:port_command/3"],
    "gen_tcp:recv/2": ["prim_inet:recv0/3"],
    "shop:mail/2": ["binary:replace/3", "io_lib:format/2"],
    "shop:log/3": ["io_lib:format/2", "file:write/2"],
    "io_lib:format/2": ["io_lib_format:build/1", "io_lib_format:scan/2"],
    "io_lib_format:build/1": ["io_lib_pretty:print/3", "lists:reverse/1", "string:pad/3"],
    "io_lib_pretty:print/3": ["io_lib:write/1", "io_lib_pretty:print_length/5"],
    "file:write/2": ["prim_file:write/2"],
    "shop_customer:loop/2": ["shop_customer:think/1", "shop_customer:browse/2"],
    "shop_customer:think/1": ["rand:uniform/1"],
    "rand:uniform/1": ["rand:exsss_uniform/2", "rand:seed_get/0"],
    "shop_customer:browse/2": ["shop:find/2"],
    "shop:find/2": ["ets:select/2", "lists:sort/2"],
    "lists:sort/2": ["lists:split_1/6", "lists:rmergel/2"],
};
function stacks(): string[][] {
    const rand = random(42);
    const found = new Map<string, string[]>();
    for (let i = 0; i < 900; i++) {
        const stack: string[] = [];
        for (let at = ""; stack.length < 16; ) {
            const calls = CALLS[at];
            if (!calls || (stack.length > 3 && rand() < 0.12)) break;
            at = calls[Math.floor(rand() ** 1.5 * calls.length)]!;
            stack.push(at);
        }
        found.set(stack.join(";"), stack);
    }
    return [...found.values()];
}
const FRAMES = stacks();

export function started(t: number, more: Partial<Started> = {}): Started {
    return {
        type: "started",
        id: 1,
        trace: 12,
        shared: false,
        node: "shop@host",
        name: "latency.d",
        script: LATENCY,
        args: [],
        options: {},
        view: null,
        t,
        interval: 1000,
        prints: true,
        destructive: false,
        enabled: { probes: 42, text: "42 probes" },
        aggregations: [
            { id: 0, name: "@time", function: "quantize", keys: ["string"], normal: 1, buckets: said("quantize", []) },
            { id: 1, name: "@calls", function: "count", keys: ["string", "string"], normal: 1, buckets: null },
            { id: 2, name: "@where", function: "count", keys: ["stack"], normal: 1, buckets: null },
            { id: 3, name: "@slowest", function: "max", keys: ["string"], normal: 1, buckets: null },
            { id: 4, name: "@load", function: "avg", keys: [], normal: 1, buckets: null },
        ],
        ...more,
    };
}

/** The results of a shop, second by second: fast and slow calls, a daily swing in a few minutes, and a disturbance at second 70. */
export function shop(t0: number): (n: number) => Results {
    const rand = random(7);
    const engine = engineOf("quantize", []);
    const known = [new Set<number>(), new Set<number>(), new Set<number>(), new Set<number>()];
    const slowest = new Map<number, number>();
    const gauss = () => (rand() + rand() + rand() + rand() - 2) * 1.7;
    return (n) => {
        const swing = 1 + 0.45 * Math.sin(n / 23);
        const trouble = n >= 70 && n < 84;
        const hist = new Map<number, Map<number, number>>();
        const top = new Map<number, number>();
        const calls = new Map<number, number>();
        FUNCTIONS.forEach((_, f) => {
            const per = Math.round((420 / (f + 1)) * swing);
            const h = new Map<number, number>();
            for (let i = 0; i < per; i++) {
                let v = 2 ** (10 + f * 0.55 + gauss() * 0.7);
                if (f === 4 || f === 5) v = rand() < 0.8 ? 2 ** (19.8 + gauss() * 0.4) : 2 ** (23.2 + gauss() * 0.3);
                if (f === 2 && trouble && rand() < 0.6) v = 2 ** (21.5 + ((n - 70) / 14) * 3.5 + gauss() * 0.25);
                if (rand() < 0.0015) v = 2 ** (25 + rand() * 1.5);
                v = Math.max(1, Math.round(v));
                const b = engine.of(v);
                h.set(b, (h.get(b) ?? 0) + 1);
                if (v > (slowest.get(f) ?? 0)) {
                    slowest.set(f, v);
                    top.set(f, v);
                }
                const p = f < 3 ? (rand() < 0.7 ? f : 3) : Math.floor(rand() * PROCESSES.length);
                calls.set(p * 10 + f, (calls.get(p * 10 + f) ?? 0) + 1);
            }
            if (h.size > 0) hist.set(f, h);
        });
        const fresh = (agg: number, ids: Iterable<number>, parts: (id: number) => Part[]) => {
            const keys: [number, ...Part[]][] = [];
            for (const id of ids) if (!known[agg]!.has(id)) known[agg]!.add(id), keys.push([id, ...parts(id)]);
            return keys.length > 0 ? { keys } : {};
        };
        const name = (f: number) => `shop:${FUNCTIONS[f]}`;
        const stacks = FRAMES.map((_, i): [number, number] => [
            i,
            Math.max(1, Math.round((30 / (1 + ((i * 5) % 11))) * swing * (0.7 + 0.6 * rand()))),
        ]);
        return {
            type: "results",
            n,
            t: t0 + n * 1000,
            dt: 1000,
            aggregations: [
                {
                    id: 0,
                    ...fresh(0, hist.keys(), (f) => [name(f)]),
                    add: [...hist].map(([f, h]) => [f, ...[...h].sort((a, b) => a[0] - b[0]).flat()]),
                },
                {
                    id: 1,
                    ...fresh(1, calls.keys(), (c) => [PROCESSES[Math.floor(c / 10)]!, name(c % 10)]),
                    add: [...calls],
                },
                {
                    id: 2,
                    ...fresh(
                        2,
                        stacks.map((s) => s[0]),
                        (i) => [[...FRAMES[i]!].reverse()],
                    ),
                    add: stacks,
                },
                { id: 3, ...fresh(3, top.keys(), (f) => [name(f)]), add: [...top] },
                {
                    id: 4,
                    ...(n === 1 ? { keys: [[0] as [number]] } : {}),
                    add: [[0, 10, Math.round(10 * (40 + 20 * Math.sin(n / 11) + 4 * rand()))]],
                },
            ],
        };
    };
}

export function cost(share: number, fired: number): Cost {
    return {
        type: "cost",
        node: "shop@host",
        dt: 1000,
        fired,
        share,
        ns: Math.round(share * 1e6),
        drops: 0,
        threads: [
            ["scheduler 1", Math.round(fired * 0.6), Math.round(share * 1e6), share],
            ["scheduler 2", Math.round(fired * 0.4), Math.round(share * 7e5), Math.round(share * 0.7)],
        ],
        kinds: [
            ["function-return", fired / 2, share * 6e5, Math.round(share * 0.6)],
            ["function-entry", fired / 2, share * 4e5, Math.round(share * 0.4)],
        ],
        probes: [
            ["erlang4711:shop:order/2:return", Math.round(fired / 3), Math.round(share * 4e5), Math.round(share * 0.4)],
            ["erlang4711:shop:order/2:entry", Math.round(fired / 3), Math.round(share * 2e5), Math.round(share * 0.2)],
        ],
    };
}
