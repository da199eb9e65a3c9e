/* Every compile error: its tag and its place. One table; each text is wrong in one way, and the
 * first diagnostic must be the expected one. Tags and texts are those of the D reference, sections
 * 1 to 7, 8.5, 12. */
#include "d_text.h"

struct wrong {
    const char *text;
    const char *tag;
    int line, col;
    const char *says; /* part of the message or of the hint; NULL: anything */
};

/* clang-format off */
static const struct wrong lexical[] = {
    {"BEGIN { x = 0128; }", "D_INT_DIGIT", 1, 13, NULL},
    {"BEGIN { x = 9223372036854775808; }", "D_INT_OFLOW", 1, 13, NULL},
    {"BEGIN { x = -9223372036854775808; }", "D_INT_OFLOW", 1, 14, NULL},
    {"BEGIN { x = 18446744073709551616; }", "D_INT_OFLOW", 1, 13, NULL},
    {"BEGIN { x = 0x10000000000000000; }", "D_INT_OFLOW", 1, 13, NULL},
    {"BEGIN { x = 0xffffffffffffffffl; }", NULL, 0, 0, NULL},
    {"BEGIN { x = 9223372036854775808u; }", NULL, 0, 0, NULL},
    {"BEGIN { x = 1lu; }", "D_SYNTAX", 1, 15, "near \"u\""},
    {"BEGIN { x = 0b1; }", "D_SYNTAX", 1, 14, "near \"b1\""},
    {"BEGIN { x = 1.5; }", "D_SYNTAX", 1, 13, "floating-point constants are not permitted"},
    {"BEGIN { x = .5; }", "D_SYNTAX", 1, 13, "floating-point"},
    {"BEGIN { x = 1e3; }", "D_SYNTAX", 1, 13, "floating-point"},
    {"BEGIN { x = 10f; }", "D_SYNTAX", 1, 13, "floating-point"},
    {"BEGIN { x = \"a\nb\"; }", "D_STR_NL", 1, 13, NULL},
    {"BEGIN { x = 'a\n'; }", "D_CHR_NL", 1, 13, NULL},
    {"BEGIN { x = ''; }", "D_CHR_NULL", 1, 13, "double quotes"},
    {"BEGIN { x = '123456789'; }", "D_CHR_OFLOW", 1, 13, "double quotes"},
    {"BEGIN { x = \"a", "D_SYNTAX", 1, 13, "before matching \""},
    {"BEGIN { x = \"a\" \"b\"; }", "D_SYNTAX", 1, 17, NULL},
    {"/* a /* b */ BEGIN {}", "D_SYNTAX", 1, 6, "/* encountered inside a comment"},
    {"BEGIN {} /* a", "D_SYNTAX", 1, 10, "end-of-file encountered before matching */"},
    {"BEGIN { // no\n }", "D_SYNTAX", 1, 9, "/* like this */"},
    {"// no\nBEGIN {}", "D_SYNTAX", 1, 1, "/* like this */"},
    {"BEGIN { x = $nope; }", "D_MACRO_UNDEF", 1, 13, "$target"},
    {"BEGIN { x = $3; }", "D_MACRO_UNDEF", 1, 13, NULL},
    {"BEGIN { x = 123$pid; }", "D_SYNTAX", 1, 16, NULL},
    {"BEGIN { x = # 1; }", "D_SYNTAX", 1, 13, "near \"#\""},
    {"BEGIN { x = \303\244; }", "D_SYNTAX", 1, 13, "\\303"},
    {"", "D_EMPTY", 1, 1, NULL},
    {"/* nothing */\n", "D_EMPTY", 1, 1, NULL},
};

static const struct wrong control[] = {
    {"#pragma D option nonsense\nBEGIN{}\n", "D_PRAGMA_OPTSET", 1, 18, "failed to set option 'nonsense': Invalid option name"},
    {"#pragma D option nonsense=3\nBEGIN{}\n", "D_PRAGMA_OPTSET", 1, 18, "'nonsense' to '3'"},
    {"#pragma D option quiet /* x */\nBEGIN{}\n", "D_PRAGMA_MALFORM", 1, 24, "superfluous arguments"},
    {"#pragma D option\nBEGIN{}\n", "D_PRAGMA_MALFORM", 1, 11, NULL},
    {"#pragma D nonsense\nBEGIN{}\n", "D_PRAGMA_INVAL", 1, 11, NULL},
    {"#pragma D error a  b\nBEGIN{}\n", "D_PRAGERR", 1, 11, "#error: a b "},
    {"#error enough\nBEGIN{}\n", "D_PRAGERR", 1, 2, "#error: enough"},
    {"  #pragma error enough\nBEGIN{}\n", "D_PRAGERR", 1, 11, NULL},
    {"#define X 1\nBEGIN{}\n", "D_PRAGCTL_INVAL", 1, 2, "invalid control directive: #define"},
    {"#pragma nonsense\nBEGIN{}\n", NULL, 0, 0, NULL},
    {"#ident \"x\"\n#\n#!/bin/sh\nBEGIN{}\n", NULL, 0, 0, NULL},
    {"#pragma D attributes Stable/Stable/Common x\nBEGIN{}\n", "D_PRAGMA_UNUSED", 1, 43, "never defined: x"},
    {"#pragma D attributes Stable/Stable x\nBEGIN{}\n", "D_PRAGMA_INVAL", 1, 22, "Stable/Stable/Common"},
    {"#pragma D attributes Stable/Stable/Common\nBEGIN{}\n", "D_PRAGMA_MALFORM", 1, 11, NULL},
    {"#pragma D attributes Stable/Stable/Common pid\nBEGIN{}\n", "D_PRAGMA_SCOPE", 1, 43, NULL},
    {"#pragma D attributes Stable/Stable/Common provider x what\nBEGIN{}\n", "D_PRAGMA_INVAL", 1, 54, "component"},
    {"#pragma D binding \"1\" x\nBEGIN{}\n", "D_PRAGMA_INVAL", 1, 19, "version"},
    {"#pragma D binding \"1.0\" x\nBEGIN{}\n", "D_PRAGMA_UNUSED", 1, 25, "never defined: x"},
    {"#pragma D depends_on provider nosuch\nBEGIN{}\n", "D_PRAGMA_DEPEND", 1, 31, NULL},
    {"#pragma D depends_on thing x\nBEGIN{}\n", "D_PRAGMA_INVAL", 1, 22, "class"},
    {"BEGIN {}\n#pragma D option quiet", "D_SYNTAX", 2, 1, "end-of-file"},
    {"#line 77\nBEGIN { x = y; }\n", "D_IDENT_UNDEF", 77, 13, NULL},
    {"# 30 \"other.d\"\n\nBEGIN { x = y; }\n", "D_IDENT_UNDEF", 31, 13, NULL},
    {"BEGIN {\n#pragma D option nonsense\n}\n", "D_PRAGMA_OPTSET", 2, 18, NULL},
};

