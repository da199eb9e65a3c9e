/* Compile errors, and near misses that are none, which no script of test/d has: boundaries,
 * operands of other types, and what needs a compiler without libraries. Each text is wrong in one
 * way, and the first diagnostic must be the expected one. An error that a user can make in a script
 * belongs to test/d. */
#include "d_text.h"

struct wrong {
    const char *text;
    const char *tag;
    int line, col;
    const char *says; /* part of the message or of the hint; NULL: anything */
};

/* clang-format off */
static const struct wrong lexical[] = {
    {"BEGIN { x = 9223372036854775808; }", "D_INT_OFLOW", 1, 13, NULL},
    {"BEGIN { x = -9223372036854775808; }", "D_INT_OFLOW", 1, 14, NULL},
    {"BEGIN { x = 18446744073709551616; }", "D_INT_OFLOW", 1, 13, NULL},
    {"BEGIN { x = 0x10000000000000000; }", "D_INT_OFLOW", 1, 13, NULL},
    {"BEGIN { x = 0xffffffffffffffffl; }", NULL, 0, 0, NULL},
    {"BEGIN { x = 9223372036854775808u; }", NULL, 0, 0, NULL},
    {"BEGIN { x = 1lu; }", "D_SYNTAX", 1, 15, "near \"u\""},
    {"BEGIN { x = 0b1; }", "D_SYNTAX", 1, 14, "near \"b1\""},
    {"BEGIN { x = .5; }", "D_SYNTAX", 1, 13, "floating-point"},
    {"BEGIN { x = 1e3; }", "D_SYNTAX", 1, 13, "floating-point"},
    {"BEGIN { x = 10f; }", "D_SYNTAX", 1, 13, "floating-point"},
    {"BEGIN { x = 'a\n'; }", "D_CHR_NL", 1, 13, NULL},
    {"BEGIN { x = \"a", "D_SYNTAX", 1, 13, "before matching \""},
    {"BEGIN { x = \"a\" \"b\"; }", "D_SYNTAX", 1, 17, NULL},
    {"/* a /* b */ BEGIN {}", "D_SYNTAX", 1, 6, "/* encountered inside a comment"},
    {"BEGIN { x = $3; }", "D_MACRO_UNDEF", 1, 13, NULL},
    {"BEGIN { x = 123$pid; }", "D_SYNTAX", 1, 16, NULL},
    {"BEGIN { x = \303\244; }", "D_SYNTAX", 1, 13, "\\303"},
    {"", "D_EMPTY", 1, 1, NULL},
    {"/* nothing */\n", "D_EMPTY", 1, 1, NULL},
};

static const struct wrong control[] = {
    {"#pragma D option\nBEGIN{}\n", "D_PRAGMA_MALFORM", 1, 11, NULL},
    {"#pragma D error a  b\nBEGIN{}\n", "D_PRAGERR", 1, 11, "#error: a b "},
    {"#error enough\nBEGIN{}\n", "D_PRAGERR", 1, 2, "#error: enough"},
    {"  #pragma error enough\nBEGIN{}\n", "D_PRAGERR", 1, 11, NULL},
    {"#pragma nonsense\nBEGIN{}\n", NULL, 0, 0, NULL},
    {"#ident \"x\"\n#\n#!/bin/sh\nBEGIN{}\n", NULL, 0, 0, NULL},
    {"#line 77\nBEGIN { x = y; }\n", "D_IDENT_UNDEF", 77, 13, NULL},
    {"# 30 \"other.d\"\n\nBEGIN { x = y; }\n", "D_IDENT_UNDEF", 31, 13, NULL},
    {"BEGIN {\n#pragma D option nonsense\n}\n", "D_PRAGMA_OPTSET", 2, 18, NULL},
};

