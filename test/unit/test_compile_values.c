/* What compiled D computes: texts are compiled, encoded, decoded, verified and run by the engine,
 * and what they trace is compared with what language.md 3, 4, 5 says. Constant folding and
 * running must agree. */
#include "d_text.h"

#include "engine/engine.h"
#include "lang/encode.h"
#include "util/buftext.h"

static const struct engine_probe a_probe = {7, "prov", "mod", "func", "name"};
static const char arg_text[] = "lists:map/2";

/* arg0 is 7, arg1 -3, arg2 2^40, arg8 NULL, arg9 the address of a text; the others are 0. */
static uint64_t arg_value(struct engine_ctx *ctx, unsigned n)
{
    if (n == 9) {
        engine_ctx_range(ctx, arg_text, sizeof arg_text);
        return (uint64_t)(uintptr_t)arg_text;
    }
    return n == 0 ? 7 : n == 1 ? (uint64_t)-3 : n == 2 ? (uint64_t)1 << 40 : 0;
}

static uint32_t u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

/* Appends a record's parts: "1 -5 \"text\"". */
static void show_parts(const struct dif_image *img, const struct dif_clause *c, const uint8_t *p,
                       struct buf *out)
{
    for (uint32_t i = 0; i < c->nparts; i++) {
        const struct dif_type *t = &img->parts[c->part + i];
        if (out->len > 0)
            buf_addc(out, ' ');
        if (t->kind == DIF_STRING) {
            buf_printf(out, "\"%.*s\"", (int)u32(p), (const char *)p + 4);
            p += 4 + u32(p);
            continue;
        }
        uint64_t v = 0;
        if (t->kind == DIF_BYTES) {
            for (uint32_t k = 0; k < t->size; k++)
                buf_printf(out, "%02x", *p++);
            continue;
        }
        memcpy(&v, p, t->size);
        p += t->size;
        if (t->kind == DIF_INT) {
            unsigned shift = 64 - 8 * t->size;
            buf_printf(out, "%lld", (long long)((int64_t)(v << shift) >> shift));
        } else {
            buf_printf(out, "%llu", (unsigned long long)v);
        }
    }
}

/* Runs all clauses of a text once, in order; everything they trace, "fault N" for a fault. The
 * caller frees it. */
static char *run(const char *text)
{
    struct d_text d;
    struct dif_image img;
    struct buf bytes = BUF_INIT, blocks = BUF_INIT, out = BUF_INIT;
    struct engine_options opt = {
        .threads = 64, .bufsize = 1 << 18, .aggsize = 1 << 18, .dynvarsize = 1 << 20, .pid = 42};
    struct engine *e = NULL;
    static struct engine_mark m;
    d_must(&d, text);
    dif_image_init(&img);
    assert_int_equal(dif_encode(&d.img, &bytes), 0);
    assert_int_equal(dif_decode(&img, bytes.data, bytes.len, &d.diags), 0);
    assert_int_equal(dif_verify(&img, &d.diags), 0);
    assert_int_equal(engine_create(&img, &opt, &e, &d.diags), 0);
    engine_set_phase(e, ENGINE_RUNNING);
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &a_probe, .arg = arg_value, .self = 1};
    for (uint32_t i = 0; i < d.img.nclauses; i++) {
        const struct engine_binding b = {i + 1, i};
        engine_enter(t);
        engine_fire(e, t, &ctx, &b, 1);
        engine_leave(t);
    }
    engine_flip(e, RECORD_PRINCIPAL);
    engine_mark(&m);
    while (!engine_quiet(&m))
        ;
    while (!engine_drain(e, RECORD_PRINCIPAL, blocks.len + 4096, &blocks))
        ;
    const uint8_t *p = (const uint8_t *)blocks.data, *end = p + blocks.len;
    while (p < end) {
        const uint8_t *block_end = p + 8 + u32(p + 4);
        for (p += 8; p < block_end; p += u32(p)) {
            uint32_t epid = u32(p + 4);
            if (epid == RECORD_EPID_FAULT)
                buf_printf(&out, "%sfault %u", out.len > 0 ? " " : "", u32(p + 24 + 12));
            else
                show_parts(&d.img, &d.img.clauses[epid - 1], p + 24, &out);
        }
    }
    engine_destroy(e);
    buf_free(&bytes);
    buf_free(&blocks);
    d_close(&d);
    char *s = strdup(buf_str(&out));
    buf_free(&out);
    return s;
}