static const struct wrong structure[] = {
    {"BEGIN", "D_SYNTAX", 1, 1, "expected predicate and/or actions following probe description"},
    {"BEGIN /1/", "D_SYNTAX", 1, 1, "expected actions { } following probe description and predicate"},
    {"BEGIN /1/ END {}", "D_SYNTAX", 1, 15, "closed by /"},
    {"x;\nBEGIN {}", "D_SYNTAX", 1, 1, "int x;"},
    {"BEGIN {", "D_SYNTAX", 1, 8, "syntax error near end of input"},
    {"BEGIN { x = 1 y = 2; }", "D_SYNTAX", 1, 15, "; missing"},
    {"BEGIN, { }", "D_SYNTAX", 1, 8, "near \"{\""},
    {"BEGIN /(1/ {}", "D_SYNTAX", 1, 10, "closing ) expected in predicate before /"},
    {"BEGIN /a[1/ {}", "D_SYNTAX", 1, 11, "closing ] expected in predicate before /"},
    {"BEGIN { int x; }", "D_SYNTAX", 1, 9, "outside clauses"},
    {"BEGIN { x = if (1) 2; }", "D_SYNTAX", 1, 13, "if is a statement"},
    {"BEGIN { else x = 1; }", "D_SYNTAX", 1, 9, "else follows"},
    {"BEGIN { if (x = \"a\") { } }", "D_OP_SCALAR", 1, 15, "did you mean '=='?"},
    {"BEGIN { while (1) ; }", "D_SYNTAX", 1, 9, "no loops"},
    {"BEGIN { break; }", "D_SYNTAX", 1, 9, NULL},
    {"a:b:c:d:e {}", "D_PDESC_INVAL", 1, 1, "Overspecified probe description"},
    {"$nope:::x {}", "D_PDESC_INVAL", 1, 1, "Undefined macro variable in probe description"},
    {"0 {}", "D_PDESC_INVAL", 1, 1, "invalid probe identifier 0"},
    {"} BEGIN {}", "D_SYNTAX", 1, 1, "near \"}\""},
    {"BEGIN { } }\nEND { x = y; }", "D_SYNTAX", 1, 11, NULL},
    {"{ x = 1; }", "D_SYNTAX", 1, 1, NULL},
};

static const struct wrong declarations[] = {
    {"static int x;\nBEGIN{}", "D_DECL_BADCLASS", 1, 1, NULL},
    {"self this int x;\nBEGIN{}", "D_DECL_CLASS", 1, 6, NULL},
    {"short char x;\nBEGIN{}", "D_DECL_CHARATTR", 1, 1, NULL},
    {"unsigned void x;\nBEGIN{}", "D_DECL_VOIDATTR", 1, 1, NULL},
    {"unsigned string x;\nBEGIN{}", "D_DECL_SIGNINT", 1, 1, NULL},
    {"long string x;\nBEGIN{}", "D_DECL_LONGINT", 1, 1, NULL},
    {"char int x;\nBEGIN{}", "D_DECL_COMBO", 1, 6, NULL},
    {"long short x;\nBEGIN{}", "D_DECL_COMBO", 1, 1, NULL},
    {"int;\nBEGIN{}", "D_DECL_USELESS", 1, 1, NULL},
    {"void x;\nBEGIN{}", "D_DECL_VOIDOBJ", 1, 6, NULL},
    {"this int a[int];\nBEGIN{}", "D_DECL_LOCASSC", 1, 10, NULL},
    {"int a[int][int];\nBEGIN{}", "D_DECL_DYNOBJ", 1, 11, NULL},
    {"int a[];\nBEGIN{}", "D_DECL_ARRNULL", 1, 7, NULL},
    {"int x = 0;\nBEGIN{}", "D_SYNTAX", 1, 7, "no initialiser"},
    {"int x;\nstring x;\nBEGIN{}", "D_DECL_IDRED", 2, 8, "current: string, previous: int"},
    {"int x;\nint x[int];\nBEGIN{}", "D_DECL_IDRED", 2, 5, NULL},
    {"int x[string];\nint x[int];\nBEGIN{}", "D_DECL_IDRED", 2, 5, NULL},
    {"int x;\nint x;\nself string x;\nBEGIN{}", NULL, 0, 0, NULL},
    {"int timestamp;\nBEGIN{}", "D_DECL_IDRED", 1, 5, "built in"},
    {"int execname;\nBEGIN{}", "D_DECL_IDRED", 1, 5, NULL},
    {"int count;\nBEGIN{}", "D_DECL_IDRED", 1, 5, "a function"},
    {"int uint64_t;\nBEGIN{}", "D_DECL_IDRED", 1, 5, "type"},
    {"int a`b;\nBEGIN{}", "D_DECL_SCOPE", 1, 5, NULL},
    {"translator int < int p > { x = 1; };\nBEGIN{}", "D_XLATE_SOU", 1, 12, NULL},
    {"provider p1 { probe x(); };\nBEGIN{}", "D_PROV_BADNAME", 1, 10, "end with a digit"},
    {"double d;\nBEGIN{ d = 1; }", "D_OP_INCOMPAT", 2, 10, "\"double\" = \"int\""},
    {"inline int x = y;\nBEGIN{}", "D_IDENT_UNDEF", 1, 16, NULL},
    {"inline int x = x;\nBEGIN{}", "D_IDENT_UNDEF", 1, 16, NULL},
    {"inline int x = \"s\";\nBEGIN{}", "D_OP_INCOMPAT", 1, 12, NULL},
    {"inline int pid = 1;\nBEGIN{}", "D_DECL_IDRED", 1, 12, NULL},
    {"inline void x = 1;\nBEGIN{}", "D_DECL_VOIDOBJ", 1, 13, NULL},
    {"self inline int x = 1;\nBEGIN{}", "D_DECL_BADCLASS", 1, 6, NULL},
    {"inline int f[int] = 1;\nBEGIN{}", "D_DECL_PROTO_NAME", 1, 17, "requires a name"},
    {"inline int f[] = 1;\nBEGIN{}", "D_SYNTAX", 1, 14, "a type and a name"},
    {"inline int f[int a, int a] = a;\nBEGIN{}", "D_DECL_PROTO_FORM", 1, 12, "declared twice"},
    {"inline int f[int a] = b;\nBEGIN{}", "D_IDENT_UNDEF", 1, 23, NULL},
    {"inline int f[string s] = s;\nBEGIN{}", "D_OP_INCOMPAT", 1, 12, NULL},
    {"inline int f[void v] = 1;\nBEGIN{}", "D_DECL_VOIDOBJ", 1, 12, NULL},
    {"inline int f[int a] = a;\nBEGIN{ x = f; }", "D_IDENT_BADREF", 2, 12, "parameters in [ ]"},
    {"inline int f[int a] = a;\nBEGIN{ x = f[1, 2]; }", "D_PROTO_LEN", 2, 12, "2 args passed, 1 expected"},
    {"inline int f[int a] = a;\nBEGIN{ x = f[\"s\"]; }", "D_PROTO_ARG", 2, 14, "int expected, string passed"},
    {"inline int f[int a] = 5 / a;\nBEGIN{ x = f[0]; }", "D_DIV_ZERO", 1, 25, NULL},
};