static const struct wrong structure[] = {
    {"BEGIN", "D_SYNTAX", 1, 1, "expected predicate and/or actions following probe description"},
    {"BEGIN /1/", "D_SYNTAX", 1, 1, "expected actions { } following probe description and predicate"},
    {"BEGIN /1/ END {}", "D_SYNTAX", 1, 15, "closed by /"},
    {"BEGIN {", "D_SYNTAX", 1, 8, "syntax error near end of input"},
    {"BEGIN { else x = 1; }", "D_SYNTAX", 1, 9, "else follows"},
    {"BEGIN { if (x = \"a\") { } }", "D_OP_SCALAR", 1, 15, "did you mean '=='?"},
    {"$nope:::x {}", "D_PDESC_INVAL", 1, 1, "Undefined macro variable in probe description"},
    {"BEGIN { } }\nEND { x = y; }", "D_SYNTAX", 1, 11, NULL},
    {"{ x = 1; }", "D_SYNTAX", 1, 1, NULL},
};

static const struct wrong declarations[] = {
    {"long short x;\nBEGIN{}", "D_DECL_COMBO", 1, 1, NULL},
    {"int x[string];\nint x[int];\nBEGIN{}", "D_DECL_IDRED", 2, 5, NULL},
    {"int x;\nint x;\nself string x;\nBEGIN{}", NULL, 0, 0, NULL},
    {"int timestamp;\nBEGIN{}", "D_DECL_IDRED", 1, 5, "built in"},
    {"int count;\nBEGIN{}", "D_DECL_IDRED", 1, 5, "a function"},
    {"double d;\nBEGIN{ d = 1; }", "D_OP_INCOMPAT", 2, 10, "\"double\" = \"int\""},
    {"inline int x = y;\nBEGIN{}", "D_IDENT_UNDEF", 1, 16, NULL},
    {"inline int f[int a] = b;\nBEGIN{}", "D_IDENT_UNDEF", 1, 23, NULL},
    {"inline int f[string s] = s;\nBEGIN{}", "D_OP_INCOMPAT", 1, 12, NULL},
    {"inline int f[int a] = a;\nBEGIN{ x = f; }", "D_IDENT_BADREF", 2, 12, "parameters in [ ]"},
    {"inline int f[int a] = a;\nBEGIN{ x = f[1, 2]; }", "D_PROTO_LEN", 2, 12, "2 args passed, 1 expected"},
    {"inline int f[int a] = a;\nBEGIN{ x = f[\"s\"]; }", "D_PROTO_ARG", 2, 14, "int expected, string passed"},
    {"inline int f[int a] = 5 / a;\nBEGIN{ x = f[0]; }", "D_DIV_ZERO", 1, 25, NULL},
};

static const struct wrong names[] = {
    {"BEGIN { x = x; }", "D_IDENT_UNDEF", 1, 13, NULL},
    {"BEGIN { self->x = 1; trace(x); }", "D_IDENT_UNDEF", 1, 28, "self->x"},
    {"END { trace(x); }\nBEGIN { x = 1; }", "D_IDENT_UNDEF", 1, 13, NULL},
    {"BEGIN /x/ { x = 1; }", NULL, 0, 0, NULL},
    {"BEGIN /x = 1/ { trace(x); }", NULL, 0, 0, NULL},
    {"BEGIN /x++ && y/ { y = 1; }", NULL, 0, 0, NULL},
    {"BEGIN /(x = 1) && y/ { y = 1; trace(x); }", "D_IDENT_UNDEF", 1, 19, NULL},
    {"BEGIN /a[x = 1]++/ { x++; trace(a[1]); }", NULL, 0, 0, NULL},
    {"BEGIN { pid = 3; }", "D_OP_WRITE", 1, 13, NULL},
    {"BEGIN { arg0++; }", "D_OP_WRITE", 1, 13, NULL},
    {"BEGIN { timestamp += 3; }", "D_OP_WRITE", 1, 19, NULL},
    {"BEGIN { NULL = 2; }", "D_OP_LVAL", 1, 14, NULL},
    {"BEGIN { x = 1; (x + 1) = 2; }", "D_OP_LVAL", 1, 24, NULL},
    {"BEGIN { 1++; }", "D_OP_LVAL", 1, 10, NULL},
    {"BEGIN { x = uregs[pid]; }", "D_PROTO_ARG", 1, 19, "integer constant expected"},
    {"BEGIN { x = uregs; }", "D_IDENT_BADREF", 1, 13, "uregs is an array"},
    {"BEGIN { x = curpsinfo->pr_pid; }", "D_IDENT_UNDEF", 1, 13, NULL}, /* it is of a library */
    {"BEGIN { x = printf; }", "D_IDENT_BADREF", 1, 13, NULL},
    {"BEGIN { count = 1; }", "D_IDENT_BADREF", 1, 9, NULL},
    {"BEGIN { a[1] = 1; x = a; }", "D_IDENT_BADREF", 1, 23, NULL},
    {"BEGIN { a[1] = 1; a = 1; }", "D_OP_ARRFUN", 1, 19, NULL},
    {"BEGIN { x = 1; trace(x[1]); }", "D_DEREF_NONPTR", 1, 22, NULL},
    {"BEGIN { a[1] = 1; trace(a[\"x\"]); }", "D_PROTO_ARG", 1, 27, "int expected, string passed"},
    {"BEGIN { a[a[1]] = 1; }", "D_IDENT_UNDEF", 1, 11, NULL},
};

