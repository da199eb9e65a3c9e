/* What the compiler makes of D: the instructions of clauses, and the tables beside them. Hot
 * clauses are written out whole, since their length is what an event costs. */
#include "d_text.h"
#include "lang/lang.h"
#include "util/buftext.h"

/* -- instructions as text: "ldarg r0 1; pushtv r0; call r0 copyinstr" -------------------------- */

static void show(const struct dif_image *img, uint32_t in, struct buf *b)
{
    static const char *const names[256] = {
#define DIF_OP(num, name, fmt, text) [num] = #name,
#include "dif/opcodes.list"
#undef DIF_OP
    };
    static const char *const formats[256] = {
#define DIF_OP(num, name, fmt, text) [num] = #fmt,
#include "dif/opcodes.list"
#undef DIF_OP
    };
    unsigned op = in >> 24, a = in >> 16 & 255, x = in >> 8 & 255, c = in & 255, imm = in & 65535;
    const char *f = formats[op];
    for (const char *s = names[op]; *s; s++)
        buf_addc(b, (char)(*s | 32));
    if (op == DIF_OP_LDARG)
        buf_printf(b, " r%u %u", a, c);
    else if (op == DIF_OP_SETI)
        buf_printf(b, " r%u %d", a, (int16_t)imm);
    else if (op == DIF_OP_SETX)
        buf_printf(b, " r%u #%lld", a, (long long)img->ints[imm]);
    else if (op == DIF_OP_SETS)
        buf_printf(b, " r%u \"%s\"", a, dif_str(img, imm));
    else if (op == DIF_OP_LDB)
        buf_printf(b, " r%u %s", a, dif_builtin_info(imm)->name);
    else if (op == DIF_OP_CALL)
        buf_printf(b, " r%u %s", a, dif_subr_info(imm)->name);
    else if (strcmp(f, "NONE") == 0)
        return;
    else if (strcmp(f, "A") == 0)
        buf_printf(b, " r%u", a);
    else if (strcmp(f, "AB") == 0 || strcmp(f, "RAB") == 0)
        buf_printf(b, " r%u r%u", a, x);
    else if (strcmp(f, "ABC") == 0)
        buf_printf(b, " r%u r%u r%u", a, x, c);
    else if (strstr(f, "AI"))
        buf_printf(b, " r%u %u", a, imm);
    else if (strcmp(f, "I") == 0)
        buf_printf(b, " %u", imm);
    else if (strcmp(f, "ABN") == 0)
        buf_printf(b, " r%u r%u %u", a, x, c);
    else if (strcmp(f, "T") == 0)
        buf_printf(b, " %u", in & 0xffffff);
}

static char *code_of(const struct dif_image *img, uint32_t clause)
{
    struct buf b = BUF_INIT;
    const struct dif_clause *c = &img->clauses[clause];
    for (uint32_t i = 0; i < c->ncode; i++) {
        if (i > 0)
            buf_adds(&b, "; ");
        show(img, img->code[c->code + i], &b);
    }
    char *s = strdup(buf_str(&b));
    buf_free(&b);
    return s;
}

struct shape {
    const char *text; /* the last clause is looked at */
    const char *code;
};

