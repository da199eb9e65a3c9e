/* machine.c - determines how much memory this process can have, and how much of that is left: the
 * machine's, or less when a control group limits it, as in a container. Each group is also limited
 * by the groups that contain it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/size.h"
#include "engine/impl.h"

enum { TEXT_MOST = 4096 }; /* bytes read of a system file */

/* The two versions of control groups: the controllers field of their lines in /proc/self/cgroup,
 * and where a group's limit and usage are. */
static const struct version {
    const char *controller; /* "": the line names none */
    const char *folder, *bound, *used;
    const char *cache; /* key in memory.stat: memory that the system can reclaim at once */
} versions[] = {{"", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
                {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                 "memory.usage_in_bytes", "total_inactive_file"}};

struct memory {
    uint64_t most, left;
};

/* Reads the number that a text begins with, or the one after `key` at the beginning of a line. A
 * word ("max") is none. */
static bool number_in(const char *text, const char *key, uint64_t *n)
{
    const size_t len = strlen(key);
    while (text != NULL && strncmp(text, key, len) != 0) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    if (text == NULL)
        return false;
    text += len;
    return number_read(&text, 10, n);
}

/* Reads the number in a group's file. */
static bool number_of(const char *root, const struct version *v, const char *group,
                      const char *file, const char *key, uint64_t *n)
{
    char path[4608], text[TEXT_MOST];
    snprintf(path, sizeof path, "%s%s%s/%s", root, v->folder, group, file);
    file_text(path, text, sizeof text);
    return number_in(text, key, n);
}

/* Applies the limit of one group. */
static void bound_by(const char *root, const struct version *v, const char *group, struct memory *m)
{
    uint64_t most, used = 0, cache = 0;
    char key[32];
    if (!number_of(root, v, group, v->bound, "", &most))
        return;
    m->most = size_min(m->most, most);
    snprintf(key, sizeof key, "%s ", v->cache);
    if (number_of(root, v, group, v->used, "", &used))
        number_of(root, v, group, "memory.stat", key, &cache);
    m->left = size_min(m->left, size_left(most, size_left(used, cache)));
}

/* Returns whether the list a,b,c contains the controller. */
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

/* Applies the limits of the group in a line, number:controllers:/group, and of those that contain
 * it. */
static void line_bounds(const char *root, char *line, struct memory *m)
{
    char *list = strchr(line, ':'), *group = list != NULL ? strchr(list + 1, ':') : NULL;
    if (group == NULL)
        return;
    size_t n = (size_t)(group++ - ++list);
    group[strcspn(group, "\n")] = '\0';
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (!lists(list, n, versions[i].controller))
            continue;
        for (char *end; (end = strrchr(group, '/')) != NULL; *end = '\0')
            bound_by(root, &versions[i], end[1] != '\0' ? group : "", m);
        bound_by(root, &versions[i], "", m); /* a container may see nothing else of it */
    }
}

static struct memory memory_of(const char *root)
{
    char path[512], line[4096], text[TEXT_MOST];
    struct memory m = {
        .most = size_mul((uint64_t)sysconf(_SC_PHYS_PAGES), (uint64_t)sysconf(_SC_PAGESIZE))};
    uint64_t kib;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    file_text(path, text, sizeof text);
    m.left =
        number_in(text, "MemAvailable:", &kib) ? size_min(size_mul(kib, 1024), m.most) : m.most;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        line_bounds(root, line, &m);
    if (f != NULL)
        fclose(f);
    return m;
}

uint64_t engine_machine_memory(const char *root)
{
    return memory_of(root).most;
}

uint64_t engine_machine_left(const char *root)
{
    const uint64_t left = memory_of(root).left;
    return left > 0 ? left : 1;
}
