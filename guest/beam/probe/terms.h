/* terms.h - terms of an event, as D programs handle them.
 *
 * A program gets a term as a HANDLE: the number of the event and the index of the term in a table
 * of that event (event.terms). No handle is an address, and none outlives its event: a handle that
 * a program kept or made up is not accepted. The table is on the thread's stack. */
#ifndef ET_BEAM_PROBE_TERMS_H
#define ET_BEAM_PROBE_TERMS_H

#include "beam/tracer.h"

/* Returns a handle of the term; of a term that the program has already, the same one.
 * ENGINE_TERMS_FULL: the event has as many as it can have. */
uint64_t terms_keep(struct event *ev, ERL_NIF_TERM t);

/* Returns a built-in variable of this event: engine_ctx.about. */
uint64_t terms_about(struct engine_ctx *ctx, unsigned builtin, uint64_t index);

/* The same where no process is concerned: BEGIN, END, intervals. */
uint64_t terms_about_nothing(struct engine_ctx *ctx, unsigned builtin, uint64_t index);

extern const struct engine_terms terms_ops;

enum { TERMS_CONSTANTS = 1000 /* atoms that the calls of atom() in a program may name */ };

/* Makes the atoms that a program names; word[i] becomes the one of string i of the image. Only for
 * the server. Returns NULL, or what is wrong. */
const char *terms_constants(ErlNifEnv *env, const struct dif_image *img, uint64_t *word);

#endif