/* clang-format off */
static const struct shape shapes[] = {
    /* records or not */
    {"BEGIN {}", "recb; ret"},
    {"BEGIN { ; }", "recb; ret"},
    {"BEGIN { x = 1; }", "seti r0 1; stgs r0 0; ret"},
    {"BEGIN { trace(1); }", "recb; seti r0 1; rec r0 0; ret"},
    {"BEGIN { printf(\"x\"); }", "recb; ret"},
    {"BEGIN { exit(3); }", "recb; seti r0 3; rec r0 0; exit; ret"},
    {"BEGIN { @ = count(); }", "agg 0; ret"},
    {"BEGIN { @ = count(); clear(@); }", "recb; agg 0; ret"},
    {"BEGIN { @ = count(); trunc(@, 5); }", "recb; agg 0; seti r0 5; rec r0 0; ret"},
    {"BEGIN { printf(\"%d %s\", arg1, probename); trace(2); }",
     "recb; ldarg r0 1; rec r0 0; ldb r0 probename; rec r0 1; seti r0 2; rec r0 2; ret"},
    /* the clauses that every event runs through */
    {"x:::y { @[copyinstr(arg1)] = count(); }", "ldarg r0 1; pushtv r0; call r0 copyinstr; pushtr r0; agg 0; ret"},
    {"x:::y { self->t[arg0] = timestamp; }", "ldb r0 timestamp; ldarg r1 0; pushtv r1; sttaa r0 0; ret"},
    {"x:::y { n++; }", "seti r0 1; addgs r0 0; ret"},
    {"uint64_t n; x:::y { n += arg0; }", "ldarg r0 0; addgs r0 0; ret"},
    {"self uint64_t n; x:::y { self->n -= arg0; }", "ldarg r0 0; seti r1 0; sub r0 r1 r0; addts r0 0; ret"},
    {"x:::y { n[probefunc]++; }", "seti r0 1; ldb r1 probefunc; pushtr r1; addgaa r0 0; ret"},
    {"x:::y { self->n[1]--; }", "seti r0 -1; seti r1 1; pushtv r1; addtaa r0 0; ret"},
    {"x:::y { self->t = timestamp; } x:::z /self->t/ { @[probefunc] = quantize(timestamp - self->t); self->t = 0; }",
     "ldts r0 0; tst r0; be 13; ldb r1 probefunc; pushtr r1; ldb r1 timestamp; sub r1 r1 r0; pushtv r1; "
     "seti r0 1; pushtv r0; agg 0; seti r0 0; stts r0 0; ret"},
    /* predicates end in the branch that they need, nothing else */
    {"x:::y /arg0 == 5/ { x = 1; }", "ldarg r0 0; seti r1 5; cmp r0 r1; bne 6; seti r0 1; stgs r0 0; ret"},
    {"x:::y /arg0/ { trace(1); }", "ldarg r0 0; tst r0; be 6; recb; seti r0 1; rec r0 0; ret"},
    {"x:::y /!arg0/ {}", "ldarg r0 0; tst r0; bne 4; recb; ret"},
    {"x:::y /arg0 != 0/ {}", "ldarg r0 0; tst r0; be 4; recb; ret"},
    {"x:::y /arg0 && arg1 < 3/ {}", "ldarg r0 0; tst r0; be 8; ldarg r0 1; seti r1 3; cmp r0 r1; bge 8; recb; ret"},
    {"x:::y /arg0 || arg1/ {}", "ldarg r0 0; tst r0; bne 6; ldarg r0 1; tst r0; be 7; recb; ret"},
    {"x:::y /!(arg0 || arg1)/ {}", "ldarg r0 0; tst r0; bne 7; ldarg r0 1; tst r0; bne 7; recb; ret"},
    {"x:::y /timestamp > 5/ {}", "ldb r0 timestamp; seti r1 5; cmp r0 r1; bleu 5; recb; ret"},
    {"x:::y /probefunc == \"f\"/ {}", "ldb r0 probefunc; sets r1 \"f\"; scmp r0 r1; bne 5; recb; ret"},
    {"x:::y /probefunc != NULL/ {}", "ldb r0 probefunc; tst r0; be 4; recb; ret"},
    {"x:::y /1/ {}", "seti r0 1; tst r0; be 4; recb; ret"},
    /* calls that count each are made each time; strtok(NULL, s) has one argument */
    {"x:::y { a = strtok(\"a\", \"b\"); a = strtok(NULL, \"b\"); a = strtok(NULL, \"b\"); }",
     "sets r0 \"a\"; pushtr r0; sets r0 \"b\"; pushtr r0; call r0 strtok; stgs r0 0; "
     "sets r0 \"b\"; pushtr r0; call r0 strtok; stgs r0 0; sets r0 \"b\"; pushtr r0; call r0 strtok; stgs r0 0; ret"},
    {"x:::y { n = rand() + rand(); }", "call r0 rand; call r1 rand; add r0 r0 r1; stgs r0 0; ret"},
    {"x:::y { a = strlen(copyinstr(arg0)) + strlen(copyinstr(arg0)); }",
     "ldarg r0 0; pushtv r0; call r0 copyinstr; pushtr r0; call r1 strlen; add r0 r1 r1; stgs r0 0; ret"},
    /* speculation: the record begins behind speculate */
    {"x:::y { self->s = speculation(); speculate(self->s); trace(1); }",
     "call r0 speculation; stts r0 0; ldts r0 0; spec r0; recb; seti r0 1; rec r0 0; ret"},
    {"x:::y { speculate(arg0); }", "ldarg r0 0; spec r0; recb; ret"},
    {"x:::y { commit(arg0); discard(arg1); }", "ldarg r0 0; commit r0; ldarg r0 1; discard r0; ret"},
    {"x:::y { discard(arg1); trace(1); }", "recb; ldarg r0 1; discard r0; seti r0 1; rec r0 0; ret"},
    {"x:::y { if (arg0) speculate(arg1); trace(1); }",
     "ldarg r0 0; tst r0; be 7; ldarg r0 1; spec r0; recn 0; rece; recn 1; seti r0 1; rec r0 0; rece; ret"},
    /* branches: a record for each run of statements that records */
    {"x:::y { if (arg0) x = 1; }", "ldarg r0 0; tst r0; be 5; seti r0 1; stgs r0 0; ret"},
    {"x:::y { if (arg0) trace(1); else trace(2); x = 3; }",
     "ldarg r0 0; tst r0; be 8; recn 0; seti r0 1; rec r0 0; rece; ba 12; "
     "recn 1; seti r0 2; rec r0 1; rece; seti r0 3; stgs r0 0; ret"},
    {"x:::y /arg1/ { trace(1); if (arg0) { } trace(2); }",
     "ldarg r0 1; tst r0; be 14; recn 0; seti r0 1; rec r0 0; rece; ldarg r0 0; tst r0; be 10; "
     "recn 1; seti r0 2; rec r0 1; rece; ret"},
    /* what is kept outlives a branch, unless the branch stores to it */
    {"self int x; x:::y { if (self->x) x = self->x; y = self->x; }",
     "ldts r0 0; tst r0; be 4; stgs r0 1; stgs r0 2; ret"},
    {"self int x; x:::y { if (self->x) self->x = 1; y = self->x; }",
     "ldts r0 0; tst r0; be 5; seti r0 1; stts r0 0; ldts r0 0; stgs r0 1; ret"},
    /* the tuple: what stands before a value that needs it waits */
    {"x:::y { @[arg0, copyinstr(arg1), arg2] = count(); }",
     "ldarg r0 0; ldarg r1 1; pushtv r1; call r1 copyinstr; pushtv r0; pushtr r1; ldarg r0 2; pushtv r0; agg 0; ret"},
    {"x:::y { x = strjoin(\"a\", strjoin(\"b\", \"c\")); }",
     "sets r0 \"a\"; sets r1 \"b\"; pushtr r1; sets r1 \"c\"; pushtr r1; call r1 strjoin; pushtr r0; pushtr r1; call r0 strjoin; stgs r0 0; ret"},
    {"x:::y { a[1] = 2; b[a[1]] = 3; }",
     "seti r0 2; seti r1 1; pushtv r1; stgaa r0 0; seti r0 3; seti r1 1; pushtv r1; ldgaa r1 0; pushtv r1; stgaa r0 1; ret"},
    {"x:::y { @[1, arg0 ? 2 : 3] = sum(4); }",
     "seti r0 1; pushtv r0; ldarg r0 0; tst r0; be 7; seti r0 2; ba 8; seti r0 3; pushtv r0; seti r0 4; pushtv r0; agg 0; ret"},
    /* what is needed again is kept */
    {"x:::y /sent[copyinstr(arg1)]/ { @ = sum(timestamp - sent[copyinstr(arg1)]); sent[copyinstr(arg1)] = 0; }", NULL},
    {"uint64_t sent[string]; x:::y /sent[copyinstr(arg1)]/ { @ = sum(timestamp - sent[copyinstr(arg1)]); sent[copyinstr(arg1)] = 0; }",
     "ldarg r0 1; pushtv r0; call r0 copyinstr; pushtr r0; ldgaa r1 0; tst r1; be 14; "
     "ldb r2 timestamp; sub r2 r2 r1; pushtv r2; agg 0; seti r1 0; pushtr r0; stgaa r1 0; ret"},
    {"self int x; x:::y { trace(self->x); trace(self->x); self->x = 1; trace(self->x); trace(self->x); }",
     "recb; ldts r0 0; rec r0 0; rec r0 1; seti r0 1; stts r0 0; ldts r0 0; rec r0 2; rec r0 3; ret"},
    {"self int x; x:::y /arg0 || self->x/ { trace(self->x); }",
     "ldarg r0 0; tst r0; bne 6; ldts r0 0; tst r0; be 9; recb; ldts r0 0; rec r0 0; ret"},
    {"self int x; x:::y /arg0 && self->x > 3/ { trace(self->x); }",
     "ldarg r0 0; tst r0; be 9; ldts r0 0; seti r1 3; cmp r0 r1; ble 9; recb; rec r0 0; ret"},
    /* arithmetic: by type, cut only where it shows */
    {"x:::y { x = arg0 / 2; }", "ldarg r0 0; seti r1 2; sdiv r0 r0 r1; stgs r0 0; ret"},
    {"x:::y { x = timestamp / 2; }", "ldb r0 timestamp; seti r1 2; udiv r0 r0 r1; stgs r0 0; ret"},
    {"x:::y { x = timestamp % 2; y = arg0 % 2; }",
     "ldb r0 timestamp; seti r1 2; urem r0 r0 r1; stgs r0 0; ldarg r0 0; seti r1 2; srem r0 r0 r1; stgs r0 1; ret"},
    {"x:::y { x = timestamp >> 1; y = arg0 >> 1; }",
     "ldb r0 timestamp; seti r1 1; srl r0 r0 r1; stgs r0 0; ldarg r0 0; seti r1 1; sra r0 r0 r1; stgs r0 1; ret"},
    {"char c; x:::y { c = arg0; }", "ldarg r0 0; stgs r0 0; ret"},
    {"char c; int i; x:::y { i = c = arg0; }", "ldarg r0 0; stgs r0 0; exts r0 r0 1; stgs r0 1; ret"},
    {"x:::y { x = (char)arg0; }", "ldarg r0 0; exts r0 r0 1; stgs r0 0; ret"},
    {"x:::y { x = (uint16_t)arg0; }", "ldarg r0 0; extu r0 r0 2; stgs r0 0; ret"},
    {"x:::y { x = (uint64_t)arg0; }", "ldarg r0 0; stgs r0 0; ret"},
    {"x:::y { x = (int)pid; }", "ldb r0 pid; stgs r0 0; ret"},
    {"int i; x:::y { x = (int)(i + i); }", "ldgs r0 0; ldgs r1 0; add r0 r0 r1; exts r0 r0 4; stgs r0 1; ret"},
    {"x:::y { x = -arg0; x = ~arg0; }", "ldarg r0 0; seti r1 0; sub r0 r1 r0; stgs r0 0; ldarg r0 0; not r0 r0; stgs r0 0; ret"},
    {"int i; x:::y { i++; }", "ldgs r0 0; seti r1 1; add r0 r0 r1; stgs r0 0; ret"},
    {"x:::y { x++; y = x++; }", "seti r0 1; addgs r0 0; seti r0 1; addgs r0 0; seti r1 -1; add r0 r0 r1; stgs r0 1; ret"},
    {"x:::y { x++; y = --x; }", "seti r0 1; addgs r0 0; seti r0 -1; addgs r0 0; stgs r0 1; ret"},
    {"x:::y { this->x++; }", "ldls r0 0; seti r1 1; add r0 r0 r1; stls r0 0; ret"},
    {"x:::y { x++; x += x++; }",
     "seti r0 1; addgs r0 0; ldgs r0 0; seti r1 1; addgs r1 0; seti r2 -1; add r1 r1 r2; add r0 r0 r1; stgs r0 0; ret"},
    {"int a[int]; x:::y { a[arg0] *= 3; }",
     "ldarg r0 0; pushtv r0; ldgaa r1 0; seti r2 3; mul r1 r1 r2; pushtv r0; stgaa r1 0; ret"},
    {"x:::y { x = stringof(arg1); }", "ldarg r0 1; pushtv r0; call r0 strdup; stgs r0 0; ret"},
    {"x:::y { x = arg0, arg1; y = (1, 2); }", "ldarg r0 0; stgs r0 0; ldarg r0 1; seti r0 1; seti r0 2; stgs r0 1; ret"},
    /* constants */
    {"x:::y { trace(32767); trace(32768); trace(-32768); trace(-32769); }",
     "recb; seti r0 32767; rec r0 0; setx r0 #32768; rec r0 1; seti r0 -32768; rec r0 2; setx r0 #-32769; rec r0 3; ret"},
    {"x:::y { trace(1 ? 2 : nothing); }", "recb; seti r0 2; rec r0 0; ret"},
    {"inline int two = 1 + 1; x:::y { trace(two * 3); }", "recb; seti r0 6; rec r0 0; ret"},
    {"inline int next = x + 1; int x; x:::y { trace(1); }", NULL},
    {"int x; inline int next = x + 1; x:::y { trace(next); }", "recb; ldgs r0 0; seti r1 1; add r0 r0 r1; exts r0 r0 4; rec r0 0; ret"},
    {"int x; inline int alias = x; x:::y { alias = 3; }", "seti r0 3; stgs r0 0; ret"},
    {"inline string who = \"me\"; x:::y { trace(who); }", "recb; sets r0 \"me\"; rec r0 0; ret"},
};
/* clang-format on */

