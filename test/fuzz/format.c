/* format.c - fuzz target: printf formats, and the other texts that say how values are shown.
 *
 * The input: one byte that says what is tested, a count and the values, then the text up to the
 * end. The text is a format for made-up values; or it stands in a printf() that is compiled with
 * arguments of those types, and what the compiler accepts the consumer must take; or a printa()
 * with those keys; or the description of a type for print(). */
#include "fuzz.h"

#include "base/err.h"
#include "lang/compile.h"
#include "result/pf.h"
#include "result/print.h"
#include "util/buftext.h"

enum { VALUES_MOST = 8, TEXT_MOST = 64, SHOWN_MOST = 1 << 24 };

struct made {
    struct value v[VALUES_MOST];
    char *text[VALUES_MOST]; /* each in memory of its own, so that reading past its end is seen */
    size_t n;
};

/* Floats, stacks, addresses: as many bytes as such a value has. */
static uint32_t size_of(uint8_t kind, uint8_t what)
{
    static const uint8_t floats[] = {4, 8, 16, 8};
    switch (kind) {
    case DIF_FLOAT: return floats[what / 32 % 4];
    case DIF_STACK:
    case DIF_USTACK:
    case DIF_JSTACK: return 16 + what / 32 % 4 * 8;
    case DIF_SYM:
    case DIF_FUNC:
    case DIF_MOD: return 8;
    default: return 16;
    }
}

static void make_value(struct input *in, struct value *v, char **text)
{
    static const uint8_t sizes[] = {1, 2, 4, 8};
    uint8_t what = input_byte(in);
    *v = (struct value){.kind = (uint8_t)(DIF_INT + what % 4), .size = sizes[what / 4 % 4]};
    if (what >= 128)
        v->kind = (uint8_t)(DIF_FLOAT + what % (DIF_NKINDS - DIF_FLOAT));
    if (v->kind <= DIF_UINT) {
        uint64_t raw = input_bytes(in, v->size);
        unsigned shift = 64 - v->size * 8;
        v->i = v->kind == DIF_INT ? (int64_t)(raw << shift) >> shift : (int64_t)raw;
        return;
    }
    v->len = v->kind > DIF_BYTES ? size_of(v->kind, what) : input_byte(in) % TEXT_MOST;
    v->size = v->kind == DIF_STRING ? TEXT_MOST : (uint32_t)v->len;
    v->s = *text = malloc(v->len + (v->len == 0));
    must(*text != NULL, "there is memory", NULL);
    for (size_t i = 0; i < v->len; i++)
        (*text)[i] = (char)input_byte(in);
}

static void make_values(struct input *in, struct made *m)
{
    m->n = input_byte(in) % (VALUES_MOST + 1);
    for (size_t i = 0; i < m->n; i++)
        make_value(in, &m->v[i], &m->text[i]);
}

/* The value of an aggregation, as a report shows it. */
static void agg_value(void *arg, unsigned nth, const struct pf_conv *c, struct buf *out)
{
    struct value v = {.kind = DIF_INT, .size = 8, .i = *(int64_t *)arg + nth};
    pf_integer(c, &v, out);
}

static void shown(const struct pf *f, const struct made *m, pf_agg_fn agg)
{
    struct buf out = BUF_INIT;
    int64_t value = m->n > 0 ? m->v[0].i & INT32_MAX : 0;
    pf_format(f, m->v, m->n, &(struct pf_env){.agg = agg, .arg = &value}, &out);
    must(!out.oom && out.len < SHOWN_MOST, "what is shown is bounded", NULL);
    buf_free(&out);
}

static void run_format(const char *format, const struct made *m)
{
    struct arena a;
    struct pf f;
    arena_init(&a);
    int err = pf_parse(&a, format, &f);
    must(err == 0 || err == ET_EINVAL, "a format is good or bad", NULL);
    if (err == 0) {
        shown(&f, m, NULL);
        shown(&f, m, agg_value);
    }
    arena_free(&a);
}

