/* machine.c - how much memory this process can have: that of the machine, or less when a control
 * group bounds it, as in a container. A group is bounded by those that it lies in, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/impl.h"

/* The two versions of control groups: how a line of /proc/self/cgroup begins behind its number,
 * and where the bound of a group stands. */
static const struct version {
    const char *controller; /* "": the line names none */
    const char *folder, *file;
} versions[] = {{"", "/sys/fs/cgroup", "memory.max"},
                {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"}};

/* The bound of one group, `most` when there is none; a word ("max") is none. */
static uint64_t bound_of(const char *root, const struct version *v, const char *group,
                         uint64_t most)
{
    char path[4608], text[32], *end;
    snprintf(path, sizeof path, "%s%s%s/%s", root, v->folder, group, v->file);
    file_text(path, text, sizeof text);
    unsigned long long n = strtoull(text, &end, 10);
    return end != text && n < most ? n : most;
}

/* Whether the list a,b,c holds the controller. */
static bool lists(const char *list, size_t n, const char *controller)
{
    size_t len = strlen(controller);
    if (len == 0)
        return n == 0;
    for (const char *p = list; (size_t)(p - list) + len <= n; p++) {
        bool begins = p == list || p[-1] == ',';
        bool ends = (size_t)(p - list) + len == n || p[len] == ',';
        if (begins && ends && memcmp(p, controller, len) == 0)
            return true;
    }
    return false;
}

/* Of one line, number:controllers:/group, its group and those that it lies in. */
static uint64_t line_bound(const char *root, char *line, uint64_t most)
{
    char *list = strchr(line, ':'), *group = list != NULL ? strchr(list + 1, ':') : NULL;
    if (group == NULL)
        return most;
    size_t n = (size_t)(group++ - ++list);
    group[strcspn(group, "\n")] = '\0';
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (!lists(list, n, versions[i].controller))
            continue;
        for (char *end; (end = strrchr(group, '/')) != NULL; *end = '\0')
            most = bound_of(root, &versions[i], end[1] != '\0' ? group : "", most);
        most = bound_of(root, &versions[i], "", most); /* a container may see no more of it */
    }
    return most;
}

uint64_t engine_machine_memory(const char *root)
{
    uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    char path[512], line[4096];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        most = line_bound(root, line, most);
    if (f != NULL)
        fclose(f);
    return most;
}
