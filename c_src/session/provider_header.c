/* provider_header.c - C headers for the providers that programs define.
 *
 * A probe in a program is an instruction that does nothing, and a note in the section .note.stapsdt
 * that gives its address, its name and where its arguments are: the format that the tools of Linux
 * understand. The first half of every header is the same; it makes such a note. A probe's
 * semaphore, which a tracer increments while it watches, is a weak object, so that a program has
 * one of it however many files include the header. */
#include <ctype.h>
#include <string.h>

#include "session/handle.h"
#include "base/err.h"
#include "util/buftext.h"

enum { ARGS_MOST = 12 }; /* most arguments that the format has room for */

/* clang-format off */
static const char common[] =
"#ifndef ERLTRACE_USDT\n"
"#if defined __ELF__ && !defined ERLTRACE_NO_USDT && \\\n"
"    (defined __x86_64__ && !defined __ILP32__ || defined __aarch64__ && defined __AARCH64EL__)\n"
"#define ERLTRACE_USDT 1\n"
"#else\n"
"#define ERLTRACE_USDT 0 /* the probes are nothing */\n"
"#endif\n"
"#if ERLTRACE_USDT\n"
"/* A note: its name, and as its description three addresses (probe, base, semaphore) and three texts\n"
" * (provider, probe, arguments). The base is there to find out how far addresses were moved. */\n"
"#define ERLTRACE_USDT_NOTE(provider, name, semaphore, args) \\\n"
"    \"980: nop\\n\" \\\n"
"    \".pushsection .note.stapsdt, \\\"?\\\", \\\"note\\\"\\n\" \\\n"
"    \".balign 4\\n\" \\\n"
"    \".4byte 982f - 981f, 984f - 983f, 3\\n\" \\\n"
"    \"981: .asciz \\\"stapsdt\\\"\\n\" \\\n"
"    \"982: .balign 4\\n\" \\\n"
"    \"983: .8byte 980b, _.stapsdt.base, \" semaphore \"\\n\" \\\n"
"    \".asciz \\\"\" provider \"\\\"\\n\" \\\n"
"    \".asciz \\\"\" name \"\\\"\\n\" \\\n"
"    \".asciz \\\"\" args \"\\\"\\n\" \\\n"
"    \"984: .balign 4\\n\" \\\n"
"    \".popsection\\n\" \\\n"
"    \".ifndef _.stapsdt.base\\n\" \\\n"
"    \".pushsection .stapsdt.base, \\\"aG\\\", \\\"progbits\\\", .stapsdt.base, comdat\\n\" \\\n"
"    \".weak _.stapsdt.base\\n\" \\\n"
"    \".hidden _.stapsdt.base\\n\" \\\n"
"    \"_.stapsdt.base: .space 1\\n\" \\\n"
"    \".size _.stapsdt.base, 1\\n\" \\\n"
"    \".popsection\\n\" \\\n"
"    \".endif\\n\"\n"
"#ifdef __aarch64__ /* registers are named whole */\n"
"#define ERLTRACE_USDT_ARG(type, value) \"nor\"((long)(type)(value))\n"
"#else\n"
"#define ERLTRACE_USDT_ARG(type, value) \"nor\"((type)(value))\n"
"#endif\n"
"#endif\n"
"#endif\n";
/* clang-format on */

struct header {
    struct buf out;
    const char *file;
    erltrace_t *h;
    bool any; /* whether there is any probe */
    int error;
};

/* Appends a name in capitals: order__start as ORDER_START, shop-probes.h as SHOP_PROBES_H. */
static void put_capitals(struct buf *b, const char *s)
{
    for (; *s != '\0'; s++) {
        if (s[0] == '_' && s[1] == '_')
            s++;
        buf_addc(b, isalnum((unsigned char)*s) ? (char)toupper((unsigned char)*s) : '_');
    }
}

static void put_macro(struct buf *b, const struct compile_probe *p)
{
    put_capitals(b, p->provider);
    buf_addc(b, '_');
    put_capitals(b, p->ident);
}

static void put_parameters(struct buf *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%sarg%zu", i > 0 ? ", " : "", i);
}

/* Returns an integer type of this width, so that the header need not know the program's own types.
 */
static const char *type_of(signed char width)
{
    static const struct {
        signed char width;
        const char *type;
    } types[] = {{1, "unsigned char"}, {-1, "signed char"}, {2, "unsigned short"}, {-2, "short"},
                 {4, "unsigned int"},  {-4, "int"},         {8, "unsigned long"},  {-8, "long"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].width == width)
            return types[i].type;
    return NULL;
}

