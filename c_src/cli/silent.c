/* silent.c - reports why a trace has ended early, or without any result.
 *
 * An empty screen has many causes, and usually something did happen. The report rests on the
 * trace's numbers: whether probes of a node fired at all, what was set for them, and whether
 * anything was printed. It is omitted for a trace that only watches itself (BEGIN, END, intervals),
 * one that found something, and one whose end has already been explained. */
#include <inttypes.h>

#include "cli/run.h"

enum { MOMENT_MS = 200 /* a trace that ends itself sooner has not watched anything */ };

/* What was set, summed over all nodes. */
struct placed {
    uint64_t left_out, functions, only;
    uint64_t asked; /* functions of which the VM reports only some calls */
    bool filtered;  /* flags on a few processes only */
};

static int add_placed(const struct erltrace_placed *p, void *arg)
{
    struct placed *all = arg;
    all->left_out += p->left_out;
    all->functions += p->meta + p->local + p->global + p->counted;
    all->only += p->only_processes;
    all->asked += p->filtered;
    all->filtered = all->filtered || p->only_flags[0] != '\0';
    return 0;
}

/* Returns why no probe fired, as far as what was set tells. nothing: no enabled probe can be named.
 * warned: warnings were shown, which know it better. */
static const char *unfired(const struct placed *p, bool nothing, bool warned)
{
    if (warned)
        return "the warnings above say what could not be seen";
    if (nothing && p->left_out > 0)
        return "the predicates can never be true on these probes, so none was watched";
    if (p->filtered && p->only == 0)
        return "the process that the predicates name was not there; whereis(NAME) in the node, or "
               "ps, gives the pid of one that is";
    if (p->functions > 0 && p->filtered)
        return "the processes that the predicates name did not call it; without the predicate the "
               "trace shows who does";
    if (p->asked > 0)
        return "no call had arguments for which a predicate is true, or nothing called them; with "
               "-x filters=off the trace counts all calls as events";
    if (p->functions > 0)
        return "nothing called them: they may run in another node, or rarely (--for 1m waits "
               "longer); a probe on their callers shows which way the work goes";
    return "no such event happened: --for 1m waits longer";
}

void tell_filled(struct run *r)
{
    const uint64_t n = erltrace_status(r->h)->filled;
    if (n > 0 && !r->screen.broken)
        screen_note(&r->screen, "-x bufsize=N makes the buffers larger, one for each CPU or thread",
                    "a buffer was full, which ended the trace (bufpolicy=fill)");
}

void tell_silence(struct run *r)
{
    const struct erltrace_status *st = erltrace_status(r->h);
    const char *where = erltrace_targets(r->h);
    bool moment = st->exited && r->watched_ns < MOMENT_MS * UINT64_C(1000000);
    struct placed placed = {0};
    if (st->watched == 0 || moment || st->overloaded > 0 || st->lost > 0 || st->errors > 0 ||
        st->drops > 0 || st->filled > 0 || r->screen.broken)
        return;
    erltrace_placed_iter(r->h, add_placed, &placed);
    if (st->events > 0) {
        bool something = st->updates > 0 || (r->a->json ? st->recorded > 0 : r->screen.spoke);
        if (!something)
            screen_note(&r->screen,
                        "no predicate was true, or no clause prints: an empty { } shows each event",
                        "the probes fired %" PRIu64 " times in %s, and produced nothing",
                        st->events, where);
        return;
    }
    const char *what = erltrace_enabled(r->h);
    screen_note(&r->screen, unfired(&placed, what == NULL, r->screen.warnings > r->warned),
                "no probe fired in %.1f s of watching %s%s%s", (double)r->watched_ns / 1e9, where,
                what != NULL ? ": " : "", what != NULL ? what : "");
}
