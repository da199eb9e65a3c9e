/* Any text is safe: deep nesting, huge texts, broken bytes, and memory that runs out anywhere. What
 * is asserted is that the compiler answers with 0, ET_ECOMPILE and a diagnostic, or ET_ENOMEM, and
 * that what it accepts the verifier accepts; the sanitizers watch the rest. */
#include "util/buftext.h"
#include "util/render.h"
#include "d_text.h"

/* Compiles and checks what is always true; returns the error. */
static int compile_any(const char *text, size_t len, enum compile_kind kind)
{
    struct d_text d;
    static const char *const args[] = {"prog", "12", "name", "a text", NULL};
    struct compile_source src = {.kind = kind, .name = "t.d", .text = text, .len = len, .argc = 4};
    src.argv = (char *const *)(uintptr_t)args;
    d_open(&d);
    d.opt.argref = true;
    d.compile = compile_new(&d.opt, &d.diags);
    assert_non_null(d.compile);
    d.err = compile_add(d.compile, &src);
    if (d.err == ET_ECOMPILE)
        assert_true(d.diags.count > 0 && d.diags.count <= DIAG_MAX_ERRORS);
    else
        assert_int_equal(d.err, 0);
    if (d.err == 0 && d_image(&d) == 0 && dif_verify(&d.img, &d.diags) != 0) {
        char *s = d_complaints(&d);
        fail_msg("accepted, but not by the verifier: %.*s\n%s", (int)len, text, s);
    }
    for (size_t i = 0; i < d.diags.count; i++) {
        struct buf b = BUF_INIT;
        diag_render(&d.diags, &d.diags.list[i], &b);
        assert_true(b.len > 0);
        buf_free(&b);
    }
    int err = d.err;
    d_close(&d);
    return err;
}

static int repeated(const char *before, const char *part, unsigned n, const char *middle,
                    const char *end_part, const char *after)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, before);
    for (unsigned i = 0; i < n; i++)
        buf_adds(&b, part);
    buf_adds(&b, middle);
    for (unsigned i = 0; i < n; i++)
        buf_adds(&b, end_part);
    buf_adds(&b, after);
    int err = compile_any(buf_str(&b), b.len, COMPILE_SCRIPT);
    buf_free(&b);
    return err;
}

