/* report.c - fuzz target: what a node says it has traced. Nothing in it is to be believed.
 *
 * A fixed program that uses every action and aggregating function runs in a tier that reports what
 * the input says: records whose parts are of the right types, entries with the right keys, faults
 * and counters, with any values; or blocks of any bytes. What matters is that the consumer stands
 * it, and says what it does not understand. */
#include "fuzz.h"

#include "base/err.h"
#include "session/session.h"

enum { REPORTS_MOST = 64, TEXT_MOST = 64, OUT_MOST = 64 << 20 };

/* clang-format off */
static const char program[] =
    "struct s { int a; char b[6]; struct { long c; unsigned d : 3; } e; };\n"
    "BEGIN { trace(arg0); trace((char)arg0); trace(probename); printf(\"%5d %-8s|%x %c %Y\\n\", (int)arg0, probename, arg1,"
    " (char)arg2, walltimestamp); printf(\"%*d %.*s %S %C\\n\", (int)arg0, (int)arg1, (int)arg2, probename, probename, (char)arg3); }\n"
    "BEGIN { this->p = (struct s *)alloca(sizeof (struct s)); trace(*this->p); print(this->p); tracemem(this->p, 16);"
    " tracemem(this->p, 16, arg0); }\n"
    "BEGIN { @c = count(); @s[arg0, probename] = sum(arg0); @a[probename] = avg(arg0); @m[(char)arg0] = min(arg0);"
    " @x = max(arg0); @d[probename, probemod] = stddev(arg0); @q[arg0] = quantize(arg0, arg1);"
    " @l = lquantize(arg0, -10, 100, 7); @ll[probename] = llquantize(arg0, 10, 0, 6, 20); }\n"
    "BEGIN { printa(\"%d %s %@d %@5u\\n\", @s); printa(@q); printa(@l); printa(\"%s %@d\\n\", @ll); printa(@c); printa(@d); }\n"
    "BEGIN { trunc(@s, arg0); trunc(@q); clear(@l); normalize(@a, arg0); denormalize(@a); normalize(@q, arg1); }\n"
    "BEGIN { setopt(probename, probemod); setopt(\"quiet\"); ftruncate(); }\n"
    "BEGIN { if (arg0) { trace(1); printf(\"%d\\n\", arg1); } else trace(\"no\"); exit(arg0); }\n";
/* clang-format on */

struct source {
    struct tier tier;
    struct input in;
    const struct dif_image *img;
    struct tier_binding binding[64];
    size_t nbindings;
};

static struct source *self(struct tier *t)
{
    return (struct source *)(void *)t;
}