struct value {
    const char *body; /* statements of one clause; or, when it has a '{', whole clauses */
    const char *traced;
};

/* clang-format off */
static const struct value values[] = {
    /* constants: 1.3, 1.4 */
    {"trace(1); trace(017); trace(0x1f); trace(0XFF);", "1 15 31 255"},
    {"trace(2147483647); trace(2147483648); trace(0x80000000); trace(0xffffffff);", "2147483647 2147483648 2147483648 4294967295"},
    {"trace(0x8000000000000000); trace(18446744073709551615u); trace(9223372036854775807);", "9223372036854775808 18446744073709551615 9223372036854775807"},
    {"trace('a'); trace('ab'); trace('\\n'); trace('\\377'); trace('\\x41'); trace('\\''); trace('\\?');", "97 24930 10 255 65 23591 23615"},
    {"trace('abcdefgh');", "7017280452245743464"},
    {"trace(\"a\\tb\"); trace(\"\\101\\x42\"); trace(\"q\\q\"); trace(\"ab\\0cd\"); trace(\"\");", "\"a\tb\" \"AB\" \"q\\q\" \"ab\" \"\""},
    {"trace($target); trace($$target); trace(NULL); trace(\"it's\");", "4711 \"4711\" 0 \"it's\""},
    /* the arithmetic model: 3.2, 3.3 */
    {"trace(7 / 2); trace(-7 / 2); trace(-7 % 2); trace(7 % -2); trace(arg1 % 2); trace(arg0 / arg1);", "3 -3 -1 1 -1 -2"},
    {"trace(-1 < 0u); trace(-1 < 0); trace((char)-1 == (unsigned char)255); trace(arg1 < 0); trace(arg1 < 0ul);", "0 1 0 1 0"},
    {"trace((long long)(unsigned)-2); trace((char)300); trace((unsigned char)-1); trace((short)65535);", "4294967294 44 255 -1"},
    {"trace((char)arg2); trace((int)(arg2 + 5)); trace((uint32_t)arg1); trace((int64_t)arg1);", "0 5 4294967293 -3"},
    {"this->i = 1 << 30; trace((this->i + this->i) > 0); trace((int)(this->i + this->i)); trace(this->i + this->i);", "1 -2147483648 -2147483648"},
    {"trace(-8 >> 1); this->x = -8; trace(this->x >> 1); trace(1 << 65); trace(arg0 << arg0); trace(timestamp >> 64 == timestamp >> 0);", "-4 -4 2 896 1"},
    {"trace(0xff & 0x0f); trace(1 | 6); trace(5 ^ 1); trace(~0); trace(!5); trace(!0); trace(-arg1); trace(+arg1);", "15 7 4 -1 0 1 3 -3"},
    {"trace(1 && 2); trace(0 || 3); trace(1 ^^ 2); trace(0 ^^ 2); trace(arg0 ^^ arg5); trace(arg0 && arg5); trace(arg5 || arg0);", "1 1 0 1 1 0 1"},
    {"trace(1 + 2 * 3 - 4 / 2); trace((1 + 2) * 3); trace(10 - 3 - 2); trace(1 << 2 + 1); trace(7 & 3 == 3);", "5 9 5 8 1"},
    {"trace(arg0 > 5 ? 1 : 2); trace(arg0 > 9 ? 1 : arg0 > 6 ? 3 : 4); trace(arg5 ? \"y\" : \"n\");", "1 3 \"n\""},
    {"trace(1 || 2 ^^ 1 && 0);", "1"},
    {"trace(sizeof (int)); trace(sizeof (uint64_t)); trace(sizeof \"abc\"); trace(sizeof (string)); trace(sizeof probename); trace(sizeof (char) + 1); trace(sizeof arg0);",
     "4 8 4 256 256 2 8"},
    {"trace(arg0 / arg5);", "fault 4"},
    {"trace(arg0 % arg5);", "fault 4"},
    /* strings: 3.4 */
    {"trace(\"a\" < \"b\"); trace(\"a\" == \"a\"); trace(\"b\" <= \"a\"); trace(\"\\377\" > \"a\"); trace(\"ab\" > \"a\"); trace(probename != \"name\");", "1 1 0 1 1 0"},
    {"trace(probeprov); trace(probemod); trace(probefunc); trace(probename);", "\"prov\" \"mod\" \"func\" \"name\""},
    {"trace(strlen(\"abc\")); trace(strlen(\"\")); trace(strjoin(\"ab\", \"cd\")); trace(strlen(strjoin(probename, strjoin(\"-\", probefunc))));", "3 0 \"abcd\" 9"},
    {"trace(copyinstr(arg9)); trace(stringof(arg9)); trace((string)arg9); trace(copyinstr(arg9, 6)); trace(strlen(copyinstr(arg9)));",
     "\"lists:map/2\" \"lists:map/2\" \"lists:map/2\" \"lists\" 11"},
    {"trace(copyinstr(arg8));", "fault 1"},
    {"trace(stringof(arg8));", "fault 1"},
    {"trace(self->never);", NULL},
    {"x = \"a\"; y = x; x = \"b\"; trace(y); trace(x); trace(x == y);", "\"a\" \"b\" 0"},
    {"x = \"a\"; x = NULL; trace(x == NULL); trace(x != 0); trace(x < \"\");", "1 0 1"},
    {"x = \"a\"; x = 0; trace(x);", "fault 1"},
    /* variables: 2.4, 5.2 */
    {"x = 5; x += 2; x -= 1; x *= 3; x /= 2; x %= 5; x <<= 3; x |= 3; x &= 0x1e; x ^= 1; x >>= 1; trace(x);", "1"},
    {"x++; trace(x); trace(x++); trace(++x); trace(x--); trace(--x); trace(x);", "1 1 3 3 1 1"},
    {"this->c = (char)127; trace(++this->c); trace(this->c++); trace(this->c); trace(this->c -= 4);", "-128 -128 -127 125"},
    {"trace(x = 300); trace(y = (char)300); trace(x = y = 7);", "300 44 7"},
    {"this->s = \"a\"; trace(this->t = strjoin(this->s, \"b\")); trace(this->t);", "\"ab\" \"ab\""},
    {"a[1, \"k\"] = 5; a[1, \"k\"] += 2; a[2, \"k\"]++; trace(a[1, \"k\"]); trace(a[2, \"k\"]); trace(a[3, \"k\"]); trace(a[(char)1, \"k\"]);", "7 1 0 7"},
    {"a[1] = \"x\"; trace(a[1]); trace(a[2] == NULL); a[1] = 0; trace(a[1] == NULL);", "\"x\" 1 1"},
    {"a[1] = 5; b[a[1]] = 6; trace(b[5]); trace(b[a[1]]); a[b[5]] = a[1] + b[a[1]]; trace(a[6]);", "6 6 11"},
    {"n[probename]++; n[probename]++; trace(n[\"name\"]); trace(n[\"name\"]--); trace(n[\"name\"]);", "2 2 1"},
    {"self->x = arg0; trace(self->x); self->x = 0; trace(self->x); self->a[\"k\"] = 3; self->a[\"k\"] += 4; trace(self->a[\"k\"]);", "7 0 7"},
    {"self->x++; self->x += 5; trace(self->x); trace(self->x++); trace(self->x);", "6 6 7"},
    {"uint8_t u; BEGIN { u = 255; u++; trace(u); u -= 1; trace(u); trace(u + 1); }", "0 255 256"},
    {"int i[int]; BEGIN { i[4294967297] = 9; trace(i[1]); }", "9"},
    {"inline int twice = x * 2; BEGIN { x = 1; }", NULL},
    {"int x; inline int twice = x * 2; BEGIN { x = 4; trace(twice); x = 5; trace(twice + 1); }", "8 11"},
    {"inline char c = 300; BEGIN { trace(c); }", "44"},
    {"BEGIN { x = 1; } END /x == 1/ { trace(x); } END /x != 1/ { trace(0); }", "1"},
    /* the actions are checked first: x is as wide as they make it */
    {"BEGIN /x = 1/ { x = 4294967296; trace(x); }", "4294967296"},
    {"BEGIN /x = 1/ { y = x; x = 4294967296; trace(x); }", "0"},
    {"BEGIN /(this->y = arg0) == 7/ { trace(this->y); }", "7"},
    {"x = 1, y = 2; trace((x, y)); trace(x ? (x = 9, x) : 0);", "2 9"},
    {"trace(arg0 == 7 && strlen(probename) == 4 || arg5 / arg5);", "1"},
    {"trace(pid); trace(id); trace(epid); trace(timestamp == timestamp);", "42 7 1 1"},
    {"printf(\"%s %d\\n\", \"a\", 5); trace(6);", "\"a\" 5 6"},
    {"BEGIN { trace(1); exit(2); trace(3); } END { trace(4); }", "1 2 3"},
};
/* clang-format on */

