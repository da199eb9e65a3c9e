/* scheduler.c - see scheduler.h. */
#include "beam/probe/scheduler.h"

#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

#include <erl_nif.h>

enum { NAME_BYTES = 16 /* of a thread's name, with the NUL */ };

/* The number of a thread is where a name has its '%'. (The system cuts names.) */
static const struct {
    const char *form;
    enum scheduler_type type;
    int thread_type; /* of enif_thread_type */
} forms[] = {
    {"erts_sched_%", SCHEDULER_NORMAL, ERL_NIF_THR_NORMAL_SCHEDULER},
    {"%_scheduler", SCHEDULER_NORMAL, ERL_NIF_THR_NORMAL_SCHEDULER},
    {"erts_dcpus_%", SCHEDULER_DIRTY_CPU, ERL_NIF_THR_DIRTY_CPU_SCHEDULER},
    {"%_dirty_cpu_sch", SCHEDULER_DIRTY_CPU, ERL_NIF_THR_DIRTY_CPU_SCHEDULER},
    {"erts_dios_%", SCHEDULER_DIRTY_IO, ERL_NIF_THR_DIRTY_IO_SCHEDULER},
    {"%_dirty_io_sche", SCHEDULER_DIRTY_IO, ERL_NIF_THR_DIRTY_IO_SCHEDULER},
};
enum { FORMS = sizeof forms / sizeof *forms, DIGITS_MOST = 6 };

/* Returns the number where the form has its '%', 0 if the name does not have this form. What
 * follows the number may be cut. */
static uint32_t number_in(const char *name, const char *form)
{
    size_t before = strcspn(form, "%");
    uint32_t n = 0;
    const char *p = name + before;
    if (strncmp(name, form, before) != 0)
        return 0;
    for (unsigned digits = 0; *p >= '0' && *p <= '9'; p++) {
        if (++digits > DIGITS_MOST)
            return 0;
        n = n * 10 + (uint32_t)(*p - '0');
    }
    const char *after = form + before + 1;
    size_t left = strlen(p);
    bool cut = strlen(name) == NAME_BYTES - 1;
    return left == strlen(after) || (cut && left > 0 && left < strlen(after))
               ? strncmp(p, after, left) == 0 ? n : 0
               : 0;
}

struct scheduler scheduler_of_name(const char *name)
{
    for (unsigned i = 0; i < FORMS; i++) {
        uint32_t n = number_in(name, forms[i].form);
        if (n > 0)
            return (struct scheduler){n, (uint8_t)forms[i].type};
    }
    return (struct scheduler){0, SCHEDULER_NONE};
}

struct scheduler scheduler_self(struct scheduler *kept)
{
    if (kept->type != SCHEDULER_UNKNOWN)
        return *kept;
    char name[NAME_BYTES] = "";
    if (prctl(PR_GET_NAME, name) != 0)
        name[0] = '\0';
    name[NAME_BYTES - 1] = '\0';
    int type = enif_thread_type();
    *kept = scheduler_of_name(name);
    bool agreed = false;
    for (unsigned i = 0; i < FORMS; i++)
        agreed = agreed || (forms[i].type == kept->type && forms[i].thread_type == type);
    if (!agreed) { /* a thread that has the name of a scheduler, or a scheduler with another name */
        *kept = (struct scheduler){0, SCHEDULER_NONE};
        for (unsigned i = 0; i < FORMS; i++)
            if (forms[i].thread_type == type)
                kept->type = (uint8_t)forms[i].type;
    }
    return *kept;
}

const char *scheduler_type_name(enum scheduler_type type)
{
    switch (type) {
    case SCHEDULER_NORMAL: return "normal";
    case SCHEDULER_DIRTY_CPU: return "dirty-cpu";
    case SCHEDULER_DIRTY_IO: return "dirty-io";
    default: return "";
    }
}
