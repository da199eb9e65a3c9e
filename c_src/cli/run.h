/* run.h - what the steps of one run share. */
#ifndef ET_CLI_RUN_H
#define ET_CLI_RUN_H

#include "cli/cli.h"
#include "cli/screen.h"

struct run {
    struct args *a;
    struct arena *arena;
    struct screen screen;
    erltrace_t *h;
    erltrace_prog_t **program; /* one for each program of the command line */
    unsigned warned;           /* warnings before the trace began */
    uint64_t watched_ns;       /* time since BEGIN, up to the end */
};

/* Reports why the last call failed, unless a diagnostic has. Returns the exit code. */
int run_failed(struct run *r);
/* Returns whether an option is set. */
bool run_option(struct run *r, const char *name);

/* -- list.c: reports on programs and probes (language.md 11.2, 11.3) -- */
/* Prints `matched N probes` for each program. */
void tell_matched(struct run *r);
/* Prints the stability report of each program. */
void tell_stability(struct run *r);
/* Prints what was set in each target. */
void tell_placed(struct run *r);
/* Prints how far the clocks of several nodes are ahead of this host's. */
void tell_clocks(struct run *r);
/* silent.c: reports that a full buffer has ended the trace (bufpolicy=fill). */
void tell_filled(struct run *r);
/* Reports that a finished trace produced nothing, with the likeliest reason. */
void tell_silence(struct run *r);
/* -l: prints the header, then the probes. Returns the exit code, as the next two do. */
int list_probes(struct run *r);
/* -h: writes the C header. */
int write_header(struct run *r);
/* Prints the probes without the header. */
int list_each(struct run *r);

#endif