static void test_shapes(void **state)
{
    (void)state;
    size_t failed = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct d_text d;
        if (!shapes[i].code) { /* an inline of a name that does not exist yet */
            d_open(&d);
            assert_int_equal(d_add(&d, COMPILE_SCRIPT, shapes[i].text, NULL), ET_ECOMPILE);
            d_close(&d);
            continue;
        }
        d_must(&d, shapes[i].text);
        char *s = code_of(&d.img, d.img.nclauses - 1);
        if (strcmp(s, shapes[i].code) != 0) {
            print_error("%s\nwanted %s\ngot    %s\n", shapes[i].text, shapes[i].code, s);
            failed++;
        }
        free(s);
        d_close(&d);
    }
    assert_int_equal(failed, 0);
}

/* -- tables ------------------------------------------------------------------------------------ */

static void assert_type(const struct dif_type *t, enum dif_kind kind, uint32_t size)
{
    assert_int_equal(t->kind, kind);
    assert_int_equal(t->size, size);
}

static void test_parts(void **state)
{
    (void)state;
    struct d_text d;
    d_must(&d, "BEGIN { trace('a'); trace(0x80000000); trace(1u); trace(4294967296); trace(1ul);"
               " trace((char)1); trace((uint16_t)1); trace(\"x\"); trace(sizeof (int));"
               " trace((char)1 + (char)1); trace((char)1 + (unsigned char)1); trace(1 == 2);"
               " trace(-1); trace(probeprov); trace(cpu); trace(id); }");
    static const struct dif_type want[] = {
        {DIF_INT, 4},  {DIF_UINT, 4},     {DIF_UINT, 4}, {DIF_INT, 8}, {DIF_UINT, 8}, {DIF_INT, 1},
        {DIF_UINT, 2}, {DIF_STRING, 256}, {DIF_UINT, 8}, {DIF_INT, 1}, {DIF_UINT, 1}, {DIF_INT, 4},
        {DIF_INT, 4},  {DIF_STRING, 256}, {DIF_INT, 4},  {DIF_UINT, 4}};
    assert_int_equal(d.img.nparts, sizeof want / sizeof want[0]);
    for (uint32_t i = 0; i < d.img.nparts; i++)
        assert_type(&d.img.parts[i], want[i].kind, want[i].size);
    d_close(&d);
}

