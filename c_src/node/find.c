/* find.c - looks through /proc for BEAMs. See find.h.
 *
 * A BEAM is known by its program, beam or beam.something. Its command line is readable by everyone,
 * whoever owns it:
 *
 *     /usr/lib/erlang/erts-13.1.5/bin/beam.smp [emulator's own] -- -root R -bindir B -progname erl
 * -- -home H -- -sname shop -setcookie C ...
 *
 * and tells nearly all: name, home, ERTS. A node that was made distributed later is found by what
 * it listens on: a port that epmd lists, on a socket that is among the descriptors of the process.
 */
#include "node/find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"

enum { PROC_MAX = 1 << 20, EPMD_MS = 1000 };

/* -- small readers --------------------------------------------------------------------------------
 */

/* The start of a file, NUL after it; -errno when it cannot be read. */
static ssize_t slurp(const char *path, struct buf *b)
{
    char chunk[8192];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    buf_reset(b);
    if (fd < 0)
        return -errno;
    while (b->len < PROC_MAX && (n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            n = -errno;
            close(fd);
            return n;
        }
        buf_add(b, chunk, (size_t)n);
    }
    close(fd);
    return b->oom ? -ENOMEM : (ssize_t)b->len;
}

static void copy(char *out, size_t cap, const char *s)
{
    if (strlen(s) < cap)
        strcpy(out, s);
    else
        out[0] = '\0'; /* half a name is no name */
}

void node_hostname(char *out, size_t cap, bool longnames)
{
    char h[256] = "localhost";
    gethostname(h, sizeof h - 1);
    h[sizeof h - 1] = '\0';
    if (longnames && !strchr(h, '.')) {
        struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM}, *res = NULL;
        if (getaddrinfo(h, NULL, &hints, &res) == 0 && res->ai_canonname &&
            strchr(res->ai_canonname, '.'))
            snprintf(h, sizeof h, "%s", res->ai_canonname);
        if (res)
            freeaddrinfo(res);
    }
    if (!longnames)
        h[strcspn(h, ".")] = '\0';
    copy(out, cap, h);
}

/* -- the command line -------------------------------------------------------------------------- */

unsigned beam_otp_of_erts(const char *erts)
{
    unsigned major = 0, minor = 0;
    if (sscanf(erts, "%u.%u", &major, &minor) < 1 || major < 5)
        return 0;
    if (major >= 11) /* since ERTS 11 = OTP 23 both count in step */
        return major + 12;
    return major == 10 ? (minor >= 4 ? 22 : 21) : major + 11; /* 5 = R15 or R16, ... 9 = 20 */
}

/* The version in ".../erts-13.1.5/bin". */
static void erts_of_path(struct beam *b, const char *path)
{
    const char *p = strstr(path, "/erts-");
    size_t n;
    if (!p || b->erts[0])
        return;
    n = strcspn(p += 6, "/");
    if (n > 0 && n < sizeof b->erts && isdigit((unsigned char)p[0])) {
        memcpy(b->erts, p, n);
        b->erts[n] = '\0';
    }
}

static bool is_beam(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    return strcmp(base, "beam") == 0 || strncmp(base, "beam.", 5) == 0;
}

/* Whether the argument here is a value of the flag before it. */
static bool has_value(const char *p, const char *end)
{
    return p < end && p[0] != '-';
}

/* alive@host; empty when that is longer than a name can be. */
static void full_name(struct beam *b, const char *host)
{
    size_t n = strlen(b->alive), k = strlen(host);
    b->name[0] = '\0';
    if (n + k + 2 > sizeof b->name)
        return;
    memcpy(b->name, b->alive, n);
    b->name[n] = '@';
    memcpy(b->name + n + 1, host, k + 1);
}