static const struct wrong operators[] = {
    {"BEGIN { x = -\"a\"; }", "D_OP_ARITH", 1, 13, NULL},
    {"BEGIN { x = \"a\" && 1; }", "D_OP_SCALAR", 1, 17, "!= NULL"},
    {"BEGIN { x = \"a\" ^^ 1; }", "D_OP_SCALAR", 1, 17, NULL},
    {"BEGIN { x = arg0 == \"a\"; }", "D_OP_INCOMPAT", 1, 18, "copyinstr(arg0)"},
    {"BEGIN { x = probename == 'BEGIN'; }", "D_OP_INCOMPAT", 1, 23, "double quotes"},
    {"BEGIN { x = 1; x = \"a\"; }", "D_OP_INCOMPAT", 1, 18, "\"int\" = \"string\""},
    {"BEGIN { x = \"a\"; x = arg1; }", "D_OP_INCOMPAT", 1, 20, "copyinstr(arg1)"},
    {"BEGIN { x = \"a\"; x = 0; x = NULL; }", NULL, 0, 0, NULL},
    {"BEGIN { x = 1 / 0; }", "D_DIV_ZERO", 1, 15, NULL},
    {"BEGIN { x = arg0 % 0; }", "D_DIV_ZERO", 1, 18, NULL},
    {"BEGIN { x = 1; x %= 1 - 1; }", "D_DIV_ZERO", 1, 18, NULL},
    {"BEGIN { x = arg0->y; }", "D_OP_PTR", 1, 17, NULL},
    {"BEGIN { x = arg0.y; }", "D_OP_SOU", 1, 17, NULL},
    {"BEGIN { x = arg0.int; }", "D_OP_SOU", 1, 17, NULL},
    {"BEGIN { x = arg0.1; }", "D_SYNTAX", 1, 17, NULL},
    {"BEGIN { x = (int)\"a\"; }", "D_CAST_INVAL", 1, 13, NULL},
    {"BEGIN { x = offsetof(t, m); }", "D_UNKNOWN", 1, 22, "failed to resolve type t: Unknown type name"},
    {"BEGIN /pid = 3/ {}", "D_OP_WRITE", 1, 12, "did you mean '=='?"},
    {"BEGIN /this->s = \"a\"/ {}", "D_PRED_SCALAR", 1, 16, "did you mean '=='?"},
    {"BEGIN /3 = 3/ {}", "D_OP_LVAL", 1, 10, "did you mean '=='?"},
};

