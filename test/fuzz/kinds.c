/* kinds.c - fuzz target: every look of the agent at a term, of which any part may be of a kind that
 * nobody has defined, or a native record of any form.
 *
 * The first byte says which release this is, of which the agent does not know one; then come the
 * terms. The stub (nif.h) ends the program when the emulator is asked what it must not be. */
#include "fuzz.h"
#include "looks.h"
#include "made.h"
#include "nif.h"

#include "beam/probe/frozen.h"
#include "beam/probe/term.h"

enum { ROOM = 400 };

/* In a room of its own, so that a sanitizer sees who writes or reads past it. */
static void look_at_copy(struct made *m, ERL_NIF_TERM t, ERL_NIF_TERM other)
{
    const size_t n = input_bytes(&m->in, 2) % ROOM;
    uint64_t *room = malloc((n > 0 ? n : 1) * sizeof *room);
    size_t used;
    bool whole;
    must(room != NULL, "(memory is out)", NULL);
    const ERL_NIF_TERM copy =
        frozen_args(nif_env, nif_cons(t, nif_cons(other, nif_nil())), room, n, &used, &whole);
    must(used <= n, "a copy takes no more than it was given", NULL);
    if (copy != 0) {
        looks_at(copy, t);
        looks_at(t, copy);
    }
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int releases[] = {25, 27, 29, 30};
    struct made m = {.in = {data, size}};
    nif_otp = releases[input_byte(&m.in) % (sizeof releases / sizeof *releases)];
    must(term_init(nif_env, nif_otp) == (nif_otp < 30), "a release's kinds are known", NULL);
    term_text_init(nif_otp);
    nif_name("f");
    nif_callback = true;
    const ERL_NIF_TERM t = made_any(&m, 0), other = made_any(&m, 0);
    looks_at(t, other);
    looks_at(other, t);
    looks_at(t, t);
    look_at_copy(&m, t, other);
    nif_callback = false;
    term_text_done();
    nif_reset();
    return 0;
}
