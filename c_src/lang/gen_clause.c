/* gen_clause.c - code for clauses: [predicate][RECB][statements] RET, with the tables of actions
 * and parts.
 *
 * A clause with if/else is cut into sub-clauses: runs of statements between branches. Each
 * recording sub-clause is RECN [statements] RECE. A condition is an action of its own, an
 * expression, so that its faults have a number.
 *
 * A false predicate branches to the final RET. Each statement is one action, and its instructions
 * follow those of the previous one, so an action and an offset identify a fault. */
#include "lang/gen.h"
#include "probe/probe.h"

#include <string.h>

static uint32_t parts_so_far(const struct gen *g)
{
    return (uint32_t)(g->parts.len / sizeof(struct dif_type));
}

/* Records the contents of a register as the next part. */
static void record_reg(struct gen *g, unsigned reg, struct dif_type type)
{
    uint32_t part = parts_so_far(g) - g->clause_part;
    if (part > UINT16_MAX)
        gen_fail(g, "D_UNKNOWN", "the clause records too much", "split it into several clauses");
    buf_add(&g->parts, &type, sizeof type);
    gen_emit(g, dif_ai(DIF_OP_REC, reg, part));
}

/* Records a value. */
static void record(struct gen *g, const struct node *n, struct dif_type type)
{
    struct gen_value v = gen_read(g, n);
    record_reg(g, v.reg, type);
    gen_done(g, v);
}

/* Records for print() the address and the bytes at it. */
static void record_object(struct gen *g, const struct lang_stmt *s)
{
    struct gen_value v = gen_read(g, s->args);
    record_reg(g, v.reg, (struct dif_type){DIF_UINT, 8});
    record_reg(g, v.reg, (struct dif_type){DIF_BYTES, s->size});
    gen_done(g, v);
}

/* Returns the type with which an argument of an action is recorded. */
static struct dif_type part_type(const struct gen *g, const struct lang_stmt *s,
                                 const struct node *n)
{
    switch (s->act) {
    case ACT_TRUNC: return (struct dif_type){DIF_INT, 8};
    case ACT_NORMALIZE: return (struct dif_type){DIF_UINT, 8};
    case ACT_EXIT:
    case ACT_RAISE: return (struct dif_type){DIF_INT, 4};
    case ACT_TRACEMEM:
        if (n != s->args)
            return (struct dif_type){DIF_INT, 8};
        return (struct dif_type){DIF_BYTES, s->size};
    default: return gen_type(g, n->type);
    }
}

static uint32_t actions_so_far(const struct gen *g)
{
    return (uint32_t)(g->actions.len / sizeof(struct dif_action));
}

/* Starts an action here. */
static struct dif_action action_begin(struct gen *g, const struct lang_stmt *s)
{
    struct dif_action a;
    memset(&a, 0, sizeof a);
    g->pos = &s->pos;
    a.kind = s->act == ACT_IF ? ACT_EXPR : s->act;
    a.pc = gen_pc(g);
    a.part = parts_so_far(g);
    a.ref = (uint32_t)(g->refs.len / 4);
    a.format = s->format ? gen_str(g, s->format) : DIF_NO_STRING;
    a.line = (uint32_t)s->pos.line;
    a.col = (uint32_t)s->pos.col;
    return a;
}

static void action_end(struct gen *g, struct dif_action *a)
{
    a->npc = gen_pc(g) - a->pc;
    a->nparts = parts_so_far(g) - a->part;
    buf_add(&g->actions, a, sizeof *a);
}

/* speculate, commit, discard. A record that speculate redirects begins after it. */
static void speculation(struct gen *g, const struct lang_stmt *s, uint32_t begin)
{
    static const enum dif_op ops[] = {[ACT_SPECULATE] = DIF_OP_SPEC,
                                      [ACT_COMMIT] = DIF_OP_COMMIT,
                                      [ACT_DISCARD] = DIF_OP_DISCARD};
    struct gen_value v = gen_read(g, s->args);
    gen_emit(g, dif_abc(ops[s->act], v.reg, 0, 0));
    gen_done(g, v);
    if (s->act == ACT_SPECULATE)
        gen_emit(g, begin);
}

/* The subroutine that implements an action; 0: none. */
static const uint8_t action_subr[] = {
    [ACT_COPYOUT] = DIF_SUBR_copyout, [ACT_COPYOUTSTR] = DIF_SUBR_copyoutstr,
    [ACT_CHILL] = DIF_SUBR_chill,     [ACT_STOP] = DIF_SUBR_stop,
    [ACT_PCAP] = DIF_SUBR_pcap,       [ACT_IF] = 0, /* the last index */
};

