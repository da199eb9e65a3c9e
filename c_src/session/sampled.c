/* sampled.c - variables at profile-N and wall-N in a node.
 *
 * The clauses of profile-N run some time after the sample was taken, when its process has gone on.
 * What other probes write into self-> or global variables would then be what holds later. So a
 * clause that reads such a variable is refused. Intervals run in the order of their times with the
 * samples, and BEGIN before them, so what these write is right. */
#include <string.h>

#include "session/session.h"

enum access { NO_ACCESS, READS, WRITES };

/* Returns what an instruction does with a variable that outlives the clause. Adding to one is no
 * reading: counters are shared between probes, whatever their order. */
static enum access access_of(unsigned op)
{
    switch (op) {
    case DIF_OP_LDGS:
    case DIF_OP_LDTS:
    case DIF_OP_LDGAA:
    case DIF_OP_LDTAA: return READS;
    case DIF_OP_STGS:
    case DIF_OP_ADDGS:
    case DIF_OP_STTS:
    case DIF_OP_ADDTS:
    case DIF_OP_STGAA:
    case DIF_OP_ADDGAA:
    case DIF_OP_STTAA:
    case DIF_OP_ADDTAA: return WRITES;
    default: return NO_ACCESS;
    }
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_profile(const struct dif_image *img, const struct dif_clause *c)
{
    return strcmp(dif_str(img, c->prov), "profile") == 0;
}

/* Whether a description is of profile-N or wall-N. */
static bool is_sample(const struct dif_image *img, const struct dif_clause *c)
{
    const char *name = dif_str(img, c->name);
    return begins(name, "profile-") || probe_is_wall(name) ||
           (name[0] == '\0' && is_profile(img, c));
}

/* Whether a description is of a probe whose clauses run in order with the samples. */
static bool is_in_order(const struct dif_image *img, const struct dif_clause *c)
{
    const char *name = dif_str(img, c->name);
    return is_sample(img, c) || is_profile(img, c) ||
           (c->id != 0 && c->id < TIER_ID_INTERVAL_END) ||
           strcmp(dif_str(img, c->prov), "dtrace") == 0 || begins(name, "tick-") ||
           strcmp(name, "BEGIN") == 0 || strcmp(name, "END") == 0 || strcmp(name, "ERROR") == 0;
}

/* Returns the clause that writes a variable out of order; NULL: none does. */
static const struct dif_clause *writer_of(const struct dif_image *img, unsigned var)
{
    for (uint32_t i = 0; i < img->nclauses; i++) {
        const struct dif_clause *c = &img->clauses[i];
        for (uint32_t pc = 0; !is_in_order(img, c) && pc < c->ncode; pc++) {
            const uint32_t in = img->code[c->code + pc];
            if (access_of(in >> 24) == WRITES && (in & 0xffff) == var)
                return c;
        }
    }
    return NULL;
}

bool session_reads_late(const struct dif_image *img, struct session_late *out)
{
    for (uint32_t i = 0; i < img->nclauses; i++) {
        const struct dif_clause *c = &img->clauses[i];
        for (uint32_t pc = 0; is_sample(img, c) && pc < c->ncode; pc++) {
            const uint32_t in = img->code[c->code + pc], var = in & 0xffff;
            const struct dif_clause *w = access_of(in >> 24) == READS ? writer_of(img, var) : NULL;
            if (w == NULL)
                continue;
            *out = (struct session_late){.var = &img->vars[var], .writer = w, .reader = c};
            for (uint32_t k = 0; k < c->nactions; k++) {
                const struct dif_action *a = &img->actions[c->action + k];
                if (pc >= a->pc && pc < a->pc + a->npc)
                    out->action = a;
            }
            return true;
        }
    }
    return false;
}
