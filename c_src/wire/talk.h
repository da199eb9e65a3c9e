/* talk.h - logs the conversation with a node, for developers of erltrace.
 *
 * ERLTRACE_LOG in the environment names a file, to which each message that a connection sends or
 * receives is appended as a line: time, direction, peer, message. "-" and "stderr" mean the
 * standard error stream. Lines are written whole, so several connections, threads and processes can
 * share a file. They contain no cookie, since messages have none. They contain whatever a trace
 * reads in the node, so only its owner can read a new log file. */
#ifndef ET_WIRE_TALK_H
#define ET_WIRE_TALK_H

#include "base/diag.h"
#include "etf/etf.h"

struct talk;

/* Opens the log; *out is NULL when none was asked for. Returns 0, ET_ENOMEM, or ET_EIO with a
 * diagnostic (NODE_LOG). */
int talk_open(struct talk **out, struct diags *d);
/* Sets the node's name for the lines that follow. */
void talk_with(struct talk *t, const char *node);
/* Writes a line: `way` is "->", "<-" or "--"; then `word` and `term`, each unless NULL. t may be
 * NULL in all of these functions. */
void talk_line(struct talk *t, const char *way, const char *word, const struct etf *term);
void talk_close(struct talk *t);

#endif
