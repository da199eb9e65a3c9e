/* Writes the program image that the agent's tests use: a handful of clauses by hand, which the
 * tests bind to probes as they like. (The compiler has tests of its own.) The numbers are known to
 * agent_tests.erl: 0  @[probename, probefunc] = count() 1  trace(probename);
 * trace(copyinstr(arg0)); trace(copyinstr(arg1)); trace(arg2) 2  trace(probename);
 * trace(copyinstr(arg0)); trace(arg1); trace(arg2) 3  trace(probename); trace(timestamp), or
 * vtimestamp when called with "v", or caller, which only the kernel tier has, when called with "k",
 * or message, a term, with "t"; 4  exit(3) 5  trace(*(char *)0), a fault 6 trace(probename);
 * trace(copyinstr(arg3)) */
#include <stdio.h>

#include "../unit/dif_build.h"
#include "lang/encode.h"
#include "util/render.h"

#define TEXT ((struct dif_type){DIF_STRING, 256})
#define INT  ((struct dif_type){DIF_INT, 8})

static void text_arg(struct build *b, unsigned part, unsigned arg)
{
    build_op(b, dif_abc(DIF_OP_LDARG, 1, 0, arg));
    build_op(b, dif_abc(DIF_OP_PUSHTV, 1, 0, 0));
    build_op(b, dif_ai(DIF_OP_CALL, 1, DIF_SUBR_copyinstr));
    build_op(b, dif_ai(DIF_OP_REC, 1, part));
}

static void int_arg(struct build *b, unsigned part, unsigned arg)
{
    build_op(b, dif_abc(DIF_OP_LDARG, 1, 0, arg));
    build_op(b, dif_ai(DIF_OP_REC, 1, part));
}

static void builtin(struct build *b, unsigned part, unsigned which)
{
    build_op(b, dif_ai(DIF_OP_LDB, 1, which));
    build_op(b, dif_ai(DIF_OP_REC, 1, part));
}

static uint32_t pc(const struct build *b)
{
    return b->clauses[b->img.nclauses - 1].ncode;
}

/* One trace action that began at `from`. */
static uint32_t traced(struct build *b, uint32_t from, struct dif_type part)
{
    build_action(b, ACT_TRACE, from, part);
    return pc(b);
}

static uint32_t begin(struct build *b)
{
    build_clause(b);
    build_op(b, dif_abc(DIF_OP_RECB, 0, 0, 0));
    return pc(b);
}

int main(int argc, char **argv)
{
    static struct build b;
    uint32_t at;
    build_init(&b);
    b.img.builtins &= ~dif_builtin_bit(DIF_BUILTIN_erlname); /* it would need all processes */
    if (argc == 1)
        b.img.builtins &= ~dif_builtin_bit(DIF_BUILTIN_vtimestamp);

    uint32_t agg = build_agg(&b, AGG_COUNT, 2, (struct dif_type[]){TEXT, TEXT});
    build_clause(&b);
    build_op(&b, dif_ai(DIF_OP_LDB, 1, DIF_BUILTIN_probename));
    build_op(&b, dif_abc(DIF_OP_PUSHTR, 1, 0, 0));
    build_op(&b, dif_ai(DIF_OP_LDB, 1, DIF_BUILTIN_probefunc));
    build_op(&b, dif_abc(DIF_OP_PUSHTR, 1, 0, 0));
    build_op(&b, dif_ai(DIF_OP_AGG, 0, agg));
    build_action(&b, ACT_AGG, 0, (struct dif_type){0});
    build_end(&b);

    for (int texts = 2; texts >= 1; texts--) {
        at = begin(&b);
        builtin(&b, 0, DIF_BUILTIN_probename);
        at = traced(&b, at, TEXT);
        text_arg(&b, 1, 0);
        at = traced(&b, at, TEXT);
        if (texts == 2)
            text_arg(&b, 2, 1);
        else
            int_arg(&b, 2, 1);
        at = traced(&b, at, texts == 2 ? TEXT : INT);
        int_arg(&b, 3, 2);
        traced(&b, at, INT);
        build_end(&b);
    }

    at = begin(&b);
    builtin(&b, 0, DIF_BUILTIN_probename);
    at = traced(&b, at, TEXT);
    builtin(&b, 1,
            argc == 1         ? DIF_BUILTIN_timestamp
            : *argv[1] == 'k' ? DIF_BUILTIN_caller
            : *argv[1] == 't' ? DIF_BUILTIN_message
                              : DIF_BUILTIN_vtimestamp);
    traced(&b, at, INT);
    build_end(&b);

    at = begin(&b);
    build_op(&b, dif_ai(DIF_OP_SETI, 1, 3));
    build_op(&b, dif_ai(DIF_OP_REC, 1, 0));
    build_op(&b, dif_abc(DIF_OP_EXIT, 0, 0, 0));
    build_action(&b, ACT_EXIT, at, (struct dif_type){DIF_INT, 4});
    build_end(&b);

    at = begin(&b);
    build_op(&b, dif_ai(DIF_OP_SETI, 2, 0));
    build_op(&b, dif_abc(DIF_OP_LDSB, 1, 2, 0));
    build_op(&b, dif_ai(DIF_OP_REC, 1, 0));
    traced(&b, at, INT);
    build_end(&b);

    at = begin(&b);
    builtin(&b, 0, DIF_BUILTIN_probename);
    at = traced(&b, at, TEXT);
    text_arg(&b, 1, 3);
    traced(&b, at, TEXT);
    build_end(&b);

    struct diags d;
    struct buf out = BUF_INIT;
    diags_init(&d);
    if (dif_encode(&b.img, &out) != 0 || dif_verify(&b.img, &d) != 0) {
        for (size_t i = 0; i < d.count; i++)
            diag_render(&d, &d.list[i], &out);
        fprintf(stderr, "mkimage: %s\n", out.data ? out.data : "cannot encode");
        return 1;
    }
    return fwrite(out.data, 1, out.len, stdout) == out.len ? 0 : 1;
}
