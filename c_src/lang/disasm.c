/* disasm.c - programs as text, for -S. One table of mnemonics, generated from opcodes.list. */
#include "dif/dif.h"

#include <ctype.h>
#include <string.h>

#include "dif/opformat.h"
#include "lang/encode.h"
#include "util/buftext.h"

static const struct {
    const char *name;
    uint8_t format;
} op_info[256] = {
#define DIF_OP(num, name, fmt, text) [num] = {#name, FORMAT_##fmt},
#include "dif/opcodes.list"
#undef DIF_OP
};

static const char *const scope_name[] = {"?", "", "self->", "this->"};
static void put_type(struct buf *out, const struct dif_type *t)
{
    const struct dif_kind_info *k = dif_kind_info(t->kind);
    if (t->kind <= DIF_UINT)
        buf_printf(out, "%s%u_t", k ? k->name : "?", t->size * 8);
    else
        buf_printf(out, "%s[%u]", k ? k->name : "?", t->size);
}

/* Names the tiers of something that not every tier supports. */
static void put_tiers(struct buf *out, unsigned tiers)
{
    if ((tiers & WORD_LOCAL) == 0)
        buf_printf(out, ", needs %s", dif_tier_text(tiers));
}

/* Prints the meaning of an instruction's imm as a comment. */
static void put_comment(const struct dif_image *img, const struct dif_clause *c, uint32_t in,
                        struct buf *out)
{
    unsigned imm = in & 65535;
    switch (in >> 24) {
    case DIF_OP_SETX:
    case DIF_OP_BOUND:
        if (imm < img->nints)
            buf_printf(out, "\t; 0x%llx", (unsigned long long)img->ints[imm]);
        break;
    case DIF_OP_SETS:
        buf_adds(out, "\t; ");
        buf_json(out, dif_str(img, imm), strlen(dif_str(img, imm)));
        break;
    case DIF_OP_LDB:
    case DIF_OP_LDBA:
        if (dif_builtin_info(imm) != NULL) {
            buf_printf(out, "\t; %s%s", dif_builtin_info(imm)->name,
                       dif_builtin_info(imm)->array ? "[]" : "");
            put_tiers(out, dif_builtin_info(imm)->tiers);
        }
        break;
    case DIF_OP_CALL:
        if (dif_subr_info(imm) != NULL) {
            buf_printf(out, "\t; %s()", dif_subr_info(imm)->name);
            put_tiers(out, dif_subr_info(imm)->tiers);
        }
        break;
    case DIF_OP_AGG:
        if (imm < img->naggs && word_agg(img->aggs[imm].func) != NULL)
            buf_printf(out, "\t; @%s = %s()", dif_str(img, img->aggs[imm].name),
                       word_agg(img->aggs[imm].func)->name);
        break;
    case DIF_OP_REC:
        if (imm < c->nparts) {
            buf_adds(out, "\t; ");
            put_type(out, &img->parts[c->part + imm]);
            put_tiers(out, dif_kind_info(img->parts[c->part + imm].kind)->tiers);
        }
        break;
    case DIF_OP_LDGS:
    case DIF_OP_STGS:
    case DIF_OP_ADDGS:
    case DIF_OP_LDTS:
    case DIF_OP_STTS:
    case DIF_OP_ADDTS:
    case DIF_OP_LDLS:
    case DIF_OP_STLS:
    case DIF_OP_LDGAA:
    case DIF_OP_STGAA:
    case DIF_OP_ADDGAA:
    case DIF_OP_LDTAA:
    case DIF_OP_STTAA:
    case DIF_OP_ADDTAA:
        if (imm < img->nvars)
            buf_printf(out, "\t; %s%s", scope_name[img->vars[imm].scope & 3],
                       dif_str(img, img->vars[imm].name));
        break;
    default: break;
    }
}

static void put_insn(const struct dif_image *img, const struct dif_clause *c, uint32_t pc,
                     struct buf *out)
{
    uint32_t in = img->code[c->code + pc];
    unsigned a = in >> 16 & 255, b = in >> 8 & 255, n = in & 255, imm = in & 65535;
    char name[16] = "?";
    const char *s = op_info[in >> 24].name;
    for (size_t i = 0; s != NULL && i < sizeof name - 1; i++) {
        name[i] = (char)tolower((unsigned char)s[i]);
        if (s[i] == '\0')
            break;
    }
    buf_printf(out, "    %04x: %08x  %-8s", pc, in, name);
    switch (op_info[in >> 24].format) {
    case FORMAT_A: buf_printf(out, "%%r%u", a); break;
    case FORMAT_AB:
    case FORMAT_RAB: buf_printf(out, "%%r%u, %%r%u", a, b); break;
    case FORMAT_RABC:
    case FORMAT_ABC: buf_printf(out, "%%r%u, %%r%u, %%r%u", a, b, n); break;
    case FORMAT_AI:
    case FORMAT_RAI:
    case FORMAT_UAI:
        if (in >> 24 == DIF_OP_SETI)
            buf_printf(out, "%%r%u, %d", a, (int16_t)imm);
        else
            buf_printf(out, "%%r%u, %u", a, imm);
        break;
    case FORMAT_I: buf_printf(out, "%u", imm); break;
    case FORMAT_ABN: buf_printf(out, "%%r%u, %%r%u, %u", a, b, n); break;
    case FORMAT_AN: buf_printf(out, "%%r%u, %u", a, n); break;
    case FORMAT_T: buf_printf(out, "%04x", in & 0xffffff); break;
    default: break;
    }
    put_comment(img, c, in, out);
    buf_addc(out, '\n');
}

void dif_disasm_clause(const struct dif_image *img, uint32_t clause, struct buf *out)
{
    const struct dif_clause *c = &img->clauses[clause];
    if (c->id != 0)
        buf_printf(out, "clause %u: probe id %u", clause, c->id);
    else
        buf_printf(out, "clause %u: %s:%s:%s:%s", clause, dif_str(img, c->prov),
                   dif_str(img, c->mod), dif_str(img, c->func), dif_str(img, c->name));
    buf_printf(out, "  (%s:%u:%u)%s\n", dif_str(img, c->file), c->line, c->col,
               c->records ? ", records" : "");
    uint32_t next = 0;
    if (c->npred > 0)
        buf_adds(out, "  predicate\n");
    for (uint32_t pc = 0; pc < c->ncode; pc++) {
        for (; next < c->nactions && img->actions[c->action + next].pc <= pc; next++) {
            const struct dif_action_info *a = dif_action_info(img->actions[c->action + next].kind);
            buf_printf(out, "  action %u: %s", next + 1, a->name);
            put_tiers(out, a->tiers);
            buf_addc(out, '\n');
        }
        put_insn(img, c, pc, out);
    }
}

void dif_disasm(const struct dif_image *img, struct buf *out)
{
    for (uint32_t i = 0; i < img->nclauses; i++) {
        if (i > 0)
            buf_addc(out, '\n');
        dif_disasm_clause(img, i, out);
    }
}
