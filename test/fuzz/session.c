/* session.c - fuzz target: a D text, from compiling to the last line of output, in the local tier.
 *
 * The programs run as `erltrace --local` runs them, BEGIN and END; half of the inputs, by their
 * length, with JSON as output. Programs that would start commands or write files are compiled
 * only. */
#include "fuzz.h"

#include "base/err.h"
#include "session/session.h"

enum { WORK_MOST = 10000, SIZE = 64 << 10 };

static void count(void *arg, const char *s, size_t n)
{
    *(size_t *)arg += n;
    must(s != NULL || n == 0, "what is shown is there", NULL);
}

static void start(struct session *s, struct diags *d)
{
    struct tier *t;
    must(tier_local_open(&t, d) == 0, "there is memory", d);
    int state = session_attach(s, t);
    if (state == 0)
        state = session_match(s);
    if (state == 0)
        state = session_start(s);
    if (state == 0)
        state = session_stop(s);
    for (int i = 0; state >= 0 && state != ERLTRACE_STATE_DONE; i++) {
        must(i < WORK_MOST, "a session ends", d);
        state = session_work(s, 0);
    }
    if (state == ERLTRACE_STATE_DONE)
        session_finish(s);
    must(state > 0 || d->errors > 0, "an error has a diagnostic", d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char prog[] = "prog", number[] = "12", name[] = "name";
    static char *const args[] = {prog, number, name};
    size_t shown = 0;
    struct session own, *s = &own;
    struct compile_source src = {
        .name = "f.d", .text = (const char *)data, .len = size, .argc = 3, .argv = args};
    session_init(s);
    s->flags = size % 2 == 1 ? ERLTRACE_O_JSON : 0;
    s->out = (struct out){.data = count, .arg = &shown};
    s->opt.value[OPTION_bufsize] = s->opt.value[OPTION_aggsize] = SIZE;
    s->opt.value[OPTION_specsize] = s->opt.value[OPTION_dynvarsize] = SIZE;
    s->opt.value[OPTION_argref] = s->opt.value[OPTION_defaultargs] = 1;
    int err = session_add(s, &src, NULL);
    if (err == 0)
        err = session_compile(s);
    must(err == 0 || s->diags.errors > 0, "an error has a diagnostic", &s->diags);
    if (err == 0 && !session_is_destructive(s) && session_is_local(s))
        start(s, &s->diags);
    show(&s->diags);
    session_free(s);
    return 0;
}
