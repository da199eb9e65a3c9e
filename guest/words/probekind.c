/* probekind.c - the kinds of probes, as probes.list describes them. */
#include "words/probekind.h"

#include <stddef.h>

static const struct word_probe probes[PROBE_NKINDS] = {
#define WORD_PROBE(num, name, by, text, needs) [num] = {text, PROBE_NEEDS_##name},
#include "words/probes.list"
#undef WORD_PROBE
};

const struct word_probe *word_probe(unsigned kind)
{
    return kind < PROBE_NKINDS && probes[kind].name ? &probes[kind] : NULL;
}

enum probe_kind probe_fn_event(enum probe_kind kind)
{
    switch (kind) {
    case PROBE_FN_BIF_ENTRY:
    case PROBE_FN_NIF_ENTRY: return PROBE_FN_ENTRY;
    case PROBE_FN_BIF_RETURN:
    case PROBE_FN_NIF_RETURN: return PROBE_FN_RETURN;
    default: return kind;
    }
}