static void test_values(void **state)
{
    (void)state;
    size_t failed = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[2048];
        if (!values[i].traced)
            continue;
        if (strchr(values[i].body, '{'))
            snprintf(text, sizeof text, "%s", values[i].body);
        else
            snprintf(text, sizeof text, "BEGIN { %s }", values[i].body);
        char *got = run(text);
        if (strcmp(got, values[i].traced) != 0) {
            print_error("%s\nwanted %s\ngot    %s\n", text, values[i].traced, got);
            failed++;
        }
        free(got);
    }
    assert_int_equal(failed, 0);
}

/* -- folding and running agree ----------------------------------------------------------------- */

static uint32_t rnd_state;
static uint32_t rnd(uint32_t n)
{
    rnd_state = rnd_state * 1664525u + 1013904223u;
    return (rnd_state >> 8) % n;
}

/* Writes the same random expression twice: with constants, and with variables that hold them.
 * Divisors are constants that are not 0. ">>" is left out: folding shifts logically, running by
 * type (3.2). */
static void random_expr(struct buf *consts, struct buf *vars, unsigned depth)
{
    static const char *const ops[] = {"+",  "-", "*",  "&",  "|",  "^",  "<<", "<",
                                      "<=", ">", ">=", "==", "!=", "&&", "||", "^^"};
    static const char *const types[] = {"char",     "uint8_t", "short",   "int",
                                        "uint32_t", "long",    "uint64_t"};
    static const char *const consts_of[] = {"0",          "1",        "(char)-1",
                                            "127",        "65535",    "2147483647",
                                            "0x80000000", "(long)-5", "0xffffffffffffffff"};
    if (depth == 0) {
        uint32_t k = rnd(sizeof consts_of / sizeof consts_of[0]);
        buf_adds(consts, consts_of[k]);
        buf_printf(vars, "v%u", k);
        return;
    }
    const char *op;
    switch (rnd(8)) {
    case 0:
        op = rnd(2) ? "-" : "~";
        buf_printf(consts, "%s(", op);
        buf_printf(vars, "%s(", op);
        random_expr(consts, vars, depth - 1);
        break;
    case 1:
        op = types[rnd(sizeof types / sizeof types[0])];
        buf_printf(consts, "(%s)(", op);
        buf_printf(vars, "(%s)(", op);
        random_expr(consts, vars, depth - 1);
        break;
    case 2:
        buf_adds(consts, "(");
        buf_adds(vars, "(");
        random_expr(consts, vars, depth - 1);
        op = rnd(2) ? "/ -3" : "% 7u";
        buf_printf(consts, " %s", op);
        buf_printf(vars, " %s", op);
        break;
    default:
        op = ops[rnd(sizeof ops / sizeof ops[0])];
        buf_adds(consts, "(");
        buf_adds(vars, "(");
        random_expr(consts, vars, depth - 1);
        buf_printf(consts, " %s ", op);
        buf_printf(vars, " %s ", op);
        random_expr(consts, vars, depth - 1);
    }
    buf_adds(consts, ")");
    buf_adds(vars, ")");
}

