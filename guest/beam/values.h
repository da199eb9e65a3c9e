/* values.h - fires probes whose arguments are available as values, not as what came with a tracer's
 * callback.
 *
 * The server learns by message what no tracer is told (the system monitor, nodes that come and go)
 * and polls what changes all the time (schedulers, links); it fires the probes of these with
 * nif_event. A value becomes an argument when D reads it: a 64-bit integer is a number, any other
 * term is text. So the server passes exactly the arguments that the probe has, and never an integer
 * for one that is text (c_src/probe/ has their types). */
#ifndef ET_BEAM_VALUES_H
#define ET_BEAM_VALUES_H

#include <stdint.h>

#include "beam/tracer.h"

struct beam_value {
    enum { VALUE_NUMBER, VALUE_TERM } kind;
    uint64_t v; /* the number, or an ERL_NIF_TERM that lives as long as the firing */
};

/* Fires the named probe of every program that is bound to it. `pid` is the process that the probe
 * is about. The text of a binary is its bytes, of an atom its name without quotes, of {M, F, A}
 * with an arity that function, of any other term what term_text makes of it; each is cut after
 * TERM_TEXT - 1 bytes. Arguments from n on are 0. Must be called between engine_enter and
 * engine_leave of t, with the snapshot loaded there. */
void values_fire(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 enum probe_kind kind, ERL_NIF_TERM pid, const struct beam_value *value,
                 unsigned n);

/* Returns vtimestamp of the process that an event is about: as of the last time that it was
 * scheduled in or out, since it may be running meanwhile. */
uint64_t values_vtimestamp(struct engine_ctx *ctx);

/* nif_event(Kind, Pid, Arguments :: tuple()) -> ok: the server fires a probe. `self->` is that of
 * Pid; for anything but a local pid that of the server. */
ERL_NIF_TERM values_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_event_of(Program, Kind, Pid, Arguments) -> ok: the same for one program only. */
ERL_NIF_TERM values_of_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
