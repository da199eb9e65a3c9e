/* et_drv.c - a linked-in driver for tests, since no driver of stock OTP answers erlang:port_call/3.
 *
 *   output      sends its input back, {Port, {data, Bytes}}
 *   control 1   answers the bytes it is given
 *   control 2   creates another port of this driver, named "et_child" and opened by no process;
 *               the caller gets {et_child, Port}
 *   control 3   from then on sleeps for 20 ms, every millisecond, when a timer expires
 *   call        answers the term it is given */
#include <string.h>
#include <time.h>

#include <erl_driver.h>

struct state {
    ErlDrvPort port;
};

static ErlDrvData start(ErlDrvPort port, char *command)
{
    (void)command;
    struct state *s = driver_alloc(sizeof *s);
    s->port = port;
    return (ErlDrvData)s;
}

static void stop(ErlDrvData d)
{
    driver_free(d);
}

static void output(ErlDrvData d, char *buf, ErlDrvSizeT len)
{
    driver_output(((struct state *)d)->port, buf, len);
}

static void child(ErlDrvPort port)
{
    ErlDrvTermData caller = driver_caller(port);
    struct state *s = driver_alloc(sizeof *s);
    s->port = driver_create_port(port, caller, (char *)"et_child", (ErlDrvData)s);
    ErlDrvTermData message[] = {ERL_DRV_ATOM,  driver_mk_atom((char *)"et_child"),
                                ERL_DRV_PORT,  driver_mk_port(s->port),
                                ERL_DRV_TUPLE, 2};
    erl_drv_send_term(driver_mk_port(port), caller, message, sizeof message / sizeof *message);
}

static void timeout(ErlDrvData d)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    driver_set_timer(((struct state *)d)->port, 1);
}

static ErlDrvSSizeT control(ErlDrvData d, unsigned command, char *buf, ErlDrvSizeT len,
                            char **answer, ErlDrvSizeT room)
{
    if (command == 2) {
        child(((struct state *)d)->port);
        return 0;
    }
    if (command == 3) {
        driver_set_timer(((struct state *)d)->port, 1);
        return 0;
    }
    if (len > room)
        *answer = driver_alloc(len);
    memcpy(*answer, buf, len);
    return (ErlDrvSSizeT)len;
}

static ErlDrvSSizeT call(ErlDrvData d, unsigned command, char *buf, ErlDrvSizeT len, char **answer,
                         ErlDrvSizeT room, unsigned *flags)
{
    (void)d;
    (void)command;
    (void)flags;
    if (len > room)
        *answer = driver_alloc(len);
    memcpy(*answer, buf, len);
    return (ErlDrvSSizeT)len;
}

static ErlDrvEntry entry = {
    .start = start,
    .stop = stop,
    .output = output,
    .control = control,
    .timeout = timeout,
    .call = call,
    .driver_name = (char *)"et_drv",
    .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING,
    .extended_marker = (int)ERL_DRV_EXTENDED_MARKER,
    .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
};

DRIVER_INIT(et_drv)
{
    return &entry;
}