static const struct wrong derived[] = {
    {"int a[4]; this int b[2]; int m[3][5]; self int c[2];\nBEGIN{}", NULL, 0, 0, NULL},
    {"int *p; char **q; int *a[4]; int (*b)[4]; int (*f)(int, char *); void *v;\nBEGIN{}", NULL, 0, 0, NULL},
    {"struct s { int x, *p; char n[8]; unsigned b:3, :5, c:8; struct s *next; } v;\nBEGIN{}", NULL, 0, 0, NULL},
    {"struct s; struct s *p; struct s { struct s *q; }; struct s v;\nBEGIN { v.q = p; }", NULL, 0, 0, NULL},
    {"typedef struct s { int x; } s_t; s_t v; struct s w;\nBEGIN { v.x = 1; w = v; }", NULL, 0, 0, NULL},
    {"typedef int t; typedef int t; t v; int v;\nBEGIN{}", NULL, 0, 0, NULL},
    {"enum e { A, B = 7, C }; enum e v; int a[C];\nBEGIN { v = B; trace(A + C); }", NULL, 0, 0, NULL},
    {"enum e { A = -2147483648 };\nBEGIN{}", NULL, 0, 0, NULL},
    {"int f(int); extern int e; int g(void); int h(int a, ...);\nBEGIN{}", NULL, 0, 0, NULL},
    {"int a[arg0];\nBEGIN{}", "D_DECL_ARRSUB", 1, 7, NULL},
    {"struct s { int a[]; };\nBEGIN{}", "D_DECL_ARRNULL", 1, 18, NULL},
    {"struct s { int a[int]; };\nBEGIN{}", "D_DECL_DYNOBJ", 1, 17, NULL},
    {"struct s { int x; char x; };\nBEGIN{}", "D_UNKNOWN", 1, 24, "two members 'x'"},
    {"struct s { void x; };\nBEGIN{}", "D_DECL_VOIDOBJ", 1, 17, NULL},
    {"struct s { struct t x; };\nBEGIN{}", "D_DECL_INCOMPLETE", 1, 21, NULL},
    {"struct s { struct s x; };\nBEGIN{}", "D_DECL_INCOMPLETE", 1, 21, NULL},
    {"union u a[2];\nBEGIN{}", "D_DECL_INCOMPLETE", 1, 10, NULL},
    {"enum e { A };\nenum e { B };\nBEGIN{}", "D_DECL_TYPERED", 2, 6, NULL},
    {"struct s { int x; }; int s; union s { int y; }; int t; typedef int u;\nBEGIN{}", NULL, 0, 0, NULL},
    {"struct s { int b:arg0; };\nBEGIN{}", "D_DECL_BFCONST", 1, 18, NULL},
    {"struct s { int :0; int x; };\nBEGIN{}", NULL, 0, 0, NULL},
    {"enum e { A };\nint A;\nBEGIN{}", "D_DECL_IDRED", 2, 5, "a constant"},
    {"int f(register int x);\nBEGIN{}", NULL, 0, 0, NULL},
    {"int int x;\nBEGIN{}", "D_DECL_COMBO", 1, 5, NULL},
    {"struct s unsigned x;\nBEGIN{}", "D_DECL_SIGNINT", 1, 1, NULL},
    {"nosuch *p;\nBEGIN{}", "D_SYNTAX", 1, 1, NULL},
};

