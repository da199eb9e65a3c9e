/* talk.h - the conversation with a node, written down for people who work on erltrace.
 *
 * ERLTRACE_LOG in the environment names a file, to whose end each message that a connection sends
 * or receives is added as a line: when, which way, with whom, what. "-" and "stderr" stand for the
 * standard error stream. Lines are written whole, so several connections, threads and processes can
 * share a file. They hold no cookie, since messages have none; they hold whatever a trace reads in
 * the node, so a new file can be read by its owner alone. */
#ifndef ET_WIRE_TALK_H
#define ET_WIRE_TALK_H

#include "base/diag.h"
#include "etf/etf.h"

struct talk;

/* *out is NULL when nobody asks for it. 0, ET_ENOMEM, or ET_EIO with a diagnostic (NODE_LOG). */
int talk_open(struct talk **out, struct diags *d);
/* The name of the node, for the lines that follow. */
void talk_with(struct talk *t, const char *node);
/* A line: `way` is "->", "<-" or "--"; then a word, when there is one, and a term, when there is
 * one. t may be NULL in all of these. */
void talk_line(struct talk *t, const char *way, const char *word, const struct etf *term);
void talk_close(struct talk *t);

#endif