bool beam_args(struct beam *b, const char *args, size_t len, const char *hostname)
{
    const char *p = args, *end = args + len, *flag = "", *sname = NULL, *name = NULL,
               *cookie = NULL;
    unsigned nvalue = 0;
    bool ours = false; /* past the first --: flags of Erlang, not of the emulator */
    if (len == 0 || args[len - 1] != '\0' || !is_beam(args))
        return false;
    erts_of_path(b, args);
    copy(b->proto, sizeof b->proto, "inet_tcp");
    for (p += strlen(p) + 1; p < end; p += strlen(p) + 1) {
        if (strcmp(p, "--") == 0) {
            ours = true;
            flag = "";
            continue;
        }
        if (!ours)
            continue;
        if (strcmp(p, "-extra") == 0)
            break;
        if (p[0] == '-') {
            flag = p;
            nvalue = 0;
            continue;
        }
        nvalue++;
        if (nvalue != 1)
            continue;
        if (strcmp(flag, "-sname") == 0 && !sname) /* the first one counts */
            sname = p;
        else if (strcmp(flag, "-name") == 0 && !name)
            name = p;
        else if (strcmp(flag, "-setcookie") == 0 && !cookie && !has_value(p + strlen(p) + 1, end))
            cookie = p; /* with two values it is another node's */
        else if (strcmp(flag, "-root") == 0)
            copy(b->root, sizeof b->root, p);
        else if (strcmp(flag, "-home") == 0)
            copy(b->home, sizeof b->home, p);
        else if (strcmp(flag, "-bindir") == 0)
            erts_of_path(b, p);
        else if (strcmp(flag, "-proto_dist") == 0)
            copy(b->proto, sizeof b->proto, p);
        else if (strcmp(flag, "-erl_epmd_port") == 0)
            b->port = (uint16_t)atoi(p);
    }
    if (cookie)
        copy(b->cookie, sizeof b->cookie, cookie);
    const char *full = sname ? sname : name; /* OTP looks for -sname first */
    if (full && strcmp(full, "undefined") != 0) {
        const char *at = strchr(full, '@');
        b->longnames = !sname;
        snprintf(b->alive, sizeof b->alive, "%.*s", (int)(at ? at - full : (ptrdiff_t)strlen(full)),
                 full);
        if (at)
            copy(b->name, sizeof b->name, full);
        else if (hostname)
            full_name(b, hostname);
    }
    unsigned otp = beam_otp_of_erts(b->erts);
    if (otp)
        snprintf(b->otp, sizeof b->otp, "%u", otp);
    return true;
}

/* -- what the process has ---------------------------------------------------------------------- */

/* One listening socket of /proc/PID/net/tcp{,6}. */
struct listener {
    uint16_t port;
    unsigned uid;
    unsigned long inode;
};
struct listeners {
    struct listener *l;
    size_t n;
};

static void listeners_read(struct listeners *out, pid_t pid, const char *file)
{
    char path[64];
    struct buf b = BUF_INIT;
    snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, file);
    if (slurp(path, &b) <= 0)
        goto done;
    for (char *save = NULL, *line = strtok_r(b.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        unsigned port, state, uid;
        unsigned long inode;
        /* slot local:port remote:port state queues timer retransmits uid timeout inode */
        if (sscanf(line, " %*[0-9]: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %u %*s %lu",
                   &port, &state, &uid, &inode) != 4 ||
            state != 0x0a)
            continue;
        struct listener *l = et_realloc(out->l, (out->n + 1) * sizeof *l);
        if (!l)
            break;
        out->l = l;
        l[out->n++] = (struct listener){.port = (uint16_t)port, .uid = uid, .inode = inode};
    }
done:
    buf_free(&b);
}

/* Fills b->listen from the sockets that the process holds. */
static void ports_of(struct beam *b, const struct listeners *all)
{
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)b->pid);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    b->fds_known = true;
    for (struct dirent *e; (e = readdir(dir));) {
        unsigned long inode;
        ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof link - 1);
        if (n <= 0)
            continue;
        link[n] = '\0';
        if (sscanf(link, "socket:[%lu]", &inode) != 1)
            continue;
        for (size_t i = 0; i < all->n; i++)
            if (all->l[i].inode == inode && b->nlisten < BEAM_PORTS)
                b->listen[b->nlisten++] = all->l[i].port;
    }
    closedir(dir);
}

