/* examine.c - reads the agent's findings about its node: doc/agent-protocol.md, `examine`. */
#include "tier/vm_agent.h"
#include "etf/etf.h"
#include "util/buftext.h"

enum { EXAMINE_MS = 30000 };

int agent_examine(struct vm_agent *a, tier_finding_fn fn, void *arg, struct diags *d)
{
    struct etf r;
    uint32_t arity;
    char subject[ETF_ATOM_MAX], level[ETF_ATOM_MAX];
    struct buf text = BUF_INIT, help = BUF_INIT;
    int e = agent_call(a, "examine", EXAMINE_MS, &r, &arity, d);
    if (e)
        return e;
    uint32_t n = etf_list(&r);
    for (uint32_t i = 0; i < n && !r.bad; i++) {
        if (etf_tuple(&r) != 4)
            r.bad = true;
        etf_atom(&r, subject);
        etf_atom(&r, level);
        buf_reset(&text);
        buf_reset(&help);
        etf_text(&r, &text);
        etf_text(&r, &help);
        if (!r.bad)
            fn(arg, &(struct tier_finding){subject, level, buf_str(&text), buf_str(&help)});
    }
    if (n)
        etf_list_end(&r);
    buf_free(&text);
    buf_free(&help);
    return r.bad || arity != 1 ? agent_malformed(a, "examine", d) : 0;
}
