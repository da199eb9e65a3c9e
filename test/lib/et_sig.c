/* et_sig.c - a NIF library that handles SIGURG and passes each one on to whoever handled it before,
 * as well-behaved libraries do. */
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include <erl_nif.h>

static struct sigaction before;
static atomic_int handled;

static void on_signal(int number, siginfo_t *info, void *context)
{
    atomic_fetch_add(&handled, 1);
    if ((before.sa_flags & SA_SIGINFO) != 0)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
}

/* install() -> boolean(): the one before was a function. */
static ERL_NIF_TERM install(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct sigaction act = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    (void)argc;
    (void)argv;
    act.sa_sigaction = on_signal;
    sigaction(SIGURG, NULL, &before);
    sigaction(SIGURG, &act, NULL);
    return enif_make_atom(env, (before.sa_flags & SA_SIGINFO) != 0 ? "true" : "false");
}

/* send() -> Handled :: integer(): sends this process the signal, once. */
static ERL_NIF_TERM send_(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    kill(getpid(), SIGURG);
    return enif_make_int(env, atomic_load(&handled));
}

static ErlNifFunc functions[] = {{"install", 0, install, 0}, {"send", 0, send_, 0}};
ERL_NIF_INIT(et_sig, functions, NULL, NULL, NULL, NULL)