static bool listens(const struct beam *b, uint16_t port)
{
    for (unsigned i = 0; i < b->nlisten; i++)
        if (b->listen[i] == port)
            return true;
    return false;
}

static bool other_net(pid_t pid)
{
    char path[64];
    struct stat a, b;
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    return stat("/proc/self/ns/net", &a) == 0 && stat(path, &b) == 0 && a.st_ino != b.st_ino;
}

/* A variable of the process's environment, as it was at its start. */
static bool environ_get(pid_t pid, const char *name, char *out, size_t cap)
{
    char path[64];
    struct buf b = BUF_INIT;
    bool found = false;
    size_t k = strlen(name);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    if (slurp(path, &b) > 0)
        for (char *p = b.data, *end = b.data + b.len; p < end && !found; p += strlen(p) + 1)
            if (strncmp(p, name, k) == 0 && p[k] == '=' && strlen(p + k + 1) < cap) {
                strcpy(out, p + k + 1);
                found = true;
            }
    buf_free(&b);
    return found;
}

/* The OTP release by its files: <root>/releases/N/OTP_VERSION, or the second word of start_erl.data
 * when it looks like one. Only for a BEAM whose path does not name its ERTS. */
static void otp_of_files(struct beam *b)
{
    char path[700];
    struct buf t = BUF_INIT;
    snprintf(path, sizeof path, "/proc/%d/root%s/releases", (int)b->pid, b->root);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *e; !b->otp[0] && (e = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/%d/root%s/releases/%.32s/OTP_VERSION", (int)b->pid,
                 b->root, e->d_name);
        if (isdigit((unsigned char)e->d_name[0]) && slurp(path, &t) > 0)
            snprintf(b->otp, sizeof b->otp, "%.*s", (int)strcspn(t.data, ".\n"), t.data);
    }
    closedir(dir);
    snprintf(path, sizeof path, "/proc/%d/root%s/releases/start_erl.data", (int)b->pid, b->root);
    if (!b->otp[0] && slurp(path, &t) > 0) {
        char erts[16];
        if (sscanf(t.data, "%15s", erts) == 1 && beam_otp_of_erts(erts)) {
            copy(b->erts, sizeof b->erts, erts);
            snprintf(b->otp, sizeof b->otp, "%u", beam_otp_of_erts(erts));
        }
    }
    buf_free(&t);
}

static void owner_of(struct beam *b)
{
    char path[64], mem[4096];
    struct stat st;
    struct passwd pw, *res = NULL;
    snprintf(path, sizeof path, "/proc/%d", (int)b->pid);
    if (stat(path, &st) == 0)
        b->uid = st.st_uid;
    snprintf(b->owner, sizeof b->owner, "%u", (unsigned)b->uid);
    if (getpwuid_r(b->uid, &pw, mem, sizeof mem, &res) == 0 && res) {
        if (strlen(res->pw_name) < sizeof b->owner)
            strcpy(b->owner, res->pw_name);
        if (!b->home[0])
            copy(b->home, sizeof b->home, res->pw_dir);
    }
}

