/* btf.c - fuzz target: what a kernel says of its types. Nothing in it is to be believed.
 *
 * A small kernel is described rightly. The input says which of its bytes are replaced, and has more
 * types behind them. Everything is asked of what can be read, also once it is taken for a module of
 * itself, and the catalogue of probes is made of it. */
#include "fuzz.h"

#include "../unit/btf_build.h"
#include "base/size.h"
#include "linux/kprobes.h"

static void kernel(struct btf_build *b)
{
    uint32_t num = btf_int(b, "int", 4, INT_SIGNED), lng = btf_int(b, "long int", 8, INT_SIGNED);
    uint32_t chr = btf_int(b, "char", 1, INT_CHAR), any = btf_to(b, KBTF_PTR, "", 0);
    uint32_t text = btf_to(b, KBTF_CONST, "", btf_array(b, chr, 16));
    uint32_t deep = btf_parts(b, KBTF_UNION, "", 8,
                              PARTS({"orig_ax", lng, 0}, {"regs", btf_array(b, lng, 31), 0}));
    uint32_t regs =
        btf_parts(b, KBTF_STRUCT, "pt_regs", 168,
                  PARTS({"di", lng, 0}, {"si", lng, 8}, {"dx", lng, 16}, {"r10", lng, 24},
                        {"r8", lng, 32}, {"r9", lng, 40}, {"syscallno", num, 48}, {"", deep, 56}));
    uint32_t task = btf_parts(b, KBTF_STRUCT, "task_struct", 64,
                              PARTS({"__state", num, 24}, {"exit_signal", num, 32},
                                    {"in_iowait", num, 320, 1}, {"comm", text, 44}));
    uint32_t skb = btf_parts(b, KBTF_STRUCT, "sk_buff", 64,
                             PARTS({"protocol", num, 0}, {"head", any, 8}, {"sk", any, 16},
                                   {"dev", any, 24}, {"network_header", num, 32}));
    uint32_t pregs = btf_to(b, KBTF_PTR, "", regs), ptask = btf_to(b, KBTF_PTR, "", task);
    uint32_t pskb = btf_to(b, KBTF_PTR, "", skb);
    btf_tracepoint(b, "sys_enter", PARTS({"", any}, {"", pregs}, {"", lng}));
    btf_tracepoint(b, "sys_exit", PARTS({"", any}, {"", pregs}, {"", lng}));
    btf_tracepoint(b, "sched_switch",
                   PARTS({"", any}, {"", num}, {"", ptask}, {"", ptask}, {"", num}));
    btf_tracepoint(b, "sched_process_fork", PARTS({"", any}, {"", ptask}, {"", ptask}));
    btf_tracepoint(b, "net_dev_queue", PARTS({"", any}, {"", pskb}));
    btf_to(b, KBTF_FUNC, "__traceiter_sys_exit",
           btf_parts(b, KBTF_PROTO, "", num, PARTS({"data", any}, {"regs", pregs}, {"ret", lng})));
    btf_type(b, KBTF_ENUM, "colour", true, 1, 4);
    buf_u32(&b->types, btf_name(b, "GREEN"));
    buf_u32(&b->types, 42);
}

static int ask(void *arg, const struct kprobe *p)
{
    struct kprobes *k = arg;
    size_t n;
    const struct kprobe_arg *a = kprobes_args(k, p, &n);
    must(n <= KPROBE_ARGS && (a == NULL) == (n == 0), "a probe has its arguments", NULL);
    for (size_t i = 0; i < n; i++)
        must(a[i].value.n > 0 && a[i].value.n <= KVALUE_STEPS && a[i].type[0] != '\0',
             "an argument has a value and a type", NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct btf_build b = {.last = 0};
    struct buf blob = BUF_INIT;
    struct kbtf *types;
    struct kprobes *k;
    struct diags d;
    kernel(&b);
    unsigned edits = (unsigned)input_bytes(&in, 1) % 16;
    struct input edit = in;
    in.n -= size_min(in.n, edits * 3);
    buf_add(&b.types, data + size - in.n, in.n);
    btf_finish(&b, &blob);
    for (unsigned i = 0; i < edits; i++) {
        size_t at = input_bytes(&edit, 2) % blob.len;
        blob.data[at] = (char)input_bytes(&edit, 1);
    }
    diags_init(&d);
    int err = kbtf_read(&types, blob.data, blob.len, &d);
    must(err == 0 || d.errors == 1, "what is refused has a reason", &d);
    if (err == 0) {
        btf_ask_all(types);
        err = kbtf_add(types, "module", blob.data, blob.len, &d);
        must(err == 0 || d.errors == 1, "a module that is refused has a reason", &d);
        must(kbtf_index(types, &d) == 0, "names of modules are known", &d);
        btf_ask_all(types);
        must(kprobes_make(&k, types, &d) == 0, "there is a catalogue of any kernel", &d);
        struct probe_spec all = {"", "", "", "", 0};
        kprobes_match(k, &all, ask, k, &d);
        kprobes_close(k);
    }
    show(&d);
    diags_free(&d);
    buf_free(&blob);
    return 0;
}