/* What tracemem() and print() record, and how print() is described. */
static void test_bytes(void **state)
{
    (void)state;
    struct d_text d;
    d_must(&d, "enum e { A, B = 3 }; struct s { char n[2]; enum e e; unsigned b:3; struct s *p; "
               "union { int i; } u; } g; BEGIN { trace(g); tracemem(arg0, 20); "
               "tracemem(arg0, 4, arg1); print((struct s *)arg0); @[g] = count(); }");
    static const struct dif_type want[] = {{DIF_BYTES, 32}, {DIF_BYTES, 20}, {DIF_BYTES, 4},
                                           {DIF_INT, 8},    {DIF_UINT, 8},   {DIF_BYTES, 32}};
    assert_int_equal(d.img.nparts, sizeof want / sizeof want[0]);
    for (uint32_t i = 0; i < d.img.nparts; i++)
        assert_type(&d.img.parts[i], want[i].kind, want[i].size);
    assert_type(&d.img.vars[0].type, DIF_BYTES, 32);
    assert_type(&d.img.aggs[0].keys.key[0], DIF_BYTES, 32);
    assert_int_equal(d.img.actions[3].kind, ACT_PRINT);
    assert_string_equal(dif_str(&d.img, d.img.actions[3].format),
                        "s32,struct s;m0,0,0,n;a2,char [2];c1,char;m4,0,0,e;e4,enum e;n0,A;n3,B;}"
                        "m8,0,3,b;u4,unsigned int;m16,0,0,p;p8,struct s *;"
                        "m24,0,0,u;s4,union;m0,0,0,i;d4,int;}}");
    d_close(&d);
}

static void test_actions(void **state)
{
    (void)state;
    struct d_text d;
    d_must(&d, "BEGIN\n/1/\n{\n    x = 1;\n    @a[x] = count(); @b[1] = sum(2);\n"
               "  printf(\"%d %s\\n\", x, \"y\"); printa(\"%d %@d\\n\", @b, @a);\n"
               "  trunc(@a); trunc(@a, 3); normalize(@b, 1000); denormalize(@b); clear(@a);"
               " exit(2); printa(@a); }");
    const struct dif_clause *c = &d.img.clauses[0];
    const struct dif_action *a = d.img.actions;
    static const struct {
        enum word_action kind;
        uint32_t nparts, nrefs, line, col;
    } want[] = {
        {ACT_EXPR, 0, 0, 4, 5},   {ACT_AGG, 0, 1, 5, 5},        {ACT_AGG, 0, 1, 5, 22},
        {ACT_PRINTF, 2, 0, 6, 3}, {ACT_PRINTA, 0, 2, 6, 30},    {ACT_TRUNC, 0, 1, 7, 3},
        {ACT_TRUNC, 1, 1, 7, 14}, {ACT_NORMALIZE, 1, 1, 7, 28}, {ACT_DENORMALIZE, 0, 1, 7, 49},
        {ACT_CLEAR, 0, 1, 7, 66}, {ACT_EXIT, 1, 0, 7, 77},      {ACT_PRINTA, 0, 1, 7, 86},
    };
    assert_int_equal(d.img.nclauses, 1);
    assert_int_equal(c->nactions, sizeof want / sizeof want[0]);
    assert_int_equal(c->npred, 3);
    uint32_t part = 0, pc = c->npred + 1;
    for (uint32_t i = 0; i < c->nactions; i++) {
        assert_int_equal(a[i].kind, want[i].kind);
        assert_int_equal(a[i].nparts, want[i].nparts);
        assert_int_equal(a[i].nrefs, want[i].nrefs);
        assert_int_equal(a[i].line, want[i].line);
        assert_int_equal(a[i].col, want[i].col);
        assert_int_equal(a[i].part, part);
        assert_int_equal(a[i].pc, pc);
        part += a[i].nparts;
        pc += a[i].npc;
    }
    assert_int_equal(pc, c->ncode - 1);
    assert_int_equal(part, c->nparts);
    assert_true(c->records);
    assert_string_equal(dif_str(&d.img, a[3].format), "%d %s\n");
    assert_string_equal(dif_str(&d.img, a[4].format), "%d %@d\n");
    assert_int_equal(a[11].format, DIF_NO_STRING);
    assert_int_equal(d.img.refs[a[4].ref], 1); /* @b before @a, as written */
    assert_int_equal(d.img.refs[a[4].ref + 1], 0);
    assert_type(&d.img.parts[2], DIF_INT, 8);  /* trunc */
    assert_type(&d.img.parts[3], DIF_UINT, 8); /* normalize */
    assert_type(&d.img.parts[4], DIF_INT, 4);  /* exit */
    d_close(&d);
}

