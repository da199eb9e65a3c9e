/* subject.c - for which probes argument 0 is the text of a process, and of which process.
 *
 * It matters when a predicate allows one process only: the VM then need not watch any other process
 * for the event, provided that process is the one that carries the trace flag. Probes that are not
 * in the table are watched for everywhere. */
#include "probe/probe.h"

/* clang-format off */
static const uint8_t process_of[PROBE_NKINDS] = {
    [PROBE_PROCESS_SPAWN] = PROBE_PROCESS_TEXT, /* the child; the spawner carries the flag */
    [PROBE_PROCESS_EXIT] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_SCHEDULED] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_UNSCHEDULED] = PROBE_PROCESS_TRACED,
    [PROBE_MESSAGE_SEND] = PROBE_PROCESS_TRACED,
    [PROBE_MESSAGE_QUEUED] = PROBE_PROCESS_TRACED,
    [PROBE_GC_MINOR_START] = PROBE_PROCESS_TRACED,
    [PROBE_GC_MINOR_END] = PROBE_PROCESS_TRACED,
    [PROBE_GC_MAJOR_START] = PROBE_PROCESS_TRACED,
    [PROBE_GC_MAJOR_END] = PROBE_PROCESS_TRACED,
    [PROBE_MESSAGE_SEND_REMOTE] = PROBE_PROCESS_TRACED,
    [PROBE_MESSAGE_SEND_NOPROC] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_HIBERNATE] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_HEAP_GROW] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_HEAP_SHRINK] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_LINK] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_UNLINK] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_GETTING_LINKED] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_GETTING_UNLINKED] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_REGISTER] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_UNREGISTER] = PROBE_PROCESS_TRACED,
    [PROBE_PROCESS_SPAWNED] = PROBE_PROCESS_TEXT, /* it does not exist before the event */
    [PROBE_GC_MAX_HEAP] = PROBE_PROCESS_TRACED,
    [PROBE_EXCEPTION_CAUGHT] = PROBE_PROCESS_TRACED,
    [PROBE_RECEIVE_TIMEOUT] = PROBE_PROCESS_TRACED,
    [PROBE_SEND_IN_PARTS] = PROBE_PROCESS_TRACED,
};
/* clang-format on */

enum probe_process probe_process(enum probe_kind kind)
{
    if (kind >= PROBE_FN_ENTRY && probe_fn_def(kind) != NULL)
        return PROBE_PROCESS_TRACED;
    return kind < PROBE_NKINDS ? (enum probe_process)process_of[kind] : PROBE_PROCESS_NONE;
}