#define S "struct s { int x; char n[8]; int b:3; struct s *p; }; struct s g; struct s *q; int a[4]; char c[4]; int *ip; void *vp;\n"
static const struct wrong memory[] = {
    {S "BEGIN { trace(q.x); }", "D_OP_SOU", 2, 16, "use the operator ->"},
    {S "BEGIN { trace(ip->x); }", "D_OP_SOU", 2, 17, NULL},
    {"struct s { double d; } g;\nBEGIN { x = g.d + g.d; }", "D_OP_INCOMPAT", 2, 17, "\"double\" + \"double\""},
    {"struct s { double d; } g;\nBEGIN { x = (int)g.d; }", "D_CAST_INVAL", 2, 13, ""},
    {"struct s { double d; } g;\nBEGIN { @[g.d] = count(); }", "D_KEY_TYPE", 2, 12, "double"},
    {S "BEGIN { trace(*g); }", "D_DEREF_NONPTR", 2, 15, NULL},
    {"int (*f)(int);\nBEGIN { trace(*f); }", "D_DEREF_FUNC", 2, 15, NULL},
    {S "BEGIN { trace(ip + q); }", "D_OP_INCOMPAT", 2, 18, NULL},
    {S "BEGIN { trace(q - ip); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(1 - ip); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(ip * 2); }", "D_OP_ARITH", 2, 18, NULL},
    {S "BEGIN { trace(ip & 2); }", "D_OP_INT", 2, 18, NULL},
    {S "BEGIN { trace(-ip); }", "D_OP_ARITH", 2, 15, NULL},
    {S "BEGIN { trace(g + 1); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(!g); }", "D_OP_SCALAR", 2, 15, NULL},
    {S "BEGIN { trace(q == ip); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(q == 5); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN /q && q == 0 && q == vp && !ip && q == g.p/ { }", NULL, 0, 0, NULL},
    {S "BEGIN { q = 5; }", "D_OP_INCOMPAT", 2, 11, NULL},
    {S "BEGIN { q = 0; q = NULL; q = vp; vp = ip; ip = a; }", NULL, 0, 0, NULL},
    {S "self struct s t; struct s z[int];\nBEGIN { self->t = 0; z[1] = 0; }", NULL, 0, 0, NULL},
    {S "BEGIN { g = *q; g.x = *ip; h = g; h.x = 1; }", NULL, 0, 0, NULL},
    {S "BEGIN { s = g.n; s = c; x = s == g.n; y = strlen(c); }", NULL, 0, 0, NULL},
    {S "BEGIN { trace(a[-1]); }", "D_ARR_BOUNDS", 2, 17, NULL},
    {S "BEGIN { trace(a[3]); trace(ip[-1]); }", NULL, 0, 0, NULL},
    {S "BEGIN { trace(probename[9999]); }", "D_ARR_BOUNDS", 2, 25, NULL},
    {S "BEGIN { trace(a[1, 2]); }", "D_ARR_BADREF", 2, 15, NULL},
    {S "BEGIN { trace(a[\"x\"]); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { *ip = 1; }", NULL, 0, 0, NULL},
    {S "BEGIN { q->x = 1; }", NULL, 0, 0, NULL},
    {S "BEGIN { q->n[1]++; }", NULL, 0, 0, NULL},
    {S "BEGIN { ((int *)arg0)[1] = 2; }", "D_OP_WRITE", 2, 26, NULL},
    {S "BEGIN { probename[0] = 'x'; }", "D_OP_WRITE", 2, 22, NULL},
    {S "BEGIN { this->p = (struct s *)alloca(32); this->p->x = 1; this->p->n[2] = 'a'; *this->p = g; }", NULL, 0, 0, NULL},
    {S "BEGIN { ip = (int *)alloca(4); ip = (int *)arg0; }", "D_ALLOCA_INCOMPAT", 2, 35, NULL},
    {S "BEGIN { ip = a; }\nEND { ip = (int *)copyin(arg0, 4); }", "D_ALLOCA_INCOMPAT", 3, 10, NULL},
    {S "BEGIN { x = alloca(256); }", NULL, 0, 0, NULL},
    {S "BEGIN { bcopy(a, ip, 4); }", NULL, 0, 0, NULL},
    {S "BEGIN { copyinto(arg0, 4, a); }", "D_PROTO_ARG", 2, 27, NULL},
    {S "BEGIN { x = bcopy(a, alloca(4), 4); }", "D_DECL_VOIDOBJ", 2, 11, NULL},
    {S "BEGIN { ip = &g.x; q = &q[1]; ip = &a[2]; }", NULL, 0, 0, NULL},
    {S "BEGIN { x = (string)a; }", "D_CAST_INVAL", 2, 13, NULL},
    {S "BEGIN { x = (struct s)g; y = (long)q; z = (int *)q; w = (string)c; (void)g; }", NULL, 0, 0, NULL},
    {S "BEGIN { x = stringof(a); }", "D_STRINGOF_TYPE", 2, 13, NULL},
    {S "BEGIN { @[a] = count(); }", "D_KEY_TYPE", 2, 11, NULL},
    {S "BEGIN { @[g, q, c] = sum(ip ? 1 : 0); z[g] = 1; }", NULL, 0, 0, NULL},
    {S "BEGIN { @[g] = count(); @[q] = count(); }", "D_PROTO_ARG", 2, 27, NULL},
    {S "BEGIN { @ = sum(g); }", "D_AGG_SCALAR", 2, 17, NULL},
    {S "BEGIN { printf(\"%d\", g); }", "D_PRINTF_ARG_TYPE", 2, 22, NULL},
    {S "BEGIN { printf(\"%s\", (char *)arg0); }", "D_PRINTF_ARG_TYPE", 2, 22, NULL},
    {S "BEGIN { printf(\"%s %p %p\", g.n, q, arg0); }", NULL, 0, 0, NULL},
    {S "BEGIN { x = arg0 ? q : ip; }", "D_OP_INCOMPAT", 2, 18, NULL},
    {S "BEGIN { x = arg0 ? q : NULL; y = arg0 ? g : *q; z = arg0 ? c : \"x\"; }", NULL, 0, 0, NULL},
};