static void test_aggregations(void **state)
{
    (void)state;
    struct d_text d;
    d_must(
        &d,
        "x:::y { @b[probefunc, pid, (char)1] = count(); @ = lquantize(arg0, -10, 100, 5);"
        " @a[1] = llquantize(arg0, 10, 0, 6, 20, arg1); @q = quantize(1); @l = lquantize(1, 0, 9);"
        " @s = stddev(1); @b[\"x\", 1, 2] = count(); }");
    const struct dif_agg *a = d.img.aggs;
    assert_int_equal(d.img.naggs, 6);
    assert_string_equal(dif_str(&d.img, a[0].name), "b");
    assert_int_equal(a[0].func, AGG_COUNT);
    assert_int_equal(a[0].keys.n, 3);
    assert_type(&a[0].keys.key[0], DIF_STRING, 256);
    assert_type(&a[0].keys.key[1], DIF_INT, 4);
    assert_type(&a[0].keys.key[2], DIF_INT, 1);
    assert_string_equal(dif_str(&d.img, a[1].name), "_");
    assert_int_equal(a[1].func, AGG_LQUANTIZE);
    assert_int_equal(a[1].keys.n, 0);
    assert_int_equal(a[1].param[0], -10);
    assert_int_equal(a[1].param[1], 100);
    assert_int_equal(a[1].param[2], 5);
    assert_int_equal(a[2].func, AGG_LLQUANTIZE);
    assert_int_equal(a[2].param[0], 10);
    assert_int_equal(a[2].param[1], 0);
    assert_int_equal(a[2].param[2], 6);
    assert_int_equal(a[2].param[3], 20);
    assert_int_equal(a[3].func, AGG_QUANTIZE);
    assert_int_equal(a[4].param[2], 1); /* the step that was left out */
    assert_int_equal(a[5].func, AGG_STDDEV);
    d_close(&d);
}

static void test_variables(void **state)
{
    (void)state;
    struct d_text d;
    d_must(&d, "#pragma D option strsize=32\n"
               "int x, y[string, int]; self string s; this uint8_t c;\n"
               "BEGIN { n++; self->m[pid] = timestamp; t = \"a\"; this->z = 'a'; }");
    static const struct {
        const char *name;
        enum dif_scope scope;
        bool assoc;
        struct dif_type type;
        unsigned nkeys;
    } want[] = {
        {"x", DIF_GLOBAL, false, {DIF_INT, 4}, 0},     {"y", DIF_GLOBAL, true, {DIF_INT, 4}, 2},
        {"s", DIF_THREAD, false, {DIF_STRING, 32}, 0}, {"c", DIF_CLAUSE, false, {DIF_UINT, 1}, 0},
        {"n", DIF_GLOBAL, false, {DIF_INT, 8}, 0},     {"m", DIF_THREAD, true, {DIF_UINT, 8}, 1},
        {"t", DIF_GLOBAL, false, {DIF_STRING, 32}, 0}, {"z", DIF_CLAUSE, false, {DIF_INT, 4}, 0},
    };
    assert_int_equal(d.img.strsize, 32);
    assert_int_equal(d.img.nvars, sizeof want / sizeof want[0]);
    for (uint32_t i = 0; i < d.img.nvars; i++) {
        const struct dif_var *v = &d.img.vars[i];
        assert_string_equal(dif_str(&d.img, v->name), want[i].name);
        assert_int_equal(v->scope, want[i].scope);
        assert_int_equal(v->assoc, want[i].assoc);
        assert_type(&v->type, want[i].type.kind, want[i].type.size);
        assert_int_equal(v->keys.n, want[i].nkeys);
    }
    assert_int_equal(d.img.builtins,
                     dif_builtin_bit(DIF_BUILTIN_pid) | dif_builtin_bit(DIF_BUILTIN_timestamp));
    d_close(&d);
}

/* A description list is one clause each, with one code each; programs share variables and
 * aggregations. */
static void test_programs(void **state)
{
    (void)state;
    struct d_text d;
    d_open(&d);
    assert_int_equal(d_add(&d, COMPILE_NAME, "BEGIN, a:b:c:d /1/ { x = 1; @n = count(); }", NULL),
                     0);
    assert_int_equal(d_add(&d, COMPILE_PROVIDER, "erlang*", NULL), 0);
    assert_int_equal(d_add(&d, COMPILE_SCRIPT, "END\n{ trace(x); printa(@n); }", NULL), 0);
    assert_int_equal(d_image(&d), 0);
    assert_int_equal(dif_verify(&d.img, &d.diags), 0);
    const struct dif_clause *c = d.img.clauses;
    assert_int_equal(d.img.nclauses, 4);
    assert_string_equal(dif_str(&d.img, c[0].name), "BEGIN");
    assert_string_equal(dif_str(&d.img, c[0].prov), "");
    assert_string_equal(dif_str(&d.img, c[1].prov), "a");
    assert_string_equal(dif_str(&d.img, c[1].mod), "b");
    assert_string_equal(dif_str(&d.img, c[1].func), "c");
    assert_string_equal(dif_str(&d.img, c[1].name), "d");
    assert_int_equal(c[1].col, 8);
    assert_string_equal(dif_str(&d.img, c[1].file), "t.d");
    assert_int_equal(c[0].ncode, c[1].ncode);
    assert_string_equal(dif_str(&d.img, c[2].prov), "erlang*");
    assert_string_equal(dif_str(&d.img, c[2].name), "");
    assert_true(c[2].records);
    assert_int_equal(c[2].nactions, 0);
    assert_int_equal(d.img.nvars, 1);
    assert_int_equal(d.img.naggs, 1);
    d_close(&d);
}