/* True when the process is a BEAM: *b is filled. */
static bool beam_read(pid_t pid, struct beam *b, struct buf *args, struct listeners *local)
{
    char path[64], host[256] = "", home[512];
    *b = (struct beam){.pid = pid};
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    if (slurp(path, args) <= 0 || !beam_args(b, args->data, args->len, NULL))
        return false;
    if (b->alive[0] && !b->name[0]) {
        node_hostname(host, sizeof host, b->longnames);
        full_name(b, host);
    }
    owner_of(b);
    if (environ_get(pid, "HOME", home, sizeof home))
        copy(b->home, sizeof b->home, home);
    if (!b->otp[0])
        otp_of_files(b);
    b->other_net = other_net(pid);
    if (b->other_net) {
        struct listeners there = {0};
        listeners_read(&there, pid, "tcp");
        listeners_read(&there, pid, "tcp6");
        ports_of(b, &there);
        et_free(there.l);
    } else {
        ports_of(b, local);
    }
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct beam *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* What epmd's list says of one BEAM. */
static void match_one(struct beam *b, const struct epmd_list *names)
{
    for (size_t k = 0; k < names->n; k++) {
        const struct epmd_name *e = &names->name[k];
        bool same = strcmp(e->alive, b->alive) == 0;
        /* Its own socket proves it; where we may not look, the name must do. */
        if (b->fds_known ? !listens(b, e->port) : !same)
            continue;
        if (!same) {
            copy(b->alive, sizeof b->alive, e->alive);
            b->name[0] = '\0'; /* its host part is asked of the node itself */
        }
        b->port = e->port;
        b->registered = true;
        return;
    }
}

void beam_match_epmd(struct beam_list *l, const struct epmd_list *names)
{
    for (size_t i = 0; i < l->n; i++)
        if (!l->beam[i].other_net)
            match_one(&l->beam[i], names);
}

/* Nodes that are not at our epmd: one of their own, by their environment; else, when epmd has
 * forgotten a name (it was restarted) and the node listens at one port only, that must be it. */
static void match_elsewhere(struct beam *b, const struct node_addr *here)
{
    struct epmd_list names;
    char text[16];
    int port = environ_get(b->pid, "ERL_EPMD_PORT", text, sizeof text) ? atoi(text) : 0;
    if (b->other_net || b->port)
        return;
    if (port > 0 && port < 65536 && port != epmd_port() &&
        epmd_names(here, (uint16_t)port, EPMD_MS, &names) == 0) {
        match_one(b, &names);
        epmd_list_free(&names);
    }
    if (!b->port && b->alive[0] && b->nlisten == 1)
        b->port = b->listen[0];
}

int beam_scan(struct beam_list *out)
{
    struct buf args = BUF_INIT;
    struct listeners local = {0};
    struct epmd_list names = {0};
    struct node_addr here;
    int err = 0;
    *out = (struct beam_list){0};
    listeners_read(&local, getpid(), "tcp");
    listeners_read(&local, getpid(), "tcp6");
    DIR *dir = opendir("/proc");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct beam b;
        int pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;
        if (pid <= 0 || !beam_read(pid, &b, &args, &local))
            continue;
        struct beam *l = et_realloc(out->beam, (out->n + 1) * sizeof *l);
        if (!l) {
            err = ET_ENOMEM;
            break;
        }
        out->beam = l;
        l[out->n++] = b;
    }
    if (dir)
        closedir(dir);
    if (out->n > 0)
        qsort(out->beam, out->n, sizeof *out->beam, by_pid);
    if (!err && out->n > 0 && node_resolve("127.0.0.1", &here) == 0) {
        if (epmd_names(&here, epmd_port(), EPMD_MS, &names) == 0)
            beam_match_epmd(out, &names);
        for (size_t i = 0; i < out->n; i++)
            match_elsewhere(&out->beam[i], &here);
    }
    epmd_list_free(&names);
    et_free(local.l);
    buf_free(&args);
    if (err)
        beam_list_free(out);
    return err;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[256];
    pid_t parent = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "PPid: %d", &parent) == 1)
            break;
    if (f)
        fclose(f);
    return parent;
}

const struct beam *beam_under(const struct beam_list *l, pid_t pid)
{
    for (size_t i = 0; i < l->n; i++) {
        pid_t p = l->beam[i].pid;
        for (int depth = 0; p > 1 && depth < 32; depth++, p = parent_of(p))
            if (p == pid)
                return &l->beam[i];
    }
    return NULL;
}

void beam_list_free(struct beam_list *l)
{
    if (l->beam)
        explicit_bzero(l->beam, l->n * sizeof *l->beam); /* cookies */
    et_free(l->beam);
    *l = (struct beam_list){0};
}

/* -- cookies ----------------------------------------------------------------------------------- */

/* Reads the first line of a file. 0 or an errno; EINVAL: it holds no usable cookie; ESTALE: it is
 * not the owner's. */