static void test_nesting(void **state)
{
    (void)state;
    assert_int_equal(repeated("BEGIN { x = ", "(", 60, "1", ")", "; }"), 0);
    assert_int_equal(repeated("BEGIN { x = ", "(", 100000, "1", ")", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = ", "(", 100000, "", "", ""), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = ", "- ", 100000, "1", "", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = ", "(char)", 100000, "1", "", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = ", "sizeof ", 100000, "1", "", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { ", "x = ", 100000, "1", "", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = ", "1 ? ", 100000, "1", " : 2", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = ", "1 ? 2 : ", 100000, "1", "", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = ", "a[", 100000, "1", "]", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = ", "strlen(", 100000, "1", ")", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x = 1", " + 1", 1000, "", "", "; }"), 0);
    assert_int_equal(repeated("BEGIN { x = arg0", " + arg1", 1000, "", "", "; }"), 0);
    assert_int_equal(repeated("BEGIN { x = 1", " + 1", 100000, "", "", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { x", "[1]", 100000, "", "", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { 1", ", 1", 100000, "", "", "; }"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { ", "if (1) { x = 1; ", 300, "", "}", "}"), 0);
    assert_int_equal(repeated("BEGIN { ", "if (1) {", 100000, "", "}", "}"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { ", "if (1) ", 100000, "x = 1;", "", "}"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { ", "if (1) ; else ", 100000, ";", "", "}"), ET_ECOMPILE);
    assert_int_equal(repeated("BEGIN { ", "if (arg0) trace(arg1); ", 1000, "", "", "}"), 0);
    assert_int_equal(repeated("BEGIN ", "{", 100000, "", "}", ""), ET_ECOMPILE);
}

static void test_large(void **state)
{
    (void)state;
    assert_int_equal(repeated("BEGIN { ", "x++; ", 20000, "", "", "}"), 0);
    /* more instructions than a clause may have */
    assert_int_equal(repeated("BEGIN { ", "x++; ", 40000, "", "", "}"), ET_ECOMPILE);
    assert_int_equal(repeated("", "BEGIN { x++; } ", 5000, "", "", ""), 0);
    assert_int_equal(repeated("BEGIN", ", BEGIN", 5000, "", "", "{ x = 1; }"), 0);
    assert_int_equal(repeated("BEGIN { printf(\"", "%d", 100, "\"", ", 1", "); }"), 0);
    assert_int_equal(repeated("BEGIN { @a[1", ", 1", 8, "] = count(); }", "", ""), 0);
    assert_int_equal(repeated("BEGIN { x = \"", "long text ", 20000, "\"; }", "", ""), 0);
}

/* Inlines that double each other would need 2^40 nodes. */
static void test_inline_bomb(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    buf_adds(&b, "int x; inline int i0 = x;\n");
    for (int i = 1; i < 40; i++)
        buf_printf(&b, "inline int i%d = i%d + i%d;\n", i, i - 1, i - 1);
    buf_adds(&b, "BEGIN { y = i39; }");
    assert_int_equal(compile_any(buf_str(&b), b.len, COMPILE_SCRIPT), ET_ECOMPILE);
    buf_free(&b);
}

/* clang-format off */
static const char *const samples[] = {
    "#!/usr/bin/erltrace -s\n#pragma D option quiet\n#pragma D option strsize=64\n/* c */\n"
    "int a[string, int], b; self string s; this uint8_t u;\ninline int K = 1 << 4;\n"
    "BEGIN, tick-1s /a[\"x\", 1] == 0 && (b = K) != 3 || !this->u < 1/\n"
    "{ b += a[\"y\", 2]++ * 3; self->s = strjoin(\"a\\n\", $$2); this->u = (char)b ? 'c' : -1;\n"
    "  @[probefunc, b] = quantize(timestamp - b, 2); @l = lquantize(arg0, 0, 100, 10);\n"
    "  printf(\"%-10s %5d\\n\", self->s, b); printa(\"%s %d %@d\\n\", @); trunc(@, 5); exit(0); }\n",
    "erlang*:lists:map/2:entry, erlang$1:::process-*, x:'a\\'b\\\\*':g/1:y /pid == $target/ { self->t[arg0] = timestamp; }\n"
    "erlang*:lists:map/2:return /self->t[arg0]/ { @t[copyinstr(arg1)] = avg(timestamp - self->t[arg0]);\n"
    "  self->t[arg0] = 0; x = sizeof (uint64_t) + sizeof self->t[0]; trace(x ^^ 0x1fUL); normalize(@t, 1000); }\n",
    ("BEGIN { @a = llquantize(arg0, 10, 0, 6, 20); z = arg0 > 3 ? \"a\" : \"b\"; w = stringof(arg1), ~1; }\n"
    "# 12 \"x.d\" 1\nEND { clear(@a); denormalize(@a); n--; n <<= 2; trace((long)n % 3u); }"),
    "#pragma D attributes Evolving/Stable/ISA pick\n#pragma D binding \"1.0\" pick\n"
    "inline int pick[int a, string s] = strlen(s) > a ? a : index(s, \"x\", a);\n"
    "BEGIN { self->id = speculation(); if (pick[1, \"ax\"] == 1) { trace(json(\"{}\", \"a\")); } else if (rand() & 1) exit(1);\n"
    "  else { this->t = strtok(substr(\"a,b\", 0, -1), \",\"); while_ = 1; } discard(0); x = strtok(NULL, \",\"); }\n"
    "END /self->id/ { speculate(self->id); printf(\"%s\", toupper(lltostr(htonl(5), 16))); setopt(\"quiet\", cleanpath(\"/a/../b\")); }\n"
    "END { commit(self->id); } END { system(\"x%d\", 1); freopen(\"\"); ftruncate(); }",
    "typedef struct s { int a, *p; unsigned b:3, :2; char n[4]; union u { long l; } u; struct s *q; int (*f)(int, ...); } s_t;\n"
    "enum e { A, B = 7 }; s_t g; self s_t t; s_t m[string, s_t]; int v[2][3]; extern int x; int f(void);\n"
    "BEGIN { g.b++; self->t.n[arg0] = 'x'; m[\"a\", g].u.l -= B; v[1][2] = *(int *)arg0; this->p = (s_t *)alloca(sizeof (s_t));\n"
    "  this->p->q = &this->p[1]; this->p++; bcopy(g.n, this->p, 4); *this->p = self->t = g; trace(g); tracemem(arg1, 8, arg2);\n"
    "  print(this->p->q); @[g, g.n] = sum(&v[1] - &v[0]); y = offsetof(s_t, n) + sizeof v[0]; s = g.n; printf(\"%s %p\", g.n, g.p); }\n",
};
enum { NSAMPLES = sizeof samples / sizeof samples[0] };
/* clang-format on */

static void test_samples_compile(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        assert_int_equal(compile_any(samples[i], strlen(samples[i]), COMPILE_SCRIPT), 0);
}

static uint32_t rnd_state = 1;
static uint32_t rnd(uint32_t n)
{
    rnd_state = rnd_state * 1664525u + 1013904223u;
    return (rnd_state >> 8) % n;
}

/* Samples with bytes changed, removed, doubled, and pieces of one put into another. */
static void test_mutations(void **state)
{
    (void)state;
    static const char pieces[] = "{}()[];:,/*#@$\"'\\-+<>=!?&|^~%.\n 09azAZ_`\0\377";
    unsigned long rounds = getenv("ROUNDS") ? strtoul(getenv("ROUNDS"), NULL, 10) : 3000;
    for (unsigned long i = 0; i < rounds; i++) {
        char text[4096];
        const char *s = samples[rnd(NSAMPLES)];
        size_t n = strlen(s);
        memcpy(text, s, n);
        for (uint32_t k = 1 + rnd(6); k > 0 && n > 2; k--) {
            size_t at = rnd((uint32_t)n), len = 1 + rnd(8);
            switch (rnd(5)) {
            case 0: text[at] = pieces[rnd(sizeof pieces - 1)]; break;
            case 1: /* cut out */
                len = len < n - at ? len : n - at;
                memmove(text + at, text + at + len, n - at - len);
                n -= len;
                break;
            case 2: n = at + 1; break;
            case 3: /* put in from elsewhere */
                s = samples[rnd(NSAMPLES)];
                if (n + len < sizeof text) {
                    memmove(text + at + len, text + at, n - at);
                    memcpy(text + at, s + rnd((uint32_t)(strlen(s) - len)), len);
                    n += len;
                }
                break;
            default: text[at] = (char)rnd(256);
            }
        }
        /* a copy of exactly that size, so that reading past the end is seen */
        char *exact = malloc(n);
        assert_non_null(exact);
        memcpy(exact, text, n);
        compile_any(exact, n, (enum compile_kind)rnd(6));
        free(exact);
    }
}

/* The n-th allocation fails, for each n until none is left to fail. */
static void sweep(const char *text, int want)
{
    for (unsigned long n = 1;; n++) {
        struct d_text d;
        d_open(&d);
        d.opt.argref = true;
        static const char *const args[] = {"prog", "12", "name", NULL};
        et_alloc_fail_after(n);
        d_add(&d, COMPILE_SCRIPT, text, args);
        d_image(&d);
        et_alloc_fail_after(0);
        int err = d.err;
        d_close(&d);
        if (err == want && err != ET_ENOMEM) {
            /* Diagnostics may have been lost, nothing else: done once nothing fails any more. */
            unsigned long before = et_alloc_count();
            d_open(&d);
            d.opt.argref = true;
            d_add(&d, COMPILE_SCRIPT, text, args);
            d_image(&d);
            unsigned long used = et_alloc_count() - before;
            assert_int_equal(d.err, want);
            d_close(&d);
            if (n > used)
                return;
        } else {
            assert_true(err == ET_ENOMEM || err == want);
        }
        assert_true(n < 100000);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    sweep("int b; BEGIN /b/ { @[probefunc] = count(); printf(\"%s %d\", strjoin(\"a\", $$2), b);"
          " self->t[arg0, \"x\"] = timestamp; x = 1 << 40; }",
          0);
    sweep("BEGIN { x = y; foo(1); printf(\"%d\"); } END { ; ) }", ET_ECOMPILE);
    sweep(samples[2], 0);
    sweep(samples[3], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),     cmocka_unit_test(test_large),
        cmocka_unit_test(test_inline_bomb), cmocka_unit_test(test_samples_compile),
        cmocka_unit_test(test_mutations),   cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