/* -- probe descriptions ------------------------------------------------------------------------ */

struct desc {
    enum compile_kind kind;
    const char *text;
    const char *parts; /* of the first clause, joined by '|'; or "#id"; NULL: refused */
    uint32_t npred;
};

/* clang-format off */
static const struct desc descs[] = {
    {COMPILE_NAME, "BEGIN", "|||BEGIN", 0},
    {COMPILE_NAME, "f:n", "|f|n|entry", 0},
    {COMPILE_NAME, "m:f:n", "|m|f|n", 0},
    {COMPILE_NAME, "p:m:f:n", "p|m|f|n", 0},
    {COMPILE_NAME, ":::", "|||", 0},
    {COMPILE_NAME, "p:::", "p|||", 0},
    {COMPILE_FUNCTION, "f", "||f|", 0},
    {COMPILE_FUNCTION, "m:f", "|m|f|", 0},
    {COMPILE_FUNCTION, "p:m:f:n", NULL, 0},
    {COMPILE_MODULE, "p:m", "p|m||", 0},
    {COMPILE_PROVIDER, "p*", "p*|||", 0},
    {COMPILE_PROVIDER, "p:m", NULL, 0},
    {COMPILE_ID, "17", "#17", 0},
    {COMPILE_ID, "17 /arg0/ { x = 1; }", "#17", 3},
    {COMPILE_ID, "BEGIN", NULL, 0},
    {COMPILE_NAME, "17", "#17", 0},
    {COMPILE_SCRIPT, "17 {}", "#17", 0},
    {COMPILE_MODULE, "17", NULL, 0},
    {COMPILE_NAME, "tick-1s{}", "|||tick-1s", 0},
    {COMPILE_NAME, "syscall::r[ea]*d?:entry/arg0/{}", "syscall||r[ea]*d?|entry", 3},
    /* a function's arity, our addition */
    {COMPILE_NAME, "erlang*:lists:map/2:entry", "erlang*|lists|map/2|entry", 0},
    {COMPILE_NAME, "erlang*:lists:map/2:entry/arg0/{}", "erlang*|lists|map/2|entry", 3},
    {COMPILE_NAME, "erlang*:lists:map/2:entry /arg0/ {}", "erlang*|lists|map/2|entry", 3},
    {COMPILE_SCRIPT, "erlang*:lists:map/2:entry\n/1/\n{}", "erlang*|lists|map/2|entry", 3},
    {COMPILE_NAME, "map/2:entry", "||map/2|entry", 0},
    {COMPILE_NAME, "a:b:map/1:entry,c:d:map/2:return{}", "a|b|map/1|entry", 0},
    {COMPILE_FUNCTION, "lists:map/2", "|lists|map/2|", 0},
    {COMPILE_FUNCTION, "map/2/arg0/{}", "||map/2|", 3},
    {COMPILE_FUNCTION, "map/2 /arg0/ {}", "||map/2|", 3},
    {COMPILE_FUNCTION, "map/1/{}", "||map|", 3},
    {COMPILE_NAME, "BEGIN/1/{}", "|||BEGIN", 3},
    {COMPILE_NAME, "BEGIN/1 ? 2 : 3/{}", "|||BEGIN", 3},
    {COMPILE_NAME, "BEGIN/arg0/{}", "|||BEGIN", 3},
    {COMPILE_NAME, "x:Elixir.Enum:map/2:entry", "x|Elixir.Enum|map/2|entry", 0},
    {COMPILE_NAME, "x:'Elixir.Foo':map/2:entry", "x|Elixir.Foo|map/2|entry", 0},
    {COMPILE_NAME, "x:m:'-map/2-fun-0-'/1:entry", "x|m|-map/2-fun-0-/1|entry", 0},
    {COMPILE_NAME, "x:m:-map/2-fun-0-/1:entry", "x|m|-map/2-fun-0-/1|entry", 0},
    {COMPILE_NAME, "x:m:-map/2-lc*:entry", "x|m|-map/2-lc*|entry", 0},
    {COMPILE_NAME, "x:m:-f/1-lc$^0/1-0-/1:entry", "x|m|-f/1-lc$^0/1-0-/1|entry", 0},
    {COMPILE_NAME, "x:m:-f/1-lc$^0/1-*:entry/arg0/{}", "x|m|-f/1-lc$^0/1-*|entry", 3},
    {COMPILE_FUNCTION, "-f/1-lc$^0/1-0-/1", "||-f/1-lc$^0/1-0-/1|", 0},
    {COMPILE_FUNCTION, "-f/1-fun-0-/1/arg0/{}", "||-f/1-fun-0-/1|", 3},
    {COMPILE_FUNCTION, "m:-f/1-fun-0-/1 /arg0/ {}", "|m|-f/1-fun-0-/1|", 3},
    {COMPILE_FUNCTION, "f/1-2/{}", "||f|", 3},
    {COMPILE_NAME, "gleam@list:map/2", "|gleam@list|map/2|entry", 0},
    {COMPILE_SCRIPT, "gleam@list:map/2\n{ @ = count(); }", "|gleam@list|map/2|entry", 0},
    {COMPILE_NAME, "erlang*:gleam@*::entry", "erlang*|gleam@*||entry", 0},
    {COMPILE_MODULE, "gleam@dict", "|gleam@dict||", 0},
    {COMPILE_NAME, "x:'a:b*':f:entry", "x|a:b\\*|f|entry", 0},
    {COMPILE_NAME, "x:'open", NULL, 0},
    {COMPILE_NAME, "x:'a\\'b:c':f:entry", "x|a'b:c|f|entry", 0},
    {COMPILE_NAME, "x:'\303\244':f:entry", "x|\303\244|f|entry", 0},
    {COMPILE_NAME, "x:a\\*b\\:c:f:entry", "x|a\\*b\\:c|f|entry", 0},
    /* functions as Erlang and Elixir write them, our addition */
    {COMPILE_NAME, "lists:map/2", "|lists|map/2|entry", 0},
    {COMPILE_NAME, "lists:map/2{}", "|lists|map/2|entry", 0},
    {COMPILE_SCRIPT, "lists:map/2\n{}", "|lists|map/2|entry", 0},
    {COMPILE_NAME, "lists:map/2/arg0/{}", "|lists|map/2|entry", 3},
    {COMPILE_SCRIPT, "lists:map/2 /* all */ /arg0/ {}", "|lists|map/2|entry", 3},
    {COMPILE_NAME, "lists:map/1/{}", "|lists|map|entry", 3},
    {COMPILE_NAME, "lists:map/2,lists:seq/2{}", "|lists|map/2|entry", 0},
    {COMPILE_NAME, "erlang*:lists:map/2", "erlang*|lists|map/2|entry", 0},
    {COMPILE_NAME, "map/2 {}", "||map/2|entry", 0},
    {COMPILE_NAME, "map/2, seq/2 {}", "||map/2|entry", 0},
    {COMPILE_NAME, "lists:map", "|lists|map|entry", 0},
    {COMPILE_NAME, "erlang*:lists:map", "erlang*|lists|map|entry", 0},
    {COMPILE_NAME, "lists:map:return", "|lists|map|return", 0},
    {COMPILE_NAME, "map:entry", "||map|entry", 0},
    {COMPILE_NAME, "map:entyr", "||map|entyr", 0},
    {COMPILE_NAME, "erlang:process-spawn", "||erlang|process-spawn", 0},
    {COMPILE_NAME, "erlang:proces-spwan", "||erlang|proces-spwan", 0},
    {COMPILE_NAME, "profile:often", "||profile|often", 0},
    {COMPILE_NAME, "lists:*", "||lists|*", 0},
    {COMPILE_NAME, "'lists':map", "||lists|map", 0},
    {COMPILE_NAME, "erltrace:probe:anything", "|erltrace|probe|anything", 0},
    {COMPILE_NAME, ":lists.map/2", "|lists|map/2|entry", 0},
    {COMPILE_NAME, ":lists.map/2:return", "|lists|map/2|return", 0},
    {COMPILE_NAME, "MyApp.Foo.bar/1", "|MyApp.Foo|bar/1|entry", 0},
    {COMPILE_NAME, "Elixir.MyApp.Foo.bar/1", "|Elixir.MyApp.Foo|bar/1|entry", 0},
    {COMPILE_NAME, "MyApp.Foo.bar/1:return{}", "|MyApp.Foo|bar/1|return", 0},
    {COMPILE_NAME, "MyApp.Foo.bar", "|MyApp.Foo|bar|entry", 0},
    {COMPILE_NAME, "MyApp.Foo.bar:entry", "|MyApp.Foo|bar|entry", 0},
    {COMPILE_NAME, "erlang*:MyApp.Foo.bar/1:entry", "erlang*|MyApp.Foo|bar/1|entry", 0},
    {COMPILE_NAME, "erlang*::MyApp.Foo.bar/1:entry", "erlang*|MyApp.Foo|bar/1|entry", 0},
    {COMPILE_NAME, "erlang*:MyApp.Foo.bar::entry", "erlang*|MyApp.Foo|bar|entry", 0},
    {COMPILE_NAME, "MyApp.*.bar/1", "|MyApp.*|bar/1|entry", 0},
    {COMPILE_NAME, "MyApp.*::entry", "|MyApp.*||entry", 0},
    {COMPILE_NAME, "MyApp.Foo:bar/1", "|MyApp.Foo|bar/1|entry", 0},
    {COMPILE_NAME, "MyApp.Foo", "|||MyApp.Foo", 0},
    {COMPILE_NAME, "MyApp.Foo::entry", "|MyApp.Foo||entry", 0},
    {COMPILE_FUNCTION, "MyApp.Foo.bar/1", "|MyApp.Foo|bar/1|", 0},
    {COMPILE_MODULE, "MyApp.Foo", "|MyApp.Foo||", 0},
    {COMPILE_NAME, "MyApp.Foo.valid?/1", "|MyApp.Foo|valid\\?/1|entry", 0},
    {COMPILE_NAME, "MyApp.Foo:valid?:return", "|MyApp.Foo|valid\\?|return", 0},
    {COMPILE_NAME, "foo:valid?/1:entry", "|foo|valid?/1|entry", 0},
    {COMPILE_NAME, "MyApp.Foo.save!/1", "|MyApp.Foo|save!/1|entry", 0},
    {COMPILE_NAME, "MyApp.Foo.save!/1/arg0/{}", "|MyApp.Foo|save!/1|entry", 3},
    {COMPILE_NAME, "MyApp.Foo.<>/2", "|MyApp.Foo|<>/2|entry", 0},
    {COMPILE_NAME, "MyApp.Foo.+++/2 /arg0/ {}", "|MyApp.Foo|+++/2|entry", 3},
    {COMPILE_NAME, "x:Elixir.MyApp.Foo:|>/2:return", "x|Elixir.MyApp.Foo||>/2|return", 0},
    {COMPILE_NAME, "Kernel.//2", "|Kernel|//2|entry", 0},
    {COMPILE_NAME, "Kernel.../2", "|Kernel|../2|entry", 0},
    {COMPILE_NAME, "Kernel...///3", "|Kernel|..///3|entry", 0},
    {COMPILE_NAME, "erlang:'=:='/2", "|erlang|=:=/2|entry", 0},
    {COMPILE_NAME, "erlang:=/=/2", "|erlang|=/=/2|entry", 0},
    {COMPILE_NAME, "lists:*/2:entry", "|lists|*/2|entry", 0},
    {COMPILE_NAME, "MyApp.Sigils.sigil_x/2", "|MyApp.Sigils|sigil_x/2|entry", 0},
    {COMPILE_NAME, "$2:seq/2", "|two|seq/2|entry", 0},
    /* macros */
    {COMPILE_NAME, "erlang$target:::", "erlang4711|||", 0},
    {COMPILE_NAME, "p$1x:$2::", "parg1x|two||", 0},
    {COMPILE_NAME, "p$$1:$2::", "parg1|two||", 0},
    {COMPILE_NAME, "$nope:::", NULL, 0},
    {COMPILE_NAME, "$9:::", NULL, 0},
    /* what a bare word is */
    {COMPILE_NAME, "uint64_t", "|||uint64_t", 0},
    {COMPILE_SCRIPT, "uint64_t:::x {}", "uint64_t|||x", 0},
    {COMPILE_SCRIPT, "BEGIN {} /* c */ END {}", "|||BEGIN", 0},
};
/* clang-format on */