static void test_folding_agrees_with_running(void **state)
{
    (void)state;
    rnd_state = 12345;
    for (int round = 0; round < 60; round++) {
        struct buf text = BUF_INIT, runs = BUF_INIT, one = BUF_INIT, two = BUF_INIT;
        buf_adds(&text, "BEGIN { ");
        buf_adds(&runs,
                 "BEGIN { v0 = 0; v1 = 1; v2 = (char)-1; v3 = 127; v4 = 65535; v5 = 2147483647;"
                 " v6 = 0x80000000; v7 = (long)-5; v8 = 0xffffffffffffffff; ");
        for (int i = 0; i < 20; i++) {
            buf_reset(&one);
            buf_reset(&two);
            random_expr(&one, &two, 1 + rnd(4));
            buf_printf(&text, "trace(%s); trace((long)(%s)); ", buf_str(&one), buf_str(&one));
            buf_printf(&runs, "trace(%s); trace((long)(%s)); ", buf_str(&two), buf_str(&two));
        }
        buf_adds(&text, "}");
        buf_adds(&runs, "}");
        char *a = run(buf_str(&text)), *b = run(buf_str(&runs));
        if (strcmp(a, b) != 0)
            fail_msg("%s\nfolded %s\nrun    %s\n", buf_str(&text), a, b);
        free(a);
        free(b);
        buf_free(&text);
        buf_free(&runs);
        buf_free(&one);
        buf_free(&two);
    }
}