static const struct wrong functions[] = {
    {"BEGIN { foo(); }", "D_FUNC_UNDEF", 1, 9, "undefined function name: foo"},
    {"BEGIN { pid(); }", "D_FUNC_IDKIND", 1, 9, NULL},
    {"BEGIN { arg0 ? exit(1) : exit(2); }", "D_OP_ACT", 1, 16, "predicate"},
    {"BEGIN { x = strlen(arg3); }", "D_PROTO_ARG", 1, 20, "copyinstr(arg3)"},
    {"BEGIN { print((void *)arg0); }", "D_PRINT_SIZE", 1, 15, NULL},
    {"struct s *p;\nBEGIN { print(p); }", "D_PRINT_SIZE", 2, 15, NULL},
    {"struct s { } *p;\nBEGIN { print(p); }", "D_PRINT_SIZE", 2, 15, NULL},
    {"BEGIN { print((int *)arg0); tracemem(arg0, 8); tracemem((int *)arg0, 8, arg1); }", NULL, 0, 0, NULL},
    {"BEGIN { tracemem(\"a\", 4); }", "D_TRACEMEM_ADDR", 1, 18, NULL},
    {"BEGIN { tracemem(arg0, arg1); }", "D_TRACEMEM_SIZE", 1, 24, NULL},
    {"BEGIN { tracemem(arg0, \"a\"); }", "D_TRACEMEM_SIZE", 1, 24, NULL},
    {"BEGIN { x = msgsize(0); }", "D_FUNC_UNDEF", 1, 13, "msgsize is known but not implemented"},
    {"BEGIN { exit(\"a\"); }", "D_PROTO_ARG", 1, 14, NULL},
};

static const struct wrong formats[] = {
    {"BEGIN { printf(probename); }", "D_PRINTF_ARG_FMT", 1, 16, NULL},
    {"BEGIN { printf('abc'); }", "D_PRINTF_ARG_FMT", 1, 16, "double quotes"},
    {"BEGIN { printf(\"%d%q\", 1); }", "D_SYNTAX", 1, 16, "#2 is undefined: %q"},
    {"BEGIN { printf(\"%d\"); }", "D_PRINTF_ARG_PROTO", 1, 16, NULL},
    {"BEGIN { printf(\"%s\", 1); }", "D_PRINTF_ARG_TYPE", 1, 22, "%d prints an integer"},
    {"BEGIN { printf(\"%ld\", 1); }", "D_PRINTF_ARG_TYPE", 1, 23, NULL},
    {"BEGIN { printf(\"%hd\", 1); }", "D_PRINTF_ARG_TYPE", 1, 23, NULL},
    {"BEGIN { printf(\"%lu\", arg0); }", "D_PRINTF_ARG_TYPE", 1, 23, NULL},
    {"BEGIN { printf(\"%f\", 1); }", "D_PRINTF_ARG_TYPE", 1, 22, NULL},
    {"BEGIN { printf(\"%A\", execname); }", "D_PRINTF_ARG_TYPE", 1, 22, "a symbol of a process expected"},
    {"BEGIN { printf(\"%k\", arg0); }", "D_PRINTF_ARG_TYPE", 1, 22, "a stack expected"},
    {"BEGIN { printf(\"%lld\", arg0); }", "D_PRINTF_ARG_TYPE", 1, 24, ""},
    {"BEGIN { printf(\"%999999999d\", 1); }", "D_SYNTAX", 1, 16, "too large"},
    {"BEGIN { printf(\"%d %u %x %hd %ld %lld %c %s %% %p %Y\\n\", 1, pid, arg0, (short)1, arg0, 1ll, 'a', probename, arg1, walltimestamp); }", NULL, 0, 0, NULL},
    {"BEGIN { printf(\"%*d|%-*s|%.*d\", 1, 2, 3, \"a\", 4, 5); }", NULL, 0, 0, NULL},
    {"BEGIN { printf(\"%lx %llX\", timestamp, arg0); }", NULL, 0, 0, NULL},
};