static void test_descriptions(void **state)
{
    (void)state;
    static const char *const args[] = {"prog", "arg1", "two", NULL};
    size_t failed = 0;
    for (size_t i = 0; i < sizeof descs / sizeof descs[0]; i++) {
        const struct desc *w = &descs[i];
        struct d_text d;
        char got[256] = "";
        d_open(&d);
        d.opt.argref = true;
        d_add(&d, w->kind, w->text, args);
        d_image(&d);
        if (d.err == 0) {
            const struct dif_clause *c = &d.img.clauses[0];
            if (c->id)
                snprintf(got, sizeof got, "#%u", c->id);
            else
                snprintf(got, sizeof got, "%s|%s|%s|%s", dif_str(&d.img, c->prov),
                         dif_str(&d.img, c->mod), dif_str(&d.img, c->func),
                         dif_str(&d.img, c->name));
        }
        bool ok = w->parts ? d.err == 0 && strcmp(got, w->parts) == 0 &&
                                 d.img.clauses[0].npred == w->npred
                           : d.err == ET_ECOMPILE;
        if (!ok) {
            char *s = d_complaints(&d);
            print_error("%s: wanted %s, got %s\n%s", w->text, w->parts ? w->parts : "an error", got,
                        s);
            free(s);
            failed++;
        }
        d_close(&d);
    }
    assert_int_equal(failed, 0);
}