static int source_match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                        struct diags *d)
{
    static const struct tier_probe begin = {
        .id = 1, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN", .kind = PROBE_BEGIN};
    (void)t;
    (void)spec;
    (void)d;
    return fn(arg, &begin);
}

static int source_enable(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                         const struct tier_binding *b, size_t n, struct tier_options *opt,
                         struct diags *d)
{
    struct source *s = self(t);
    (void)image;
    (void)len;
    (void)opt;
    must(n <= sizeof s->binding / sizeof *b, "there is room for the bindings", d);
    memcpy(s->binding, b, n * sizeof *b);
    s->nbindings = n;
    s->img = img;
    return 0;
}

static int source_start(struct tier *t, struct diags *d)
{
    (void)t;
    (void)d;
    return 0;
}

/* A value as records and keys have it. */
static void put_value(struct input *in, const struct dif_type *t, struct buf *b)
{
    uint32_t len = t->size;
    if (t->kind == DIF_STRING) {
        len = input_byte(in) % TEXT_MOST;
        buf_u32(b, len);
    }
    for (uint32_t i = 0; i < len; i++)
        buf_u8(b, input_byte(in));
}

static void report_record(struct source *s, const struct tier_sink *sink, uint8_t which)
{
    struct buf b = BUF_INIT;
    const struct tier_binding *bind = &s->binding[which % s->nbindings];
    const struct dif_clause *c = &s->img->clauses[bind->clause];
    uint32_t part = c->part, nparts = c->nparts;
    if (c->nsubs > 0) {
        uint32_t sub = input_byte(&s->in) % (c->nsubs + 1); /* one that is not there, too */
        buf_u32(&b, sub);
        if (sub < c->nsubs) {
            part = s->img->subs[c->sub + sub].part;
            nparts = s->img->subs[c->sub + sub].nparts;
        }
    }
    for (uint32_t i = 0; i < nparts; i++)
        put_value(&s->in, &s->img->parts[part + i], &b);
    sink->record(sink->arg, &s->tier, bind->epid + (which >= 250), input_bytes(&s->in, 8), which,
                 (const uint8_t *)b.data, b.len);
    buf_free(&b);
}

static void report_entry(struct source *s, const struct tier_sink *sink, uint8_t which)
{
    uint64_t words[1024] = {0};
    struct buf b = BUF_INIT;
    uint32_t agg = which % s->img->naggs;
    const struct dif_agg *a = &s->img->aggs[agg];
    unsigned nwords = dif_agg_words(a);
    must(nwords <= sizeof words / sizeof *words, "there is room for the words", NULL);
    for (unsigned i = 0; i < a->keys.n; i++)
        put_value(&s->in, &a->keys.key[i], &b);
    for (unsigned n = input_byte(&s->in) % 8, i = input_byte(&s->in); n > 0; n--, i += 3)
        words[i % nwords] = input_bytes(&s->in, 8);
    sink->aggregation(sink->arg, &s->tier, agg + (which >= 250), which,
                      (const uint8_t *)buf_str(&b), b.len, words, nwords, input_byte(&s->in) & 1);
    buf_free(&b);
}

static int source_work(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                       struct diags *d)
{
    struct source *s = self(t);
    (void)timeout_ms;
    (void)flush;
    for (int i = 0; i < REPORTS_MOST && s->in.n > 0; i++) {
        uint8_t kind = input_byte(&s->in), which = input_byte(&s->in);
        struct record_counts counts = {0};
        switch (kind % 5) {
        case 0:
        case 1: report_record(s, sink, which); break;
        case 2: report_entry(s, sink, which); break;
        case 3:
            sink->fault(sink->arg, t, which % 16, input_byte(&s->in), input_byte(&s->in) * 4u,
                        input_byte(&s->in) % 16, input_bytes(&s->in, 8), which);
            break;
        default:
            if (which % 2 == 0) {
                counts.drop[which / 2 % RECORD_NDROPS] = input_bytes(&s->in, 8);
                sink->counts(sink->arg, t, &counts);
                break;
            }
            size_t n = s->in.n < which ? s->in.n : which;
            int err = tier_report(t, s->img, s->in.p, n, sink, d);
            s->in.p += n;
            s->in.n -= n;
            if (err != 0)
                return err;
        }
    }
    return TIER_DRAINED;
}

static void source_close(struct tier *t)
{
    (void)t;
}

static const char *source_target(struct tier *t)
{
    (void)t;
    return "a@b";
}

static int source_fd(struct tier *t)
{
    (void)t;
    return -1;
}

static const struct tier_ops source_ops = {.name = "input",
                                           .place = WORD_VM,
                                           .match = source_match,
                                           .enable = source_enable,
                                           .go = source_start,
                                           .work = source_work,
                                           .stop = source_start,
                                           .close = source_close,
                                           .target = source_target,
                                           .fd = source_fd};

static void count(void *arg, const char *s, size_t n)
{
    (void)s;
    *(size_t *)arg += n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char prog[] = "prog";
    static char *const args[] = {prog};
    size_t shown = 0;
    struct session own, *s = &own;
    struct source from = {.tier = {&source_ops}, .in = {data, size}};
    struct compile_source src = {
        .name = "f.d", .text = program, .len = sizeof program - 1, .argc = 1, .argv = args};
    uint8_t how = input_byte(&from.in);
    session_init(s);
    s->flags = how % 2 == 1 ? ERLTRACE_O_JSON : 0;
    s->out = (struct out){.data = count, .arg = &shown};
    s->opt.value[OPTION_flowindent] = how & 2 ? 1 : OPTION_UNSET;
    s->opt.value[OPTION_rawbytes] = how & 4 ? 1 : OPTION_UNSET;
    s->opt.value[OPTION_aggsortkey] = how & 8 ? 1 : OPTION_UNSET;
    s->opt.value[OPTION_aggsortrev] = how & 16 ? 1 : OPTION_UNSET;
    must(session_add(s, &src, NULL) == 0 && session_compile(s) == 0, "the program compiles",
         &s->diags);
    must(session_attach(s, &from.tier) == 0 && session_match(s) == 0 && session_start(s) == 0,
         "the program starts", &s->diags);
    must(session_stop(s) == 0, "it can be stopped", &s->diags);
    int state = session_work(s, 0);
    for (int i = 0; state >= 0 && state != ERLTRACE_STATE_DONE; i++) {
        must(i < REPORTS_MOST, "a session ends", &s->diags);
        state = session_work(s, 0);
    }
    if (state == ERLTRACE_STATE_DONE)
        session_finish(s);
    must(shown < OUT_MOST, "what is shown is bounded", &s->diags);
    show(&s->diags);
    session_free(s);
    return 0;
}