/* -- values that are made once ----------------------------------------------------------------- */

/* Random expressions over dynamic variables, with stores in all places, are written as D and
 * computed by this model of what D means: operands left to right, values of the moment. What the
 * compiler keeps in registers must not show. */
enum what { LEAF, VAR, ELEM, BIN, TERN, AND, OR, SET, ADDSET, POST, PRE };
struct tree {
    enum what what;
    char op;
    int64_t num; /* LEAF: value; VAR: 0 or 1 */
    struct tree *kid[3];
};
static struct tree trees[4096];
static unsigned ntrees;
static int64_t model_var[2], model_elem[4];

static struct tree *tree(unsigned depth, bool pure)
{
    struct tree *t = &trees[ntrees++];
    memset(t, 0, sizeof *t);
    uint32_t kind = depth == 0 ? rnd(5) : rnd(pure ? 12 : 17);
    t->num = rnd(2);
    if (kind < 1) {
        t->what = LEAF;
        t->num = (int64_t)rnd(7) - 2;
    } else if (kind < 3) {
        t->what = VAR;
    } else if (kind < 5) {
        t->what = ELEM; /* its key reads a variable */
    } else if (kind < 9) {
        t->what = BIN;
        t->op = "+-*^&"[rnd(5)];
        t->kid[0] = tree(depth - 1, pure);
        t->kid[1] = tree(depth - 1, pure);
    } else if (kind < 10) {
        t->what = TERN;
        for (int i = 0; i < 3; i++)
            t->kid[i] = tree(depth - 1, pure);
    } else if (kind < 12) {
        t->what = rnd(2) ? AND : OR;
        t->kid[0] = tree(depth - 1, pure);
        t->kid[1] = tree(depth - 1, pure);
    } else {
        t->what = kind < 14 ? SET : kind < 15 ? ADDSET : kind < 16 ? POST : PRE;
        t->kid[0] = tree(0, true);
        while (t->kid[0]->what == LEAF)
            t->kid[0] = tree(0, true);
        if (t->what == SET || t->what == ADDSET)
            t->kid[1] = tree(depth - 1, false);
    }
    return t;
}

static void write_tree(struct buf *b, const struct tree *t)
{
    static const char *const middle[] = {
        [AND] = " && ", [OR] = " || ", [SET] = " = ", [ADDSET] = " += "};
    switch (t->what) {
    case LEAF: buf_printf(b, "(long)%lld", (long long)t->num); return;
    case VAR: buf_printf(b, "self->v%lld", (long long)t->num); return;
    case ELEM: buf_printf(b, "e[self->v%lld & 3]", (long long)t->num); return;
    case POST:
    case PRE:
        buf_adds(b, t->what == PRE ? "(++" : "(");
        write_tree(b, t->kid[0]);
        buf_adds(b, t->what == PRE ? ")" : "--)");
        return;
    case TERN:
        buf_addc(b, '(');
        write_tree(b, t->kid[0]);
        buf_adds(b, " ? ");
        write_tree(b, t->kid[1]);
        buf_adds(b, " : ");
        write_tree(b, t->kid[2]);
        buf_addc(b, ')');
        return;
    default:
        buf_addc(b, '(');
        write_tree(b, t->kid[0]);
        if (t->what == BIN)
            buf_printf(b, " %c ", t->op);
        else
            buf_adds(b, middle[t->what]);
        write_tree(b, t->kid[1]);
        buf_addc(b, ')');
    }
}