static const struct wrong names[] = {
    {"BEGIN { trace(x); }", "D_IDENT_UNDEF", 1, 15, "failed to resolve x: Unknown variable name"},
    {"BEGIN { x = timestmp; }", "D_IDENT_UNDEF", 1, 13, "did you mean 'timestamp'?"},
    {"BEGIN { x = x; }", "D_IDENT_UNDEF", 1, 13, NULL},
    {"BEGIN { trace(self->x); }", "D_VAR_UNDEF", 1, 15, "self->x has not yet been declared or assigned"},
    {"BEGIN { trace(this->x); }", "D_VAR_UNDEF", 1, 15, NULL},
    {"BEGIN { self->start = 1; }\nEND { trace(self->strat); }", "D_VAR_UNDEF", 2, 13, "self->start"},
    {"BEGIN { self->x = 1; trace(x); }", "D_IDENT_UNDEF", 1, 28, "self->x"},
    {"BEGIN { x += 1; }", "D_VAR_UNDEF", 1, 9, "x has not yet been declared or assigned"},
    {"BEGIN { a[1] += 1; }", "D_VAR_UNDEF", 1, 9, NULL},
    {"END { trace(x); }\nBEGIN { x = 1; }", "D_IDENT_UNDEF", 1, 13, NULL},
    {"BEGIN /x/ { x = 1; }", NULL, 0, 0, NULL},
    {"BEGIN /x = 1/ { trace(x); }", NULL, 0, 0, NULL},
    {"BEGIN /x++ && y/ { y = 1; }", NULL, 0, 0, NULL},
    {"BEGIN /(x = 1) && y/ { y = 1; trace(x); }", "D_IDENT_UNDEF", 1, 19, NULL},
    {"BEGIN /a[x = 1]++/ { x++; trace(a[1]); }", NULL, 0, 0, NULL},
    {"BEGIN { pid = 3; }", "D_OP_WRITE", 1, 13, NULL},
    {"BEGIN { arg0++; }", "D_OP_WRITE", 1, 13, NULL},
    {"BEGIN { timestamp += 3; }", "D_OP_WRITE", 1, 19, NULL},
    {"BEGIN { 1 = 2; }", "D_OP_LVAL", 1, 11, NULL},
    {"BEGIN { NULL = 2; }", "D_OP_LVAL", 1, 14, NULL},
    {"BEGIN { x = 1; (x + 1) = 2; }", "D_OP_LVAL", 1, 24, NULL},
    {"BEGIN { 1++; }", "D_OP_LVAL", 1, 10, NULL},
    {"BEGIN { x = args[0]; }", "D_ARGS_IDX", 1, 18, "out of range"},
    {"BEGIN { x = uregs[-1]; }", "D_REGS_IDX", 1, 19, "index -1 is out of range for array uregs"},
    {"BEGIN { x = uregs[pid]; }", "D_PROTO_ARG", 1, 19, "integer constant expected"},
    {"BEGIN { x = uregs; }", "D_IDENT_BADREF", 1, 13, "uregs is an array"},
    {"BEGIN { x = curpsinfo->pr_pid; }", "D_IDENT_UNDEF", 1, 13, NULL}, /* it is of a library */
    {"BEGIN { x = `jiffies; }", "D_SYM_NOTYPES", 1, 13, NULL},
    {"BEGIN { x = printf; }", "D_IDENT_BADREF", 1, 13, NULL},
    {"BEGIN { count = 1; }", "D_IDENT_BADREF", 1, 9, NULL},
    {"BEGIN { a[1] = 1; x = a; }", "D_IDENT_BADREF", 1, 23, NULL},
    {"BEGIN { a[1] = 1; a = 1; }", "D_OP_ARRFUN", 1, 19, NULL},
    {"BEGIN { x = 1; trace(x[1]); }", "D_DEREF_NONPTR", 1, 22, NULL},
    {"BEGIN { x = 1; trace(x[1, 2]); }", "D_ARR_BADREF", 1, 22, NULL},
    {"BEGIN { this->a[1] = 1; }", "D_ARR_LOCAL", 1, 9, NULL},
    {"BEGIN { self = 1; }", "D_SYNTAX", 1, 14, "self->name"},
    {"BEGIN { self->1; }", "D_OP_IDENT", 1, 15, NULL},
    {"BEGIN { a[1, 2] = 1; trace(a[1]); }", "D_PROTO_LEN", 1, 28, "1 key passed, 2 expected"},
    {"BEGIN { a[1] = 1; trace(a[\"x\"]); }", "D_PROTO_ARG", 1, 27, "int expected, string passed"},
    {"BEGIN { a[\"x\"] = 1; trace(a[arg0]); }", "D_PROTO_ARG", 1, 29, "copyinstr(arg0)"},
    {"BEGIN { a[a[1]] = 1; }", "D_IDENT_UNDEF", 1, 11, NULL},
    {"BEGIN { a[1,2,3,4,5,6,7,8,9,10,11,12,13] = 1; }", "D_UNKNOWN", 1, 9, "Insufficient tuple registers to generate code"},
    {"BEGIN { @a[1,2,3,4,5,6,7,8,9,10,11,12,13] = count(); }", "D_UNKNOWN", 1, 9, "Insufficient tuple registers"},
    {"BEGIN { a[(void)1] = 1; }", "D_KEY_TYPE", 1, 11, NULL},
};