static int cookie_read(const char *path, const uid_t *owner, char out[COOKIE_MAX])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n;
    if (fd < 0)
        return errno;
    n = read(fd, out, COOKIE_MAX - 1);
    int e = n < 0 ? errno : fstat(fd, &st) < 0 ? errno : 0;
    close(fd);
    if (e)
        return e;
    if (owner && *owner != 0 && st.st_uid != *owner) {
        explicit_bzero(out, COOKIE_MAX);
        return ESTALE;
    }
    out[n] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    return out[0] ? 0 : EINVAL;
}

static const char *cookie_error(int e)
{
    return e == EINVAL   ? "it is empty"
           : e == ESTALE ? "it belongs to somebody else than the process"
                         : strerror(e);
}

/* One of the owner's files. A BEAM in a chroot sees other files than we do: its root is tried
 * first. The file must be the owner's: a process chooses its HOME itself, and must not get to see a
 * proof of a cookie that it may not read. */
static int cookie_of_owner(const struct beam *b, const char *path, char out[COOKIE_MAX])
{
    char in_root[1400];
    if (!b)
        return cookie_read(path, NULL, out);
    snprintf(in_root, sizeof in_root, "/proc/%d/root%.1300s", (int)b->pid, path);
    int e = cookie_read(in_root, &b->uid, out);
    if (e == EACCES || e == EPERM) { /* /proc is closed to us; the file itself may not be */
        int e2 = cookie_read(path, &b->uid, out);
        if (e2 != ENOENT)
            return e2;
    }
    return e;
}

bool cookie_find(const struct beam *b, const char *cookie, const char *file, char out[COOKIE_MAX],
                 struct cookie_source *s)
{
    char path[2][1100], config[512] = "";
    const char *home = b ? b->home : getenv("HOME");
    *s = (struct cookie_source){0};
    out[0] = '\0';
    if (cookie) {
        snprintf(s->from, sizeof s->from, "--cookie");
        if (!cookie[0] || strlen(cookie) >= COOKIE_MAX) {
            snprintf(s->why, sizeof s->why, "the cookie given is %s",
                     cookie[0] ? "too long" : "empty");
            return false;
        }
        strcpy(out, cookie);
        return true;
    }
    if (file) {
        int e = cookie_read(file, NULL, out);
        snprintf(s->from, sizeof s->from, "%s", file);
        s->denied = e == EACCES;
        if (e)
            snprintf(s->why, sizeof s->why, "cookie file %.200s: %s", file, cookie_error(e));
        return e == 0;
    }
    if (b && b->cookie[0]) {
        snprintf(s->from, sizeof s->from, "-setcookie of process %d", (int)b->pid);
        strcpy(out, b->cookie);
        return true;
    }
    if (!home || !home[0]) {
        snprintf(s->why, sizeof s->why, "no home folder is known to look for .erlang.cookie in");
        return false;
    }
    if (b ? !environ_get(b->pid, "XDG_CONFIG_HOME", config, sizeof config)
          : !getenv("XDG_CONFIG_HOME"))
        snprintf(config, sizeof config, "%.480s/.config", home);
    else if (!b)
        snprintf(config, sizeof config, "%s", getenv("XDG_CONFIG_HOME"));
    snprintf(path[0], sizeof path[0], "%.1000s/.erlang.cookie", home);
    snprintf(path[1], sizeof path[1], "%.1000s/erlang/.erlang.cookie", config);
    for (int i = 0; i < 2; i++) {
        int e = cookie_of_owner(b, path[i], out);
        if (e == 0) {
            snprintf(s->from, sizeof s->from, "%.255s", path[i]);
            s->why[0] = '\0';
            return true;
        }
        if (i == 0 || e != ENOENT) {
            s->denied = e == EACCES || e == EPERM;
            snprintf(s->why, sizeof s->why, "%.240s: %s", path[i], cookie_error(e));
        }
        if (s->denied)
            break;
    }
    return false;
}
