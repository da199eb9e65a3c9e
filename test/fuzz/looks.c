/* looks.c - see looks.h. */
#include "looks.h"

#include "beam/nodename.h"
#include "beam/pidtext.h"
#include "beam/probe/redact.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

#include "nif.h"

enum { TEXT = 600 };

/* Those that only get terms of the emulator. */
static void alive(ERL_NIF_TERM t)
{
    char text[TEXT];
    ERL_NIF_TERM node;
    if (read_is_frozen(t))
        return;
    pidtext(nif_env, t, 0, text, sizeof text);
    nodename_of(nif_env, t, &node);
}

static void as_text(ERL_NIF_TERM t)
{
    const struct terms_view v = {.redact = {1, {"x"}}};
    char text[TEXT];
    size_t n;
    uint64_t looked = 0;
    for (unsigned form = TERM_ERLANG; form <= (TERM_ELIXIR | TERM_ARGUMENTS); form++)
        term_shown(nif_env, t, form, &v, text, sizeof text, &looked);
    term_simple(nif_env, t, text, sizeof text);
    term_atom(nif_env, t, text, sizeof text);
    term_atom_utf8(nif_env, t, text, sizeof text);
    term_mfa(nif_env, t, t, 0, text, sizeof text);
    term_bytes(nif_env, t, text, sizeof text, &n);
    term_string(nif_env, t, &v, text, sizeof text, &looked);
    redact_key(nif_env, &v, t, &looked);
}

static void as_number(ERL_NIF_TERM t)
{
    const struct term_sizes sizes = term_sizes_of(nif_otp);
    uint64_t looked = 0;
    term_kind(nif_env, t);
    term_words_looked(nif_env, t, &sizes, &looked, &(bool){false});
    term_count(nif_env, t, &looked);
    term_length(nif_env, t, &looked);
    term_int(nif_env, t);
    term_is_int(nif_env, t, 1);
    term_scaled(nif_env, t, 1000);
    term_hash(nif_env, t, &looked);
}

void looks_at(ERL_NIF_TERM t, ERL_NIF_TERM other)
{
    enum { ELEMENTS = 3 };
    const ERL_NIF_TERM keys[] = {nif_int(1), nif_name("f"), nif_binary("f", 1, false), other, t};
    uint64_t looked = 0;
    ERL_NIF_TERM out;
    alive(t);
    as_text(t);
    as_number(t);
    term_equal(nif_env, t, other, &looked);
    term_is_record(nif_env, t, nif_name("r"));
    for (int64_t i = -1; i < ELEMENTS; i++)
        term_element(nif_env, t, i, &out, &looked);
    term_get(nif_env, t, "f", 1, &out, &looked);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        term_value(nif_env, t, keys[i], &out, &looked);
}
