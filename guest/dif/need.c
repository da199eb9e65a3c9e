/* need.c - finds what an image uses and a tier lacks, or may not use: terms.
 *
 * Nothing is stored for this: the lists say on which tiers each built-in variable, subroutine, kind
 * of value and action exists, and which lead to terms. The image says what it uses, and where. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "dif/dif.h"

/* A search, which stops at the first thing that the tier lacks. */
struct search {
    const struct dif_image *img;
    enum word_tier tier;
    bool terms; /* it is for what leads to terms, on whatever tier */
    struct dif_need *need;
};

static bool lacks(const struct search *s, unsigned tiers, bool terms, const char *name,
                  const char *form)
{
    if (s->terms ? !terms : (tiers & s->tier) != 0)
        return false;
    name += name[0] == '_'; /* one from which members in lib/ are made */
    snprintf(s->need->name, sizeof s->need->name, "%s%s", name, form);
    s->need->tiers = (uint8_t)tiers;
    return true;
}

static bool type_lacks(const struct search *s, const struct dif_type *t)
{
    const struct dif_kind_info *k = dif_kind_info(t->kind);
    return k != NULL && lacks(s, k->tiers, false, k->name, "()");
}

static bool keys_lack(const struct search *s, const struct dif_keys *k)
{
    for (unsigned i = 0; i < k->n; i++)
        if (type_lacks(s, &k->key[i]))
            return true;
    return false;
}

static bool code_lacks(const struct search *s, const struct dif_clause *c, uint32_t pc, uint32_t n)
{
    const uint32_t *in = s->img->code + c->code + pc;
    for (uint32_t i = 0; i < n; i++) {
        unsigned op = in[i] >> 24, imm = in[i] & 65535;
        const struct dif_builtin_info *b =
            op == DIF_OP_LDB || op == DIF_OP_LDBA ? dif_builtin_info(imm) : NULL;
        const struct dif_subr_info *f = op == DIF_OP_CALL ? dif_subr_info(imm) : NULL;
        if (b != NULL && lacks(s, b->tiers, b->terms, b->name, b->array ? "[]" : ""))
            return true;
        if (f != NULL && lacks(s, f->tiers, f->terms, f->name, "()"))
            return true;
        if (op == DIF_OP_AGG && imm < s->img->naggs && keys_lack(s, &s->img->aggs[imm].keys))
            return true;
    }
    return false;
}

static bool action_lacks(const struct search *s, const struct dif_clause *c,
                         const struct dif_action *a)
{
    const struct dif_action_info *info = dif_action_info(a->kind);
    s->need->line = a->line;
    s->need->col = a->col;
    if (info != NULL && lacks(s, info->tiers, false, info->name, "()"))
        return true;
    for (uint32_t i = 0; i < a->nparts && size_within(a->part, a->nparts, s->img->nparts); i++)
        if (type_lacks(s, &s->img->parts[a->part + i]))
            return true;
    return size_within(a->pc, a->npc, c->ncode) && code_lacks(s, c, a->pc, a->npc);
}

static bool clause_lacks(const struct search *s, const struct dif_clause *c)
{
    if (!size_within(c->code, c->ncode, s->img->ncode) ||
        !size_within(c->action, c->nactions, s->img->nactions))
        return false; /* left to the verifier to reject */
    s->need->file = c->file;
    s->need->line = c->line;
    s->need->col = c->col;
    if (c->npred <= c->ncode && code_lacks(s, c, 0, c->npred))
        return true;
    for (uint32_t i = 0; i < c->nactions; i++)
        if (action_lacks(s, c, &s->img->actions[c->action + i]))
            return true;
    s->need->line = c->line;
    s->need->col = c->col;
    return code_lacks(s, c, 0, c->ncode); /* the code that belongs to no action */
}

static bool clauses_lack(const struct search *s)
{
    memset(s->need, 0, sizeof *s->need);
    s->need->file = DIF_NO_STRING;
    for (uint32_t i = 0; i < s->img->nclauses; i++)
        if (clause_lacks(s, &s->img->clauses[i]))
            return true;
    return false;
}

bool dif_uses_terms(const struct dif_image *img, struct dif_need *need)
{
    const struct search s = {.img = img, .terms = true, .need = need};
    return clauses_lack(&s);
}

bool dif_lacks(const struct dif_image *img, enum word_tier tier, struct dif_need *need)
{
    const struct search s = {.img = img, .tier = tier, .need = need};
    if (clauses_lack(&s))
        return true;
    need->line = need->col = 0;
    need->file = DIF_NO_STRING;
    for (uint32_t i = 0; i < img->nvars; i++) /* what no clause uses is refused as well */
        if (type_lacks(&s, &img->vars[i].type) || keys_lack(&s, &img->vars[i].keys))
            return true;
    for (uint32_t i = 0; i < img->naggs; i++)
        if (keys_lack(&s, &img->aggs[i].keys))
            return true;
    for (uint32_t i = 0; i < img->nparts; i++)
        if (type_lacks(&s, &img->parts[i]))
            return true;
    return false;
}

int dif_verify_for(const struct dif_image *img, enum word_tier tier, struct diags *d)
{
    struct dif_need need;
    int err = dif_verify(img, d);
    if (err == 0 && dif_lacks(img, tier, &need))
        err = diag_error(d, ET_EUNSUP, NULL, "DIF_VERIFY", NULL,
                         "the program image uses %s, which only %s has", need.name,
                         dif_tier_text(need.tiers));
    return err;
}

const char *dif_tier_text(unsigned tiers)
{
    return (tiers & WORD_LOCAL) != 0 ? "the local tier"
           : (tiers & WORD_VM) != 0  ? "the vm tier"
                                     : "the kernel tier";
}

bool dif_reads_argument(const struct dif_image *img, uint32_t clause, unsigned n)
{
    const struct dif_clause *c = &img->clauses[clause];
    if (!size_within(c->code, c->ncode, img->ncode))
        return false;
    for (uint32_t i = 0; i < c->ncode; i++)
        if ((img->code[c->code + i] & 0xff0000ff) == dif_abc(DIF_OP_LDARG, 0, 0, n))
            return true;
    return false;
}