static int64_t *model_place(const struct tree *t)
{
    return t->what == VAR ? &model_var[t->num] : &model_elem[model_var[t->num] & 3];
}

static int64_t model(const struct tree *t)
{
    uint64_t a, b;
    int64_t *place;
    switch (t->what) {
    case LEAF: return t->num;
    case VAR:
    case ELEM: return *model_place(t);
    case TERN: return model(t->kid[0]) ? model(t->kid[1]) : model(t->kid[2]);
    case AND: return model(t->kid[0]) && model(t->kid[1]);
    case OR: return model(t->kid[0]) || model(t->kid[1]);
    case SET: b = (uint64_t)model(t->kid[1]); return *model_place(t->kid[0]) = (int64_t)b;
    case ADDSET: /* place and old value first */
        place = model_place(t->kid[0]);
        a = (uint64_t)*place;
        b = (uint64_t)model(t->kid[1]);
        return *place = (int64_t)(a + b);
    case POST: return (*model_place(t->kid[0]))--;
    case PRE: return ++*model_place(t->kid[0]);
    default:
        a = (uint64_t)model(t->kid[0]);
        b = (uint64_t)model(t->kid[1]);
        return (int64_t)(t->op == '+'   ? a + b
                         : t->op == '-' ? a - b
                         : t->op == '*' ? a * b
                         : t->op == '^' ? (a ^ b)
                                        : (a & b));
    }
}

static void test_kept_values_do_not_show(void **state)
{
    (void)state;
    unsigned long rounds = getenv("ROUNDS") ? strtoul(getenv("ROUNDS"), NULL, 10) : 300;
    rnd_state = 99;
    for (unsigned long round = 0; round < rounds; round++) {
        struct buf d = BUF_INIT, want = BUF_INIT;
        ntrees = 0;
        memset(model_elem, 0, sizeof model_elem);
        model_var[0] = (int64_t)rnd(5);
        model_var[1] = (int64_t)rnd(5);
        buf_printf(
            &d,
            "self int64_t v0, v1; int64_t e[int64_t]; BEGIN { self->v0 = %lld; self->v1 = %lld; } "
            "BEGIN ",
            (long long)model_var[0], (long long)model_var[1]);
        struct tree *pred = rnd(2) ? tree(2, false) : NULL;
        if (pred) {
            buf_adds(&d, "/");
            write_tree(&d, pred);
            buf_adds(&d, "/ ");
        }
        bool runs = !pred || model(pred) != 0;
        buf_adds(&d, "{ ");
        for (uint32_t i = 0, n = 1 + rnd(5); i < n; i++) {
            struct tree *t = tree(3, false);
            buf_adds(&d, "trace(");
            write_tree(&d, t);
            buf_adds(&d, "); ");
            if (runs)
                buf_printf(&want, "%s%lld", want.len ? " " : "",
                           t->what == AND || t->what == OR ? (long long)(int)model(t)
                                                           : (long long)model(t));
        }
        buf_adds(&d, "}");
        char *got = run(buf_str(&d));
        if (strcmp(got, buf_str(&want)) != 0)
            fail_msg("%s\nwanted %s\ngot    %s\n", buf_str(&d), buf_str(&want), got);
        free(got);
        buf_free(&d);
        buf_free(&want);
    }
}

/* More values are worth keeping than there are registers. */
static void test_kept_values_make_room(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    buf_adds(&b, "BEGIN { ");
    for (int i = 1; i <= 20; i++)
        buf_printf(&b, "self->v%d = %d; ", i, i);
    for (int twice = 0; twice < 2; twice++) {
        buf_adds(&b, "trace(0");
        for (int i = 1; i <= 20; i++)
            buf_printf(&b, " + self->v%d", i);
        buf_adds(&b, "); trace(");
        for (int i = 1; i <= 12; i++)
            buf_printf(&b, "self->v%d - (", i);
        buf_adds(&b, "1)))))))))))));");
    }
    buf_adds(&b, " }");
    char *got = run(buf_str(&b));
    assert_string_equal(got, "210 -5 210 -5");
    free(got);
    buf_free(&b);
}

/* -- program arguments ------------------------------------------------------------------------- */