static const struct wrong operators[] = {
    {"BEGIN { x = \"a\" * 1; }", "D_OP_ARITH", 1, 17, NULL},
    {"BEGIN { x = \"a\" % 1; }", "D_OP_INT", 1, 17, NULL},
    {"BEGIN { x = 1 << \"a\"; }", "D_OP_INT", 1, 15, NULL},
    {"BEGIN { x = ~\"a\"; }", "D_OP_INT", 1, 13, NULL},
    {"BEGIN { x = -\"a\"; }", "D_OP_ARITH", 1, 13, NULL},
    {"BEGIN { x = !\"a\"; }", "D_OP_SCALAR", 1, 13, NULL},
    {"BEGIN { x = \"a\" && 1; }", "D_OP_SCALAR", 1, 17, "!= NULL"},
    {"BEGIN { x = \"a\" ^^ 1; }", "D_OP_SCALAR", 1, 17, NULL},
    {"BEGIN { x = \"a\" ? 1 : 2; }", "D_OP_SCALAR", 1, 13, NULL},
    {"BEGIN { x = arg0 ? 1 : \"a\"; }", "D_OP_INCOMPAT", 1, 18, NULL},
    {"BEGIN { x = arg0 == \"a\"; }", "D_OP_INCOMPAT", 1, 18, "copyinstr(arg0)"},
    {"BEGIN { x = probename == 'BEGIN'; }", "D_OP_INCOMPAT", 1, 23, "double quotes"},
    {"BEGIN { x = \"a\"; x += \"b\"; }", "D_OP_INCOMPAT", 1, 20, "strjoin"},
    {"BEGIN { x = \"a\"; x++; }", "D_OP_SCALAR", 1, 19, NULL},
    {"BEGIN { x = 1; x = \"a\"; }", "D_OP_INCOMPAT", 1, 18, "\"int\" = \"string\""},
    {"BEGIN { x = \"a\"; x = arg1; }", "D_OP_INCOMPAT", 1, 20, "copyinstr(arg1)"},
    {"BEGIN { x = \"a\"; x = 0; x = NULL; }", NULL, 0, 0, NULL},
    {"BEGIN { x = 1 / 0; }", "D_DIV_ZERO", 1, 15, NULL},
    {"BEGIN { x = arg0 % 0; }", "D_DIV_ZERO", 1, 18, NULL},
    {"BEGIN { x = 1; x /= 0; }", "D_DIV_ZERO", 1, 18, NULL},
    {"BEGIN { x = 1; x %= 1 - 1; }", "D_DIV_ZERO", 1, 18, NULL},
    {"BEGIN { x = *arg0; }", "D_DEREF_NONPTR", 1, 13, NULL},
    {"BEGIN { x = 1; y = &x; }", "D_ADDROF_VAR", 1, 20, NULL},
    {"BEGIN { y = &pid; }", "D_ADDROF_VAR", 1, 13, NULL},
    {"BEGIN { y = &1; }", "D_ADDROF_LVAL", 1, 13, NULL},
    {"BEGIN { x = arg0->y; }", "D_OP_PTR", 1, 17, NULL},
    {"BEGIN { x = arg0.y; }", "D_OP_SOU", 1, 17, NULL},
    {"BEGIN { x = arg0.int; }", "D_OP_SOU", 1, 17, NULL},
    {"BEGIN { x = arg0.1; }", "D_SYNTAX", 1, 17, NULL},
    {"BEGIN { x = (int)\"a\"; }", "D_CAST_INVAL", 1, 13, NULL},
    {"BEGIN { x = sizeof (void); }", "D_SIZEOF_TYPE", 1, 13, NULL},
    {"BEGIN { x = offsetof(t, m); }", "D_UNKNOWN", 1, 22, "failed to resolve type t: Unknown type name"},
    {"BEGIN { x = stringof((void)1); }", "D_STRINGOF_TYPE", 1, 13, NULL},
    {"BEGIN { x = (void)1; }", "D_DECL_VOIDOBJ", 1, 11, NULL},
    {"BEGIN /\"a\"/ {}", "D_PRED_SCALAR", 1, 8, NULL},
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
    {"int a[0];\nBEGIN{}", "D_DECL_ARRSUB", 1, 7, NULL},
    {"int a[-1];\nBEGIN{}", "D_DECL_ARRSUB", 1, 7, NULL},
    {"int a[arg0];\nBEGIN{}", "D_DECL_ARRSUB", 1, 7, NULL},
    {"int a[\"x\"];\nBEGIN{}", "D_DECL_ARRSUB", 1, 7, NULL},
    {"char a[4294967296];\nBEGIN{}", "D_DECL_ARRBIG", 1, 8, NULL},
    {"struct s { int a[]; };\nBEGIN{}", "D_DECL_ARRNULL", 1, 18, NULL},
    {"int a[4][int];\nBEGIN{}", "D_DECL_DYNOBJ", 1, 9, NULL},
    {"struct s { int a[int]; };\nBEGIN{}", "D_DECL_DYNOBJ", 1, 17, NULL},
    {"struct s { int; };\nBEGIN{}", "D_DECL_MNAME", 1, 15, NULL},
    {"struct s { int x; char x; };\nBEGIN{}", "D_UNKNOWN", 1, 24, "two members 'x'"},
    {"struct s { void x; };\nBEGIN{}", "D_DECL_VOIDOBJ", 1, 17, NULL},
    {"void a[4];\nBEGIN{}", "D_DECL_VOIDOBJ", 1, 7, NULL},
    {"struct s { struct t x; };\nBEGIN{}", "D_DECL_INCOMPLETE", 1, 21, NULL},
    {"struct s { struct s x; };\nBEGIN{}", "D_DECL_INCOMPLETE", 1, 21, NULL},
    {"struct s v;\nBEGIN{}", "D_DECL_INCOMPLETE", 1, 10, "struct s"},
    {"union u a[2];\nBEGIN{}", "D_DECL_INCOMPLETE", 1, 10, NULL},
    {"enum e v;\nBEGIN{}", "D_DECL_INCOMPLETE", 1, 8, NULL},
    {"struct s { int x; };\nstruct s { int x; };\nBEGIN{}", "D_DECL_TYPERED", 2, 8, "struct s"},
    {"enum e { A };\nenum e { B };\nBEGIN{}", "D_DECL_TYPERED", 2, 6, NULL},
    {"struct s { int x; }; int s; union s { int y; }; int t; typedef int u;\nBEGIN{}", NULL, 0, 0, NULL},
    {"struct s { int b:arg0; };\nBEGIN{}", "D_DECL_BFCONST", 1, 18, NULL},
    {"struct s { int b:0; };\nBEGIN{}", "D_DECL_BFCONST", 1, 18, NULL},
    {"struct s { int b:-1; };\nBEGIN{}", "D_DECL_BFCONST", 1, 18, NULL},
    {"struct s { int :0; int x; };\nBEGIN{}", NULL, 0, 0, NULL},
    {"struct s { char b:9; };\nBEGIN{}", "D_DECL_BFSIZE", 1, 19, NULL},
    {"struct s { char *b:1; };\nBEGIN{}", "D_DECL_BFTYPE", 1, 20, NULL},
    {"enum e { A = arg0 };\nBEGIN{}", "D_DECL_ENCONST", 1, 10, NULL},
    {"enum e { A = 2147483648 };\nBEGIN{}", "D_DECL_ENOFLOW", 1, 10, NULL},
    {"enum e { A = 2147483647, B };\nBEGIN{}", "D_DECL_ENOFLOW", 1, 26, NULL},
    {"enum e { A, };\nBEGIN{}", "D_SYNTAX", 1, 13, NULL},
    {"enum e { A, A };\nBEGIN{}", "D_UNKNOWN", 1, 13, "two enumerators 'A'"},
    {"int A;\nenum e { A };\nBEGIN{}", "D_DECL_IDRED", 2, 10, NULL},
    {"enum e { A };\nint A;\nBEGIN{}", "D_DECL_IDRED", 2, 5, "a constant"},
    {"enum e { A };\nBEGIN { A = 1; }", "D_OP_LVAL", 2, 11, NULL},
    {"typedef int t;\ntypedef char t;\nBEGIN{}", "D_DECL_IDRED", 2, 14, NULL},
    {"int t;\ntypedef int t;\nBEGIN{}", "D_DECL_IDRED", 2, 13, NULL},
    {"typedef int t;\nint t;\nBEGIN{}", "D_DECL_IDRED", 2, 5, NULL},
    {"typedef int;\nBEGIN{}", "D_DECL_USELESS", 1, 1, NULL},
    {"typedef self int t;\nBEGIN{}", "D_DECL_CLASS", 1, 9, NULL},
    {"int f(register int x);\nBEGIN{}", NULL, 0, 0, NULL},
    {"int f(static int x);\nBEGIN{}", "D_DECL_PARMCLASS", 1, 7, NULL},
    {"int f(self int x);\nBEGIN{}", "D_DECL_PARMCLASS", 1, 7, NULL},
    {"int f(...);\nBEGIN{}", "D_DECL_PROTO_VARARGS", 1, 7, NULL},
    {"int f(int, void);\nBEGIN{}", "D_DECL_PROTO_VOID", 1, 12, NULL},
    {"int f(void x);\nBEGIN{}", "D_DECL_PROTO_NAME", 1, 7, NULL},
    {"int f(int x, int x);\nBEGIN{}", "D_DECL_PROTO_FORM", 1, 18, NULL},
    {"int f(int a[int]);\nBEGIN{}", "D_DECL_PROTO_TYPE", 1, 7, NULL},
    {"int int x;\nBEGIN{}", "D_DECL_COMBO", 1, 5, NULL},
    {"struct s unsigned x;\nBEGIN{}", "D_DECL_SIGNINT", 1, 1, NULL},
    {"extern int e;\nBEGIN { trace(e); }", "D_ASRELO", 2, 15, NULL},
    {"int f(int);\nBEGIN { f(1); }", "D_FUNC_UNDEF", 2, 9, NULL},
    {"nosuch *p;\nBEGIN{}", "D_SYNTAX", 1, 1, NULL},
};