/* begin: the instruction that begins the record. */
static void statement(struct gen *g, const struct lang_stmt *s, uint32_t begin)
{
    struct dif_action a = action_begin(g, s);
    if (s->act == ACT_EXPR) {
        gen_effect(g, s->expr);
    } else if (s->act == ACT_AGG) {
        struct label unknown = {0};
        if (s->known)
            gen_jump(g, s->known, false, &unknown);
        g->maybe += s->known != NULL;
        if (s->sized)
            gen_unreg(g, gen_call(g, DIF_SUBR_lower, NULL));
        gen_tuple(g, s->args, s->agg->key, s->agg->nkeys);
        gen_emit(g, dif_ai(DIF_OP_AGG, 0, s->agg->id));
        g->maybe -= s->known != NULL;
        if (s->known && s->sized) {
            struct label end = {0};
            gen_branch(g, DIF_OP_BA, &end);
            gen_place(g, &unknown);
            gen_unreg(g, gen_call(g, DIF_SUBR_uncounted, NULL));
            gen_place(g, &end);
        } else {
            gen_place(g, &unknown);
        }
        buf_add(&g->refs, &s->agg->id, sizeof s->agg->id);
        a.nrefs = 1;
    } else if (s->act == ACT_SPECULATE || s->act == ACT_COMMIT || s->act == ACT_DISCARD) {
        speculation(g, s, begin);
    } else if (s->act == ACT_PRINT) {
        record_object(g, s);
    } else if (action_subr[s->act] != 0) {
        gen_unreg(g, gen_call(g, action_subr[s->act], s->args));
    } else {
        for (const struct node *n = s->args; n; n = n->next)
            record(g, n, part_type(g, s, n));
        for (const struct lang_aggref *r = s->refs; r; r = r->next, a.nrefs++)
            buf_add(&g->refs, &r->agg->id, sizeof r->agg->id);
        if (s->act == ACT_EXIT)
            gen_emit(g, dif_abc(DIF_OP_EXIT, 0, 0, 0));
    }
    action_end(g, &a);
}

/* Generates the statements from s up to the next branch; returns that branch. */
static const struct lang_stmt *sub_clause(struct gen *g, const struct lang_stmt *s)
{
    const struct lang_stmt *end = s;
    const uint32_t begin = dif_ai(DIF_OP_RECN, 0, g->clause_subs);
    bool records = false, speculates = false;
    for (; end && end->act != ACT_IF; end = end->next) {
        records = records || end->records;
        speculates = speculates || end->act == ACT_SPECULATE;
    }
    struct dif_sub sub = {actions_so_far(g), 0, parts_so_far(g), 0};
    if (records && !speculates)
        gen_emit(g, begin);
    for (; s != end; s = s->next)
        statement(g, s, begin);
    if (records) {
        gen_emit(g, dif_abc(DIF_OP_RECE, 0, 0, 0));
        sub.nactions = actions_so_far(g) - sub.action;
        sub.nparts = parts_so_far(g) - sub.part;
        buf_add(&g->subs, &sub, sizeof sub);
        if (g->clause_subs++ == UINT16_MAX)
            gen_fail(g, "D_UNKNOWN", "the clause has too many branches", NULL);
    }
    return end;
}

static void branching(struct gen *g, const struct lang_stmt *s)
{
    while (s) {
        struct label no = {0}, end = {0};
        s = sub_clause(g, s);
        if (!s)
            return;
        struct dif_action a = action_begin(g, s);
        gen_jump(g, s->expr, false, &no);
        action_end(g, &a);
        g->maybe++;
        branching(g, s->yes);
        if (s->no)
            gen_branch(g, DIF_OP_BA, &end);
        gen_place(g, &no);
        branching(g, s->no);
        gen_place(g, &end);
        g->maybe--;
        s = s->next;
    }
}

void gen_clause(struct gen *g, const struct lang_clause *c, const struct lang_desc *d)
{
    struct dif_clause out;
    struct label end = {0};
    memset(&out, 0, sizeof out);
    g->pos = &d->pos;
    g->regs = 0;
    const struct probe_spec spec = {d->prov, d->mod, d->func, d->name, d->id};
    g->of_node = g->passing != NULL && g->is_of_node(g->is_of_node_arg, &spec);
    reuse_plan(g, c);
    g->clause_code = (uint32_t)(g->code.len / 4);
    g->clause_part = parts_so_far(g);
    out.prov = gen_str(g, d->prov);
    out.mod = gen_str(g, d->mod);
    out.func = gen_str(g, d->func);
    out.name = gen_str(g, d->name);
    out.id = d->id;
    out.file = gen_str(g, d->pos.file);
    out.line = (uint32_t)d->pos.line;
    out.col = (uint32_t)d->pos.col;
    out.code = g->clause_code;
    out.part = g->clause_part;
    out.action = actions_so_far(g);
    out.sub = (uint32_t)(g->subs.len / sizeof(struct dif_sub));
    out.records = c->records;
    g->clause_subs = 0;
    if (c->pred) {
        gen_predicate(g, c->pred, &end);
        out.npred = gen_pc(g);
    }
    if (c->branches) {
        branching(g, c->stmts);
    } else {
        const uint32_t begin = dif_abc(DIF_OP_RECB, 0, 0, 0);
        bool speculates = false;
        for (const struct lang_stmt *s = c->stmts; s; s = s->next)
            speculates = speculates || s->act == ACT_SPECULATE;
        if (c->records && !speculates)
            gen_emit(g, begin);
        for (const struct lang_stmt *s = c->stmts; s; s = s->next)
            statement(g, s, begin);
    }
    gen_place(g, &end);
    gen_emit(g, dif_abc(DIF_OP_RET, 0, 0, 0));
    out.ncode = gen_pc(g);
    out.nactions = actions_so_far(g) - out.action;
    out.nsubs = g->clause_subs;
    out.nparts = parts_so_far(g) - g->clause_part;
    buf_add(&g->clauses, &out, sizeof out);
}