/* Members, elements and pointers, of each class of variable. */
/* clang-format off */
#define S "struct s { char c; short h; int i; long l; unsigned b:3; int d:5; char n[4]; int a[2]; struct s *p; };" \
          "typedef struct s s_t; struct s g; self struct s t; this struct s c; struct s m[int]; int a[4]; self int sa[4]; BEGIN { "
static const struct value memory[] = {
    {S "trace(g.c = -1); trace(g.h = 70000); trace(g.i = -5); trace(g.l = g.i); trace(g.b = 9); trace(g.d = 17); }", "-1 4464 -5 -5 1 -15"},
    {S "trace(self->t.h = 70000); trace(self->t.d = 17); trace(self->t.h); trace(self->t.d); trace(self->t.b); }", "4464 -15 4464 -15 0"},
    {S "trace(m[1].h = 70000); trace(m[1].d--); trace(++m[1].d); trace(m[1].h); trace(m[2].h); }", "4464 0 0 4464 0"},
    {S "this->c.i = 3; trace(this->c.i++); trace(++this->c.i); trace(this->c.i -= 10); trace(this->c.i *= this->c.i); }", "3 5 -5 25"},
    {S "g.i = 1; self->t = g; g.i = 2; this->c = self->t; self->t.i = 3; m[1] = m[2] = self->t; trace(g.i); trace(this->c.i); trace(m[1].i + m[2].i); }", "2 1 6"},
    {S "g.a[1] = 4; self->t.a[g.a[1] - 3] = 5; m[0].a[0] = 6; trace(g.a[0]); trace(self->t.a[1]); trace(m[0].a[0]); }", "0 5 6"},
    {S "a[3] = 9; self->sa[a[3] - 8]++; trace(self->sa[1]); trace(a[3]); trace(a[0]++ + a[0]); trace(*(a + 3)); }", "1 9 1 9"},
    {S "g.i = 7; this->q = (s_t *)((char *)&g.i - 4); trace(this->q->i); trace((*this->q).i); trace(this->q[0].i); trace(this->q->p == NULL); }", "7 7 7 1"},
    {S "this->i = 1; a[this->i++] = 5; trace(this->i); m[this->i++].i++; trace(this->i); trace(m[2].i); }", "2 3 1"},
    {S "this->q = &a[1]; trace(this->q++ == &a[1]); trace(this->q - &a[0]); this->q -= 2; trace(this->q == a); trace(&a[3] - this->q); }", "1 2 1 3"},
    {S "trace(sizeof (g)); trace(sizeof g.n); trace(sizeof (s_t *)); trace(offsetof(s_t, n)); trace(offsetof(struct s, p)); }", "40 4 8 17 32"},
    {S "trace(g.p == 0); g.p = (s_t *)8; trace(g.p); trace((int)g.p); trace(!g.p); trace(g.p ? 1 : 2); trace(g.p && 0 == 0); }", "1 8 8 0 1 1"},
    {S "g.n[0] = 'x'; g.n[1] = 'y'; trace(g.n); trace((string)g.n); this->s = g.n; trace(this->s == g.n); trace(strlen(g.n)); trace(g.n[1]); }", "78790000 \"xy\" 1 2 121"},
    {S "this->s = \"abc\"; trace(this->s[1]); trace(*(this->s + 2)); trace(stringof(this->s + 1)); trace(probename[0]); }", "98 99 \"bc\" 110"},
    {S "trace(strlen(g.n)); g.n[0] = 'x'; trace(strlen(g.n)); g.n[1] = 'x'; trace(strlen(g.n)); }", "0 1 2"},
    {S "this->p = (char *)alloca(4); bcopy(\"abc\", this->p, 4); trace(stringof(this->p)); bcopy(\"x\", this->p, 2); trace(stringof(this->p)); }", "\"abc\" \"x\""},
    {S "this->p = (char *)copyin(arg9, 3); trace(this->p[0] == (stringof(arg9))[0]); this->p[0]++; trace(this->p[0] - (stringof(arg9))[0]); }", "1 1"},
    {S "self->t.i = 1; self->t = 0; trace(self->t.i); m[1].i = 2; m[1] = 0; trace(m[1].i); }", "0 0"},
    {S "trace(a[arg0]); }", "fault 11"},
    {S "a[arg1] = 1; }", "fault 11"},
    {S "self->sa[arg0] = 1; }", "fault 11"},
    {S "trace(*(int *)arg0); }", "fault 2"},
    {S "trace(*(char *)arg0); }", "fault 1"},
    {S "this->c = *(s_t *)NULL; }", "fault 1"},
    {S "self->t = *(s_t *)NULL; }", "fault 1"},
    {S "m[1] = *g.p; }", "fault 1"},
    {S "trace(((s_t *)NULL)->i); }", "fault 1"},
};
#undef S
/* clang-format on */