/* A D string literal of the text. */
static void literal(struct buf *b, const char *s, size_t n)
{
    buf_addc(b, '"');
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "\\%03o", (unsigned char)s[i]);
    buf_addc(b, '"');
}

/* A D expression of the value's type. */
static void expression(struct buf *b, const struct value *v)
{
    if (v->kind == DIF_FLOAT)
        buf_printf(b, "*(%s *)alloca(16)",
                   v->size == 4   ? "float"
                   : v->size == 8 ? "double"
                                  : "long double");
    else if (v->kind > DIF_FLOAT)
        buf_printf(b, "%s(%s)", dif_kind_info(v->kind)->name, v->kind < DIF_SYM ? "" : "arg0");
    else if (v->kind > DIF_UINT)
        literal(b, v->s, strnlen(v->s, v->len));
    else
        buf_printf(b, "(%sint%u_t)arg0", v->kind == DIF_UINT ? "u" : "", v->size * 8);
}

static void expressions(struct buf *b, const char *before, const struct made *m)
{
    for (size_t i = 0; i < m->n; i++) {
        buf_adds(b, before);
        expression(b, &m->v[i]);
        before = ", ";
    }
}

static void run_program(const char *text, size_t len, bool printa, struct made *m)
{
    struct buf b = BUF_INIT;
    struct diags d;
    struct dif_image img;
    struct compile_options opt = {COMPILE_SIZES, .amin = -1};
    opt.strsize = TEXT_MOST;
    buf_adds(&b, "BEGIN { ");
    if (printa) {
        buf_adds(&b, "@a");
        expressions(&b, "[", m);
        buf_printf(&b, "%s = count(); printa(", m->n > 0 ? "]" : "");
        literal(&b, text, len);
        buf_adds(&b, ", @a");
    } else {
        buf_adds(&b, "printf(");
        literal(&b, text, len);
        expressions(&b, ", ", m);
    }
    buf_adds(&b, "); }");
    diags_init(&d);
    dif_image_init(&img);
    struct compile *c = compile_new(&opt, &d);
    struct compile_source src = {.name = "f.d", .text = buf_str(&b), .len = b.len};
    int err = compile_add(c, &src);
    if (err == 0)
        err = compile_image(c, &img);
    must(err == 0 || err == ET_ECOMPILE, "a program is good or bad", &d);
    show(&d);
    for (uint32_t i = 0; i < img.nactions; i++) {
        struct arena a;
        struct pf f;
        if (img.actions[i].format == DIF_NO_STRING)
            continue;
        arena_init(&a);
        must(pf_parse(&a, dif_str(&img, img.actions[i].format), &f) == 0,
             "a format that was accepted can be parsed", &d);
        for (size_t k = 0; k < m->n; k++) /* as the program has them: all others are texts */
            if (m->v[k].kind == DIF_BYTES)
                m->v[k].kind = DIF_STRING;
        shown(&f, m, agg_value);
        arena_free(&a);
    }
    dif_image_free(&img);
    compile_free(c);
    diags_free(&d);
    buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct made m = {.n = 0};
    uint8_t what = input_byte(&in);
    make_values(&in, &m);
    char *text = malloc(in.n + 1);
    must(text != NULL, "there is memory", NULL);
    memcpy(text, in.p, in.n);
    text[in.n] = '\0';
    switch (what % 4) {
    case 0: run_format(text, &m); break;
    case 1: run_program(text, in.n, false, &m); break;
    case 2: run_program(text, in.n, true, &m); break;
    default: {
        struct buf out = BUF_INIT;
        static const struct value none = {.kind = DIF_BYTES, .s = ""};
        print_object(4711, m.n > 0 && m.v[0].s != NULL ? &m.v[0] : &none, text,
                     what < 128 ? SIZE_MAX : what - 128u, &out);
        must(!out.oom && out.len < SHOWN_MOST, "what is shown is bounded", NULL);
        buf_free(&out);
    }
    }
    free(text);
    for (size_t i = 0; i < m.n; i++)
        free(m.text[i]);
    return 0;
}