#define S "struct s { int x; char n[8]; int b:3; struct s *p; }; struct s g; struct s *q; int a[4]; char c[4]; int *ip; void *vp;\n"
static const struct wrong memory[] = {
    {S "BEGIN { g.y = 1; }", "D_TYPE_MEMBER", 2, 10, "'y' is not a member of struct s"},
    {S "BEGIN { g->x = 1; }", "D_OP_PTR", 2, 10, "use the operator ."},
    {S "BEGIN { trace(q.x); }", "D_OP_SOU", 2, 16, "use the operator ->"},
    {S "BEGIN { trace(ip->x); }", "D_OP_SOU", 2, 17, NULL},
    {"struct t *p;\nBEGIN { trace(p->x); }", "D_OP_INCOMPLETE", 2, 16, NULL},
    {"struct t *p;\nBEGIN { trace(*p); }", "D_OP_INCOMPLETE", 2, 15, NULL},
    {"struct t *p;\nBEGIN { p++; }", "D_OP_INCOMPLETE", 2, 10, NULL},
    {S "BEGIN { trace(*vp); }", "D_DEREF_VOID", 2, 15, NULL},
    {"struct s { double d; } g;\nBEGIN { x = g.d + g.d; }", "D_OP_INCOMPAT", 2, 17, "\"double\" + \"double\""},
    {"struct s { double d; } g;\nBEGIN { x = (int)g.d; }", "D_CAST_INVAL", 2, 13, ""},
    {"struct s { double d; } g;\nBEGIN { @[g.d] = count(); }", "D_KEY_TYPE", 2, 12, "double"},
    {S "BEGIN { trace(*g); }", "D_DEREF_NONPTR", 2, 15, NULL},
    {"int (*f)(int);\nBEGIN { trace(*f); }", "D_DEREF_FUNC", 2, 15, NULL},
    {S "BEGIN { vp++; }", "D_OP_VFPTR", 2, 11, NULL},
    {S "BEGIN { trace(vp + 1); }", "D_OP_VFPTR", 2, 18, NULL},
    {S "BEGIN { trace(vp[1]); }", "D_OP_VFPTR", 2, 15, NULL},
    {S "BEGIN { trace(ip + q); }", "D_OP_INCOMPAT", 2, 18, NULL},
    {S "BEGIN { trace(q - ip); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(1 - ip); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(ip * 2); }", "D_OP_ARITH", 2, 18, NULL},
    {S "BEGIN { trace(ip & 2); }", "D_OP_INT", 2, 18, NULL},
    {S "BEGIN { trace(-ip); }", "D_OP_ARITH", 2, 15, NULL},
    {S "BEGIN { trace(g + 1); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(g == g); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(!g); }", "D_OP_SCALAR", 2, 15, NULL},
    {S "BEGIN /g/ { }", "D_PRED_SCALAR", 2, 8, NULL},
    {S "BEGIN { trace(q == ip); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN { trace(q == 5); }", "D_OP_INCOMPAT", 2, 17, NULL},
    {S "BEGIN /q && q == 0 && q == vp && !ip && q == g.p/ { }", NULL, 0, 0, NULL},
    {S "BEGIN { q = ip; }", "D_OP_INCOMPAT", 2, 11, "\"struct s *\" = \"int *\""},
    {S "BEGIN { q = 5; }", "D_OP_INCOMPAT", 2, 11, NULL},
    {S "BEGIN { q = 0; q = NULL; q = vp; vp = ip; ip = a; }", NULL, 0, 0, NULL},
    {S "BEGIN { g = 0; }", "D_OP_INCOMPAT", 2, 11, NULL},
    {S "self struct s t; struct s z[int];\nBEGIN { self->t = 0; z[1] = 0; }", NULL, 0, 0, NULL},
    {S "BEGIN { g = *q; g.x = *ip; h = g; h.x = 1; }", NULL, 0, 0, NULL},
    {S "BEGIN { a = 0; }", "D_OP_ARRFUN", 2, 11, NULL},
    {S "BEGIN { g.n = \"abc\"; }", "D_OP_ARRFUN", 2, 13, "bcopy"},
    {S "BEGIN { b = a; }", "D_OP_ARRFUN", 2, 11, NULL},
    {S "BEGIN { s = g.n; s = c; x = s == g.n; y = strlen(c); }", NULL, 0, 0, NULL},
    {S "BEGIN { trace(a[4]); }", "D_ARR_BOUNDS", 2, 17, NULL},
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
    {S "BEGIN { x = alloca(257); }", "D_ALLOCA_SIZE", 2, 13, "scratchsize (256)"},
    {S "BEGIN { x = alloca(-1); }", "D_ALLOCA_SIZE", 2, 13, NULL},
    {S "BEGIN { x = alloca(256); }", NULL, 0, 0, NULL},
    {S "BEGIN { bcopy(a, ip, 4); }", NULL, 0, 0, NULL},
    {S "BEGIN { bcopy(1, alloca(4), 4); }", "D_PROTO_ARG", 2, 15, NULL},
    {S "BEGIN { copyinto(arg0, 4, a); }", "D_PROTO_ARG", 2, 27, NULL},
    {S "BEGIN { x = bcopy(a, alloca(4), 4); }", "D_DECL_VOIDOBJ", 2, 11, NULL},
    {S "BEGIN { x = &g; }", "D_ADDROF_VAR", 2, 13, NULL},
    {S "BEGIN { x = &g.b; }", "D_ADDROF_BITFIELD", 2, 13, NULL},
    {S "BEGIN { x = &(g.x + 1); }", "D_ADDROF_LVAL", 2, 13, NULL},
    {S "BEGIN { ip = &g.x; q = &q[1]; ip = &a[2]; }", NULL, 0, 0, NULL},
    {S "BEGIN { x = (int)g; }", "D_CAST_INVAL", 2, 13, NULL},
    {S "BEGIN { x = (struct s)1; }", "D_CAST_INVAL", 2, 13, NULL},
    {S "BEGIN { x = (string)g; }", "D_CAST_INVAL", 2, 13, NULL},
    {S "BEGIN { x = (string)a; }", "D_CAST_INVAL", 2, 13, NULL},
    {S "BEGIN { x = (struct s)g; y = (long)q; z = (int *)q; w = (string)c; (void)g; }", NULL, 0, 0, NULL},
    {S "BEGIN { x = stringof(a); }", "D_STRINGOF_TYPE", 2, 13, NULL},
    {S "BEGIN { x = sizeof g.b; }", "D_SIZEOF_BITFIELD", 2, 13, NULL},
    {S "BEGIN { x = sizeof (struct nope); }", "D_SIZEOF_TYPE", 2, 13, NULL},
    {S "BEGIN { x = offsetof(int, x); }", "D_OFFSETOF_TYPE", 2, 13, NULL},
    {S "BEGIN { x = offsetof(struct s, b); }", "D_OFFSETOF_BITFIELD", 2, 13, NULL},
    {S "BEGIN { x = offsetof(struct s, y); }", "D_UNKNOWN", 2, 13, NULL},
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
    {"BEGIN { pritnf(\"x\"); }", "D_FUNC_UNDEF", 1, 9, "did you mean 'printf'?"},
    {"BEGIN { pid(); }", "D_FUNC_IDKIND", 1, 9, NULL},
    {"BEGIN { self->f(); }", "D_FUNC_IDENT", 1, 9, NULL},
    {"BEGIN { (1)(); }", "D_FUNC_IDENT", 1, 10, NULL},
    {"BEGIN { x = printf(\"a\"); }", "D_CG_EXPR", 1, 13, NULL},
    {"BEGIN { x = count(); }", "D_CG_EXPR", 1, 13, "@name = count(...)"},
    {"BEGIN { count(); }", "D_CG_EXPR", 1, 9, NULL},
    {"BEGIN { arg0 ? exit(1) : exit(2); }", "D_OP_ACT", 1, 16, "predicate"},
    {"BEGIN { trace(1), trace(2); }", "D_OP_ACT", 1, 9, NULL},
    {"BEGIN { x = strlen(); }", "D_PROTO_LEN", 1, 13, "strlen( ) prototype mismatch: 0 args passed, 1 expected"},
    {"BEGIN { x = strjoin(\"a\"); }", "D_PROTO_LEN", 1, 13, "1 arg passed, 2 expected"},
    {"BEGIN { x = copyinstr(); }", "D_PROTO_LEN", 1, 13, "at least 1"},
    {"BEGIN { x = copyinstr(1, 2, 3); }", "D_PROTO_LEN", 1, 13, "at most 2"},
    {"BEGIN { x = strlen(arg3); }", "D_PROTO_ARG", 1, 20, "copyinstr(arg3)"},
    {"BEGIN { x = copyinstr(\"a\"); }", "D_PROTO_ARG", 1, 23, "already"},
    {"BEGIN { x = copyinstr(arg0, \"a\"); }", "D_PROTO_ARG", 1, 29, NULL},
    {"BEGIN { print(1); }", "D_PROTO_ARG", 1, 15, "pointer expected"},
    {"BEGIN { print((void *)arg0); }", "D_PRINT_SIZE", 1, 15, NULL},
    {"struct s *p;\nBEGIN { print(p); }", "D_PRINT_SIZE", 2, 15, NULL},
    {"struct s { } *p;\nBEGIN { print(p); }", "D_PRINT_SIZE", 2, 15, NULL},
    {"BEGIN { print((int *)arg0); tracemem(arg0, 8); tracemem((int *)arg0, 8, arg1); }", NULL, 0, 0, NULL},
    {"BEGIN { tracemem(\"a\", 4); }", "D_TRACEMEM_ADDR", 1, 18, NULL},
    {"struct s { int x; } g;\nBEGIN { tracemem(g, 4); }", "D_TRACEMEM_ADDR", 2, 18, NULL},
    {"BEGIN { tracemem(arg0, 0); }", "D_TRACEMEM_SIZE", 1, 24, NULL},
    {"BEGIN { tracemem(arg0, -1); }", "D_TRACEMEM_SIZE", 1, 24, NULL},
    {"BEGIN { tracemem(arg0, arg1); }", "D_TRACEMEM_SIZE", 1, 24, NULL},
    {"BEGIN { tracemem(arg0, \"a\"); }", "D_TRACEMEM_SIZE", 1, 24, NULL},
    {"BEGIN { tracemem(arg0, 4, \"a\"); }", "D_PROTO_ARG", 1, 27, NULL},
    {"BEGIN { tracemem(arg0); }", "D_PROTO_LEN", 1, 9, NULL},
    {"BEGIN { stack(0); }", "D_STACK_SIZE", 1, 15, "must be a non-zero positive integer constant"},
    {"BEGIN { ustack(1, -1); }", "D_USTACK_STRSIZE", 1, 19, "must be a positive integer constant"},
    {"BEGIN { a[stack()] = 1; }", "D_CG_EXPR", 1, 11, "may not be called from a D expression"},
    {"BEGIN { x = msgsize(0); }", "D_FUNC_UNDEF", 1, 13, "msgsize is known, and not implemented"},
    {"BEGIN { exit(); }", "D_PROTO_LEN", 1, 9, NULL},
    {"BEGIN { exit(\"a\"); }", "D_PROTO_ARG", 1, 14, NULL},
    {"BEGIN { trace(); }", "D_PROTO_LEN", 1, 9, NULL},
    {"BEGIN { trace((void)1); }", "D_TRACE_VOID", 1, 15, NULL},
    {"BEGIN { @a = count(); trace(@a); }", "D_TRACE_DYN", 1, 29, "printa"},
};