static void test_memory(void **state)
{
    (void)state;
    size_t failed = 0;
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        char *got = run(memory[i].body);
        if (strcmp(got, memory[i].traced) != 0) {
            print_error("%s\n   wanted %s\n   got    %s\n", memory[i].body, memory[i].traced, got);
            failed++;
        }
        free(got);
    }
    assert_int_equal(failed, 0);
}

struct arguments {
    const char *text;
    const char *args[4];
    const char *tag; /* NULL: it compiles */
    bool argref, defaultargs;
};

/* clang-format off */
static const struct arguments arguments[] = {
    {"BEGIN { x = $1 + 1; }", {"s.d", "5"}, NULL, 0, 0},
    {"BEGIN { x = $1; y = -$1; }", {"s.d", "-0x10"}, NULL, 0, 0},
    {"BEGIN { $1 = 3; trace(foo); }", {"s.d", "foo"}, NULL, 0, 0},
    {"$1 x; BEGIN { }", {"s.d", "int"}, "D_SYNTAX", 0, 0},
    {"BEGIN { x = ($1)3; }", {"s.d", "uint8_t"}, NULL, 0, 0},
    {"BEGIN { x = strlen($1); }", {"s.d", "a b"}, NULL, 0, 0},
    {"BEGIN { x = strlen($1); }", {"s.d", "\"a\""}, NULL, 0, 0},
    {"BEGIN { x = strlen($$1); }", {"s.d", "5"}, NULL, 0, 0},
    {"BEGIN { x = strlen($1); }", {"s.d", "5"}, "D_PROTO_ARG", 0, 0},
    {"BEGIN { x = strlen($$0); }", {"s.d"}, NULL, 0, 0},
    {"BEGIN { x = $1; }", {"s.d", "99999999999999999999"}, "D_MACRO_OFLOW", 0, 0},
    {"BEGIN { x = $1; }", {"s.d", "089"}, "D_IDENT_UNDEF", 0, 0},
    {"BEGIN { x = $1; }", {"s.d"}, "D_MACRO_UNDEF", 0, 0},
    {"BEGIN { x = $1; y = strlen($$1); }", {"s.d"}, NULL, 0, 1},
    {"BEGIN { x = $1; }", {"s.d", "1", "2"}, "D_MACRO_UNUSED", 0, 0},
    {"BEGIN { x = $1; }", {"s.d", "1", "2"}, NULL, 1, 0},
    {"BEGIN { x = $2; }", {"s.d", "1", "2"}, NULL, 0, 0},
    {"p$1::: { }", {"s.d", "1"}, NULL, 0, 0},
    {"BEGIN { printf($$1); }", {"s.d", "hello"}, NULL, 0, 0},
};
/* clang-format on */

static void test_arguments(void **state)
{
    (void)state;
    size_t failed = 0;
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        const struct arguments *w = &arguments[i];
        struct d_text d;
        d_open(&d);
        d.opt.argref = w->argref;
        d.opt.defaultargs = w->defaultargs;
        d_add(&d, COMPILE_SCRIPT, w->text, w->args);
        bool ok =
            w->tag ? d.err == ET_ECOMPILE && strcmp(d.diags.list[0].tag, w->tag) == 0 : d.err == 0;
        if (!ok) {
            char *s = d_complaints(&d);
            print_error("%s %s: wanted %s\n%s", w->text, w->args[1] ? w->args[1] : "",
                        w->tag ? w->tag : "no error", s);
            free(s);
            failed++;
        }
        d_close(&d);
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_folding_agrees_with_running),
        cmocka_unit_test(test_kept_values_do_not_show),
        cmocka_unit_test(test_kept_values_make_room),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
