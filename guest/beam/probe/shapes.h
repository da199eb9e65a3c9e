/* shapes.h - whether what the VM hands to trace/5 has a shape that the agent knows: shapes.list.
 *
 * Each event is looked at before anything reads it. One that no row describes is dropped: it fires
 * nothing and changes nothing that the agent has noted. It is counted, on its thread, for every
 * program of which it may be an event, and the server tells what it was once a second at most.
 *
 * The look is a few compares, and as many calls of the VM as the shape has parts. Two shapes are
 * looked at where they are read anyway, so as not to be read twice: CALL by tracer_call, and TO by
 * tracer_send, where a program has a probe that reads it. */
#ifndef ET_BEAM_PROBE_SHAPES_H
#define ET_BEAM_PROBE_SHAPES_H

#include "beam/tracer.h"

enum { SHAPES_WORDS = 32 /* pairs of a list of sizes that are looked at */ };

/* Takes the rows of an OTP release. Once, after the atoms are made. */
void shapes_init(int otp);
/* Returns whether an event has the shape that its tag has; takes the arguments of trace/5. *port:
 * it is one of a port. */
bool shapes_known(ErlNifEnv *env, const ERL_NIF_TERM argv[], bool *port);
/* Counts an event of another shape. Between engine_enter and engine_leave of t. */
void shapes_lost(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[]);

/* Counts a call whose arguments are none that its function has, for the programs with a probe of
 * it. */
void shapes_lost_call(const struct bounds *b, const struct engine_thread *t);

/* nif_unknown() -> [Tag]: of what events had an unknown shape since the last call; `other`: of ones
 * with a tag that no row has. */
ERL_NIF_TERM shapes_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