static const struct wrong aggregations[] = {
    {"BEGIN { @; }", "D_AGG_NULL", 1, 9, "@_"},
    {"BEGIN { @a = 1; }", "D_AGG_FUNC", 1, 14, "count"},
    {"BEGIN { @a++; }", "D_AGG_FUNC", 1, 11, "@a = count()"},
    {"BEGIN { @a[1] = count(); @a[(char)2] = count(); @a[arg0] = count(); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = lquantize(1, 5, -5); }", "D_LQUANT_MISMATCH", 1, 30, NULL},
    {"BEGIN { @a = lquantize(1, 0, 65536, 1); }", "D_LQUANT_STEPSMALL", 1, 37, NULL},
    {"BEGIN { @a = lquantize(1, 0, 65535, 1); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = lquantize(1, -5, 5); @a = lquantize(2, -5, 5, 1); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 18, 10); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 5); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 20); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = llquantize(1, 10, 1, 2, 100); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = count(); printa(\"%d\", @a); }", "D_PRINTF_ARG_PROTO", 1, 30, "%@d"},
    {"BEGIN { @a[\"k\"] = count(); printa(\"%@s\", @a); }", "D_PRINTF_ARG_TYPE", 1, 35, NULL},
    {"BEGIN { @a[\"k\", 1] = count(); printa(\"%@d\", @a); printa(\"%s %d %@8u %@x\", @a); }", NULL, 0, 0, NULL},
};
/* clang-format on */

static bool is_as_expected(const struct wrong *w, const struct d_text *d)
{
    if (!w->tag)
        return d->err == 0 && d->diags.count == 0;
    if (d->err != ET_ECOMPILE || d->diags.count == 0)
        return false;
    const struct diag *g = &d->diags.list[0];
    if (strcmp(g->tag, w->tag) != 0)
        return false;
    if (w->line > 0 && (g->pos.line != w->line || g->pos.col != w->col))
        return false;
    return !w->says || strstr(g->text, w->says) || (g->hint && strstr(g->hint, w->says));
}

static void check_table(const struct wrong *w, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        struct d_text d;
        d_open(&d);
        d_add(&d, COMPILE_SCRIPT, w[i].text, NULL);
        d_image(&d);
        if (!is_as_expected(&w[i], &d)) {
            char *s = d_complaints(&d);
            print_error("%s\nwanted %s at %d:%d (%s), got %s\n%s\n", w[i].text,
                        w[i].tag ? w[i].tag : "no error", w[i].line, w[i].col,
                        w[i].says ? w[i].says : "", et_strerror(d.err), s);
            free(s);
            failed++;
        }
        d_close(&d);
    }
    assert_int_equal(failed, 0);
}

#define TABLE(name)                                                                                \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        check_table(name, sizeof name / sizeof name[0]);                                           \
    }
