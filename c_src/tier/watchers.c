/* watchers.c - see watchers.h. */
#include "tier/watchers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/render.h"

static bool fires_usdt(const struct dif_image *img)
{
    for (uint32_t i = 0; i < img->ncode; i++)
        if ((img->code[i] & 0xff00ffff) == dif_ai(DIF_OP_CALL, 0, DIF_SUBR_usdt))
            return true;
    return false;
}

/* Finds what a process has mapped at an address, if it is our agent: another process may have the
 * number here. */
static bool find_mapping(pid_t pid, uint64_t at, char *out, size_t size)
{
    char line[512];
    unsigned long long from, to;
    bool found = false;
    snprintf(line, sizeof line, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(line, "re");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        found = sscanf(line, "%llx-%llx", &from, &to) == 2 && from <= at && at < to &&
                strstr(line, "/erltrace_agent.so") != NULL;
        if (found)
            snprintf(out, size, "/proc/%d/map_files/%llx-%llx", (int)pid, from, to);
    }
    if (f != NULL)
        fclose(f);
    return found;
}

void watchers_tell(const struct dif_image *img, pid_t pid, uint64_t at, struct diags *d)
{
    char file[96];
    if (!fires_usdt(img))
        return;
    if (find_mapping(pid, at, file, sizeof file))
        diag_add(d, DIAG_NOTE, NULL, "", NULL, "usdt( ) fires usdt:%s:erlang:*", file);
    else
        diag_add(d, DIAG_NOTE, NULL, "", NULL,
                 "usdt( ) fires the probes of the node's erltrace_agent.so: on its host, "
                 "ls -l /proc/PID/map_files shows where that is");
}