static const struct wrong formats[] = {
    {"BEGIN { printf(\"\"); }", "D_PRINTF_FMT_EMPTY", 1, 16, NULL},
    {"BEGIN { printf(probename); }", "D_PRINTF_ARG_FMT", 1, 16, NULL},
    {"BEGIN { printf('abc'); }", "D_PRINTF_ARG_FMT", 1, 16, "double quotes"},
    {"BEGIN { printf(\"%z\", 1); }", "D_SYNTAX", 1, 16, "format conversion #1 is undefined: %z"},
    {"BEGIN { printf(\"%d%q\", 1); }", "D_SYNTAX", 1, 16, "#2 is undefined: %q"},
    {"BEGIN { printf(\"100%\"); }", "D_SYNTAX", 1, 16, NULL},
    {"BEGIN { printf(\"%-%\"); }", "D_SYNTAX", 1, 16, NULL},
    {"BEGIN { printf(\"%1$d\", 1); }", "D_SYNTAX", 1, 16, "not supported"},
    {"BEGIN { printf(\"%d\"); }", "D_PRINTF_ARG_PROTO", 1, 16, NULL},
    {"BEGIN { printf(\"x\", 1); }", "D_PRINTF_ARG_EXTRA", 1, 21, NULL},
    {"BEGIN { printf(\"%d\", 1, 2); }", "D_PRINTF_ARG_EXTRA", 1, 25, NULL},
    {"BEGIN { printf(\"%d\", \"a\"); }", "D_PRINTF_ARG_TYPE", 1, 22, "%s prints a string"},
    {"BEGIN { printf(\"%s\", 1); }", "D_PRINTF_ARG_TYPE", 1, 22, "%d prints an integer"},
    {"BEGIN { printf(\"%s\", arg1); }", "D_PRINTF_ARG_TYPE", 1, 22, "copyinstr(arg1)"},
    {"BEGIN { printf(\"%ld\", 1); }", "D_PRINTF_ARG_TYPE", 1, 23, NULL},
    {"BEGIN { printf(\"%hd\", 1); }", "D_PRINTF_ARG_TYPE", 1, 23, NULL},
    {"BEGIN { printf(\"%lu\", arg0); }", "D_PRINTF_ARG_TYPE", 1, 23, NULL},
    {"BEGIN { printf(\"%c\", arg0); }", "D_PRINTF_ARG_TYPE", 1, 22, "cast"},
    {"BEGIN { printf(\"%Y\", 1); }", "D_PRINTF_ARG_TYPE", 1, 22, "walltimestamp"},
    {"BEGIN { printf(\"%f\", 1); }", "D_PRINTF_ARG_TYPE", 1, 22, NULL},
    {"BEGIN { printf(\"%*d\", 1); }", "D_PRINTF_ARG_PROTO", 1, 16, NULL},
    {"BEGIN { printf(\"%*d\"); }", "D_PRINTF_DYN_PROTO", 1, 16, NULL},
    {"BEGIN { printf(\"%*d\", \"a\", 1); }", "D_PRINTF_DYN_TYPE", 1, 23, NULL},
    {"BEGIN { printf(\"%@d\", 1); }", "D_PRINTF_AGG_CONV", 1, 16, NULL},
    {"BEGIN { printf(\"%A\", execname); }", "D_PRINTF_ARG_TYPE", 1, 22, "a symbol of a process expected"},
    {"BEGIN { printf(\"%k\", arg0); }", "D_PRINTF_ARG_TYPE", 1, 22, "a stack expected"},
    {"BEGIN { printf(\"%lld\", arg0); }", "D_PRINTF_ARG_TYPE", 1, 24, ""},
    {"BEGIN { printf(\"%**d\", 1, 1, 1); }", "D_SYNTAX", 1, 16, "more than one *"},
    {"BEGIN { printf(\"%999999999d\", 1); }", "D_SYNTAX", 1, 16, "too large"},
    {"BEGIN { printf(\"%d %u %x %hd %ld %lld %c %s %% %p %Y\\n\", 1, pid, arg0, (short)1, arg0, 1ll, 'a', probename, arg1, walltimestamp); }", NULL, 0, 0, NULL},
    {"BEGIN { printf(\"%*d|%-*s|%.*d\", 1, 2, 3, \"a\", 4, 5); }", NULL, 0, 0, NULL},
    {"BEGIN { printf(\"%lx %llX\", timestamp, arg0); }", NULL, 0, 0, NULL},
};

