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
    erltrace_prog_t **program; /* of each program of the command line */
    uint64_t watched_ns;       /* from BEGIN to the end, as far as it has come */
};

/* Says why the last call failed, if no diagnostic has. Returns the exit code. */
int run_failed(struct run *r);
/* Whether an option is set. */
bool run_option(struct run *r, const char *name);

/* -- list.c: what is said of programs and probes (language.md 11.2, 11.3) -- */
/* `matched N probes`, for each program. */
void tell_matched(struct run *r);
/* The stability report of each program. */
void tell_stability(struct run *r);
/* What was set, in each target. */
void tell_placed(struct run *r);
/* silent.c: a trace has ended; when nothing came of it, says so, with the likeliest reason. */
void tell_silence(struct run *r);
/* -l: the header, then the probes. Each of them returns the exit code. */
int list_probes(struct run *r);
/* -h: the C header. */
int write_header(struct run *r);
/* The probes alone. */
int list_each(struct run *r);

#endif