/* -- limits ------------------------------------------------------------------------------------ */

static void test_registers_run_out(void **state)
{
    (void)state;
    struct d_text d;
    struct buf b = BUF_INIT;
    d_open(&d);
    buf_adds(&b, "BEGIN { x = ");
    for (int i = 0; i < 20; i++)
        buf_printf(&b, "arg%d - (", i % 10);
    buf_adds(&b, "1");
    for (int i = 0; i < 20; i++)
        buf_addc(&b, ')');
    buf_adds(&b, "; }");
    assert_int_equal(d_add(&d, COMPILE_SCRIPT, buf_str(&b), NULL), 0);
    assert_int_equal(d_image(&d), ET_ECOMPILE);
    assert_string_equal(d.diags.list[0].text, "Insufficient registers to generate code");
    assert_int_equal(d.diags.list[0].pos.line, 1);
    buf_free(&b);
    d_close(&d);
}

/* Every name that lang knows is in DIF's tables, so that no checked program lacks an instruction.
 */
/* The program as a tree: what people see with the option tree. */
static void tree(void **state)
{
    (void)state;
    struct d_text d;
    struct buf out = BUF_INIT;
    d_open(&d);
    d_must(&d,
           "BEGIN, 3 / pid != 0 / { self->s = \"a\\n\"; x = -1 + arg1; @a[x] = quantize(x, 2); }\n"
           "tick-1s { if (x++ > 2) trace((char)x); else exit(0); }");
    compile_tree(d.compile, &out);
    assert_string_equal(buf_str(&out), "clause :::BEGIN\n"
                                       "clause 3\n"
                                       "  predicate\n"
                                       "    binary != (int)\n"
                                       "      built-in pid (pid_t)\n"
                                       "      integer 0 (int)\n"
                                       "  statement\n"
                                       "    assign = (string)\n"
                                       "      variable self->s (string)\n"
                                       "      string \"a\\n\" (string)\n"
                                       "  statement\n"
                                       "    assign = (int64_t)\n"
                                       "      variable x (int64_t)\n"
                                       "      binary + (int64_t)\n"
                                       "        integer -1 (int)\n"
                                       "        argument 1 (int64_t)\n"
                                       "  statement\n"
                                       "    aggregation a\n"
                                       "      variable x (int64_t)\n"
                                       "      call\n"
                                       "        name quantize\n"
                                       "        variable x (int64_t)\n"
                                       "        integer 2 (int)\n"
                                       "clause :::tick-1s\n"
                                       "  if\n"
                                       "    binary > (int)\n"
                                       "      step ++ after (int64_t)\n"
                                       "        variable x (int64_t)\n"
                                       "      integer 2 (int)\n"
                                       "    statement\n"
                                       "      call\n"
                                       "        name trace\n"
                                       "        cast (char)\n"
                                       "          variable x (int64_t)\n"
                                       "  else\n"
                                       "    statement\n"
                                       "      call\n"
                                       "        name exit\n"
                                       "        integer 0 (int)\n");
    buf_free(&out);
    d_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_aggregations),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_registers_run_out),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