static const struct wrong aggregations[] = {
    {"BEGIN { @a; }", "D_AGG_NULL", 1, 9, "expression has null effect"},
    {"BEGIN { @; }", "D_AGG_NULL", 1, 9, "@_"},
    {"BEGIN { @a = 1; }", "D_AGG_FUNC", 1, 14, "count"},
    {"BEGIN { @a = count; }", "D_AGG_FUNC", 1, 14, "count()"},
    {"BEGIN { @a = strlen(\"a\"); }", "D_AGG_FUNC", 1, 14, NULL},
    {"BEGIN { @a += count(); }", "D_AGG_FUNC", 1, 12, NULL},
    {"BEGIN { @a++; }", "D_AGG_FUNC", 1, 11, "@a = count()"},
    {"BEGIN { @a = cuont(); }", "D_FUNC_UNDEF", 1, 14, "did you mean 'count'?"},
    {"BEGIN { @a[1][2] = count(); }", "D_AGG_MDIM", 1, 9, "@a[x, y]"},
    {"BEGIN { @a = count(); x = @a; }", "D_IDENT_BADREF", 1, 27, NULL},
    {"BEGIN { @a[1] = count(); x = @a[1]; }", "D_IDENT_BADREF", 1, 30, NULL},
    {"BEGIN { @a = count(); @a = sum(1); }", "D_AGG_REDEF", 1, 28, NULL},
    {"BEGIN { @a = count(); @a[1] = count(); }", "D_PROTO_LEN", 1, 23, NULL},
    {"BEGIN { @a[1] = count(); @a[\"x\"] = count(); }", "D_PROTO_ARG", 1, 29, NULL},
    {"BEGIN { @a[1] = count(); @a[(char)2] = count(); @a[arg0] = count(); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = sum(\"x\"); }", "D_AGG_SCALAR", 1, 18, NULL},
    {"BEGIN { @a = quantize(1, \"x\"); }", "D_AGG_SCALAR", 1, 26, NULL},
    {"BEGIN { @a = count(1); }", "D_PROTO_LEN", 1, 14, "count( ) prototype mismatch: 1 arg passed, 0 expected"},
    {"BEGIN { @a = sum(); }", "D_PROTO_LEN", 1, 14, NULL},
    {"BEGIN { @a = lquantize(1, 2); }", "D_PROTO_LEN", 1, 14, "at least 3"},
    {"BEGIN { @a = lquantize(1, arg0, 2); }", "D_LQUANT_BASETYPE", 1, 27, NULL},
    {"BEGIN { @a = lquantize(1, \"a\", 2); }", "D_PROTO_ARG", 1, 27, NULL},
    {"BEGIN { @a = lquantize(1, 2147483648, 2147483649); }", "D_LQUANT_BASEVAL", 1, 27, NULL},
    {"BEGIN { @a = lquantize(1, 0, arg0); }", "D_LQUANT_LIMTYPE", 1, 30, NULL},
    {"BEGIN { @a = lquantize(1, 0, 0x100000000); }", "D_LQUANT_LIMVAL", 1, 30, NULL},
    {"BEGIN { @a = lquantize(1, 5, 5); }", "D_LQUANT_MISMATCH", 1, 30, NULL},
    {"BEGIN { @a = lquantize(1, 5, -5); }", "D_LQUANT_MISMATCH", 1, 30, NULL},
    {"BEGIN { @a = lquantize(1, 0, 10, arg0); }", "D_LQUANT_STEPTYPE", 1, 34, NULL},
    {"BEGIN { @a = lquantize(1, 0, 10, 0); }", "D_LQUANT_STEPTYPE", 1, 34, NULL},
    {"BEGIN { @a = lquantize(1, 0, 100000, 65536); }", "D_LQUANT_STEPVAL", 1, 38, NULL},
    {"BEGIN { @a = lquantize(1, 0, 10, 11); }", "D_LQUANT_STEPLARGE", 1, 34, NULL},
    {"BEGIN { @a = lquantize(1, 0, 65536, 1); }", "D_LQUANT_STEPSMALL", 1, 37, NULL},
    {"BEGIN { @a = lquantize(1, 0, 65535, 1); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = lquantize(1, -5, 5); @a = lquantize(2, -5, 5, 1); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = lquantize(1, 0, 10); @a = lquantize(1, 1, 10); }", "D_LQUANT_MATCHBASE", 1, 53, NULL},
    {"BEGIN { @a = lquantize(1, 0, 10); @a = lquantize(1, 0, 11); }", "D_LQUANT_MATCHLIM", 1, 56, NULL},
    {"BEGIN { @a = lquantize(1, 0, 10); @a = lquantize(1, 0, 10, 2); }", "D_LQUANT_MATCHSTEP", 1, 60, NULL},
    {"BEGIN { @a = llquantize(1, arg0, 0, 1, 10); }", "D_LLQUANT_FACTORTYPE", 1, 28, NULL},
    {"BEGIN { @a = llquantize(1, 1, 0, 1, 10); }", "D_LLQUANT_FACTORVAL", 1, 28, NULL},
    {"BEGIN { @a = llquantize(1, 65536, 0, 1, 10); }", "D_LLQUANT_FACTORVAL", 1, 28, NULL},
    {"BEGIN { @a = llquantize(1, 10, arg0, 1, 10); }", "D_LLQUANT_LMAGTYPE", 1, 32, NULL},
    {"BEGIN { @a = llquantize(1, 10, -1, 1, 10); }", "D_LLQUANT_LMAGVAL", 1, 32, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, arg0, 10); }", "D_LLQUANT_HMAGTYPE", 1, 35, NULL},
    {"BEGIN { @a = llquantize(1, 10, 3, 2, 10); }", "D_LLQUANT_HMAGVAL", 1, 35, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 19, 10); }", "D_LLQUANT_HMAGVAL", 1, 35, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 18, 10); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = llquantize(1, 2, 0, 63, 2); }", "D_LLQUANT_HMAGVAL", 1, 34, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, arg0); }", "D_LLQUANT_STEPTYPE", 1, 38, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 0); }", "D_LLQUANT_STEPTYPE", 1, 38, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 3); }", "D_LLQUANT_STEPVAL", 1, 38, "divide"},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 5); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 15); }", "D_LLQUANT_STEPVAL", 1, 38, "multiple"},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 20); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 30); }", "D_LLQUANT_STEPVAL", 1, 38, "squared"},
    {"BEGIN { @a = llquantize(1, 10, 1, 2, 100); }", NULL, 0, 0, NULL},
    {"BEGIN { @a = llquantize(1, 10, 1, 2, 200); }", "D_LLQUANT_STEPVAL", 1, 38, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 10); @a = llquantize(1, 10, 0, 2, 10); }", "D_LLQUANT_MATCHHMAG", 1, 69, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 10); @a = llquantize(1, 20, 0, 1, 10); }", "D_LLQUANT_MATCHFACTOR", 1, 62, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 10); @a = llquantize(1, 10, 1, 1, 10); }", "D_LLQUANT_MATCHLMAG", 1, 66, NULL},
    {"BEGIN { @a = llquantize(1, 10, 0, 1, 10); @a = llquantize(1, 10, 0, 1, 20); }", "D_LLQUANT_MATCHSTEPS", 1, 72, NULL},
    {"BEGIN { printa(@a); }", "D_PRINTA_AGGBAD", 1, 16, "undefined aggregation: @a"},
    {"BEGIN { printa(@a); @a = count(); }", "D_PRINTA_AGGBAD", 1, 16, "before"},
    {"BEGIN { printa(1); }", "D_PRINTA_AGGARG", 1, 16, NULL},
    {"BEGIN { @a[1] = count(); printa(@a[1]); }", "D_PRINTA_AGGARG", 1, 33, NULL},
    {"BEGIN { printa(\"x\"); }", "D_PRINTA_PROTO", 1, 16, NULL},
    {"BEGIN { @a = count(); printa(\"\", @a); }", "D_PRINTF_FMT_EMPTY", 1, 30, NULL},
    {"BEGIN { @a = count(); printa(probename, @a); }", "D_PRINTF_ARG_FMT", 1, 30, NULL},
    {"BEGIN { @a = count(); printa(\"%d\", @a); }", "D_PRINTF_ARG_PROTO", 1, 30, "%@d"},
    {"BEGIN { @a[\"k\"] = count(); printa(\"%d %@d\", @a); }", "D_PRINTF_ARG_TYPE", 1, 35, NULL},
    {"BEGIN { @a[\"k\"] = count(); printa(\"%@s\", @a); }", "D_PRINTF_ARG_TYPE", 1, 35, NULL},
    {"BEGIN { @a[\"k\", 1] = count(); printa(\"%@d\", @a); printa(\"%s %d %@8u %@x\", @a); }", NULL, 0, 0, NULL},
    {"BEGIN { @a[1] = count(); @b = count(); printa(@a, @b); }", "D_PRINTA_AGGKEY", 1, 51, NULL},
    {"BEGIN { @a[1] = count(); @b[\"x\"] = count(); printa(@a, @b); }", "D_PRINTA_AGGPROTO", 1, 56, NULL},
    {"BEGIN { clear(1); }", "D_CLEAR_AGGARG", 1, 15, NULL},
    {"BEGIN { clear(@a); }", "D_CLEAR_AGGBAD", 1, 15, NULL},
    {"BEGIN { trunc(1); }", "D_TRUNC_AGGARG", 1, 15, NULL},
    {"BEGIN { trunc(@a, 1); }", "D_TRUNC_AGGBAD", 1, 15, NULL},
    {"BEGIN { @a = count(); trunc(@a, \"x\"); }", "D_PROTO_ARG", 1, 33, NULL},
    {"BEGIN { normalize(1, 1); }", "D_NORMALIZE_AGGARG", 1, 19, NULL},
    {"BEGIN { denormalize(@a); }", "D_NORMALIZE_AGGBAD", 1, 21, NULL},
    {"BEGIN { @a = count(); normalize(@a); }", "D_PROTO_LEN", 1, 23, NULL},
    {"BEGIN { @a = count(); normalize(@a, \"x\"); }", "D_NORMALIZE_SCALAR", 1, 37, NULL},
    {"BEGIN { @a = count(); clear(@a, 1); }", "D_PROTO_LEN", 1, 23, NULL},
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
    } want[] = {{"D_SYNTAX", 1}, {"D_DECL_BADCLASS", 2}, {"D_IDENT_UNDEF", 3},
                {"D_SYNTAX", 4}, {"D_STR_NL", 5},        {"D_IDENT_UNDEF", 6}};
    assert_int_equal(d.diags.count, 6);
    for (size_t i = 0; i < 6; i++) {
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