static void put_probe(struct buf *b, const struct compile_probe *p)
{
    buf_printf(b, "#define ");
    put_macro(b, p);
    buf_addc(b, '(');
    put_parameters(b, p->nargs);
    buf_printf(b,
               ") \\\n    __asm__ __volatile__( \\\n        ERLTRACE_USDT_NOTE(\"%s\", \"%s\", "
               "\"%s_%s_semaphore\", \"",
               p->provider, p->ident, p->provider, p->ident);
    for (size_t i = 0; i < p->nargs; i++)
        buf_printf(b, "%s%d@%%%zu", i > 0 ? " " : "", p->width[i], i);
    buf_printf(b, "\")");
    for (size_t i = 0; i < p->nargs; i++)
        buf_printf(b, "%sERLTRACE_USDT_ARG(%s, arg%zu)",
                   i > 0 ? ", \\\n           " : " \\\n        :: ", type_of(p->width[i]), i);
    buf_printf(b, ")\n#define ");
    put_macro(b, p);
    buf_printf(b,
               "_ENABLED() (*(volatile unsigned short *)&%s_%s_semaphore != 0)\n"
               "__attribute__((weak, visibility(\"hidden\"), section(\".probes\"))) "
               "unsigned short %s_%s_semaphore;\n",
               p->provider, p->ident, p->provider, p->ident);
}

static void put_nothing(struct buf *b, const struct compile_probe *p)
{
    buf_adds(b, "#define ");
    put_macro(b, p);
    buf_addc(b, '(');
    put_parameters(b, p->nargs);
    buf_adds(b, ") ((void)0");
    for (size_t i = 0; i < p->nargs; i++)
        buf_printf(b, ", (void)(arg%zu)", i);
    buf_adds(b, ")\n#define ");
    put_macro(b, p);
    buf_adds(b, "_ENABLED() 0\n");
}

static int cannot(struct header *g, const struct compile_probe *p, const char *why)
{
    g->error = ET_EUNSUP;
    return diag_error(&g->h->session.diags, ET_EUNSUP, NULL, "", NULL,
                      "probe %s:::%s cannot be made: %s", p->provider, p->name, why);
}

static int put_definition(void *arg, const struct compile_probe *p)
{
    struct header *g = arg;
    struct buf *b = &g->out;
    if (p->ident == NULL)
        return 0;
    if (p->nargs > ARGS_MOST)
        return cannot(g, p, "it has more than 12 arguments");
    for (size_t i = 0; i < p->nargs; i++)
        if (type_of(p->width[i]) == NULL)
            return cannot(g, p, "an argument is neither an integer nor a pointer");
    g->any = true;
    buf_printf(b, "\n/* %s:::%s(", p->provider, p->name);
    for (size_t i = 0; i < p->nargs; i++)
        buf_printf(b, "%s%s", i > 0 ? ", " : "", p->arg[i]);
    buf_adds(b, ") */\n#if ERLTRACE_USDT\n");
    put_probe(b, p);
    buf_adds(b, "#else\n");
    put_nothing(b, p);
    buf_adds(b, "#endif\n");
    return 0;
}

int erltrace_program_header(erltrace_t *h, FILE *fp, const char *name)
{
    if (!api_enter(h, API_OPEN, ERLTRACE_STATE_DONE))
        return -1;
    if (fp == NULL || name == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    if (h->compile_failed)
        return api_fail(h, ERLTRACE_E_COMPILE);
    if (h->session.program == NULL)
        return api_fail_text(h, ERLTRACE_E_STATE, "no provider is defined");
    struct header g = {.file = name, .h = h};
    buf_printf(&g.out, "/* %s - made by erltrace -h; to be changed where it was made from. */\n",
               name);
    buf_adds(&g.out, "#ifndef ERLTRACE_PROBES_");
    put_capitals(&g.out, name);
    buf_adds(&g.out, "\n#define ERLTRACE_PROBES_");
    put_capitals(&g.out, name);
    buf_adds(&g.out, "\n\n");
    buf_adds(&g.out, common);
    buf_adds(&g.out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    compile_probes(h->session.compile, put_definition, &g);
    buf_adds(&g.out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    int rc = g.error != 0 ? g.error : g.out.oom ? ET_ENOMEM : 0;
    if (rc == 0 && !g.any)
        rc = diag_error(&h->session.diags, ET_EINVAL, NULL, "", NULL, "no provider is defined");
    if (rc == 0 && (fwrite(g.out.data, 1, g.out.len, fp) != g.out.len || fflush(fp) != 0))
        rc = ET_EIO;
    buf_free(&g.out);
    return api_leave(h, rc);
}