TABLE(lexical)
TABLE(control)
TABLE(structure)
TABLE(declarations)
TABLE(names)
TABLE(operators)
TABLE(functions)
TABLE(formats)
TABLE(aggregations)
TABLE(derived)
TABLE(memory)

/* An error in one clause does not hide those in the next, whatever kind it is; each is reported
 * once. */
static void test_recovery(void **state)
{
    (void)state;
    struct d_text d;
    d_open(&d);
    assert_int_equal(d_add(&d, COMPILE_SCRIPT,
                           "BEGIN { a = ; b = { \"}\" /* } */ }; }\n"
                           "register p;\n"
                           "END { x = y; z = x + 1; trace(z); }\n"
                           "tick-1s /(/ { }\n"
                           "BEGIN { x = \"abc; }\n"
                           "END { trace(nothing); }\n",
                           NULL),
                     ET_ECOMPILE);
    static const struct {
        const char *tag;
        int line;
    } want[] = {{"D_SYNTAX", 1}, {"D_SYNTAX", 1}, {"D_DECL_BADCLASS", 2}, {"D_IDENT_UNDEF", 3},
                {"D_SYNTAX", 4}, {"D_STR_NL", 5}, {"D_IDENT_UNDEF", 6}};
    assert_int_equal(d.diags.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(d.diags.list[i].tag, want[i].tag);
        assert_int_equal(d.diags.list[i].pos.line, want[i].line);
    }
    d_close(&d);
}

static void test_error_limit(void **state)
{
    (void)state;
    struct d_text d;
    char text[4096] = "";
    for (int i = 0; i < 30; i++)
        strcat(text, "BEGIN { x = ; }\n");
    d_open(&d);
    assert_int_equal(d_add(&d, COMPILE_SCRIPT, text, NULL), ET_ECOMPILE);
    assert_int_equal(d.diags.count, DIAG_MAX_ERRORS);
    d_close(&d);
}

/* Nothing can be generated once a program was wrong. */
static void test_no_image_after_error(void **state)
{
    (void)state;
    struct d_text d;
    d_open(&d);
    assert_int_equal(d_add(&d, COMPILE_SCRIPT, "BEGIN { x = ; }", NULL), ET_ECOMPILE);
    assert_int_equal(d_add(&d, COMPILE_SCRIPT, "END { }", NULL), 0);
    assert_int_equal(compile_image(d.compile, &d.img), ET_ECOMPILE);
    d_close(&d);
}

/* The places the user sees: the whole token is underlined. */
static void test_rendering(void **state)
{
    (void)state;
    struct d_text d;
    d_open(&d);
    d_add(&d, COMPILE_SCRIPT, "BEGIN { sent[1] = 1; }\nEND { trace(sent[timestmp]); }\n", NULL);
    char *s = d_complaints(&d);
    assert_string_equal(s, "erltrace: t.d:2:18: error: [D_IDENT_UNDEF] failed to resolve timestmp: "
                           "Unknown variable name\n"
                           "    2 | END { trace(sent[timestmp]); }\n"
                           "      |                  ^~~~~~~~  did you mean 'timestamp'?\n");
    free(s);
    d_close(&d);
    d_open(&d); /* #line changes the number that is said, and not the line that is shown */
    d_add(&d, COMPILE_SCRIPT, "BEGIN {\n#line 1\n  trace(nosuch); }\n", NULL);
    s = d_complaints(&d);
    assert_string_equal(s, "erltrace: t.d:1:9: error: [D_IDENT_UNDEF] failed to resolve nosuch: "
                           "Unknown variable name\n"
                           "    1 |   trace(nosuch); }\n"
                           "      |         ^~~~~~\n");
    free(s);
    d_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lexical),      cmocka_unit_test(test_control),
        cmocka_unit_test(test_structure),    cmocka_unit_test(test_declarations),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_functions),    cmocka_unit_test(test_formats),
        cmocka_unit_test(test_aggregations), cmocka_unit_test(test_derived),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_error_limit),  cmocka_unit_test(test_no_image_after_error),
        cmocka_unit_test(test_rendering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
