/* find.c - looks through /proc for BEAMs. See find.h.
 *
 * A BEAM is recognized by its program, beam or beam.something. Where that cannot be seen (another
 * user's process), or is a processor's emulator, its command line tells, which is readable by
 * everyone, whoever owns it:
 *
 *     /usr/lib/erlang/erts-13.1.5/bin/beam.smp [emulator's own] -- -root R -bindir B -progname erl
 * -- -home H -- -sname shop -setcookie C ...
 *
 * The first word may be anything: start scripts of releases, and escripts, set ESCRIPT_NAME, which
 * erlexec puts there. The rest tells nearly everything: name, home, ERTS. A node that became
 * distributed later is found by the ports that it listens on: one that epmd lists, on a socket
 * among the descriptors of the process. */
#include "wire/find.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/deadline.h"
#include "wire/proc.h"

enum {
    NET_MAX = 1 << 22,  /* bytes read of a list of sockets; listening ones come first */
    ARGS_MAX = 1 << 18, /* bytes read of a command line, and of an environment */
    HEAD_MAX = 4096,    /* enough of a command line to recognize one that is not a BEAM's */
    PROGRAM_MAX = 4096, /* bytes of a program's path */
    FDS_MAX = 1 << 16,  /* descriptors of a process that are examined */
    EPMD_MS = 1000,
    OTHERS_MS = 3000 /* time that epmds named by other users' processes may take together */
};

/* -- small helpers ----------------------------------------------------------------------------- */

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

/* Only a name with a dot can be the long one, and to find that out may take seconds where no name
 * server answers. */
bool node_names_host(const char *host)
{
    char here[256];
    node_hostname(here, sizeof here, false);
    if (strcmp(host, here) == 0)
        return true;
    if (strchr(host, '.') == NULL)
        return false;
    node_hostname(here, sizeof here, true);
    return strcmp(host, here) == 0;
}

/* Returns whether that is an IPv4 address of this host, in digits. */
static bool is_own_address(const char *host)
{
    struct in_addr a;
    struct ifaddrs *all = NULL;
    bool own = false;
    if (inet_pton(AF_INET, host, &a) != 1 || getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *i = all; i != NULL && !own; i = i->ifa_next) {
        struct sockaddr_in of;
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET)
            continue;
        memcpy(&of, i->ifa_addr, sizeof of);
        own = of.sin_addr.s_addr == a.s_addr;
    }
    freeifaddrs(all);
    return own;
}

bool beam_is_meant(const struct beam *b)
{
    const char *host = strchr(b->name, '@');
    return !b->other_net && host != NULL &&
           (strcmp(host + 1, "localhost") == 0 || node_names_host(host + 1) ||
            is_own_address(host + 1));
}

/* -- the command line -------------------------------------------------------------------------- */

unsigned beam_otp_of_erts(const char *erts)
{
    unsigned major = 0, minor = 0;
    if (sscanf(erts, "%u.%u", &major, &minor) < 1 || major < 5)
        return 0;
    if (major >= 11) /* since ERTS 11 = OTP 23 the numbers advance together */
        return major + 12;
    return major == 10 ? (minor >= 4 ? 22 : 21) : major + 11; /* 5 = R15 or R16, ... 9 = 20 */
}

/* Takes the version from ".../erts-13.1.5/bin". */
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

static const char *base_of(const char *path)
{
    const char *base = strrchr(path, '/');
    return base ? base + 1 : path;
}

static bool is_beam(const char *path)
{
    const char *base = base_of(path);
    return strcmp(base, "beam") == 0 || strncmp(base, "beam.", 5) == 0;
}

/* Returns whether the program runs those of other processors: of its command line the program's own
 * is a part. */
static bool is_emulator(const char *path)
{
    return strncmp(base_of(path), "qemu-", 5) == 0;
}

/* Returns whether these are the words that erlexec gives to each BEAM, whatever the first is. */
static bool are_words_of_beam(const char *args, size_t len)
{
    static const char words[] = "\0--\0-root";
    return is_beam(args) || memmem(args, len, words, sizeof words) != NULL;
}

/* Returns whether the argument here is a value of the flag before it. */
static bool has_value(const char *p, const char *end)
{
    return p < end && p[0] != '-';
}

/* Sets the full name to alive@host; empty when that is longer than a name can be. */
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

/* Reads a command line, all of whose words end with NUL. */
static void read_words(struct beam *b, const char *args, size_t len, const char *hostname)
{
    const char *p = args, *end = args + len, *flag = "", *sname = NULL, *name = NULL,
               *cookie = NULL;
    unsigned nvalue = 0, ncookies = 0;
    bool ours = false; /* past the first --: flags of Erlang, not of the emulator */
    erts_of_path(b, args);
    b->no_jit = is_beam(args) && strstr(base_of(args), ".emu.") != NULL;
    copy(b->proto, sizeof b->proto, "inet_tcp");
    for (p += strlen(p) + 1; p < end; p += strlen(p) + 1) {
        if (strcmp(p, "--") == 0) {
            ours = true;
            flag = "";
            continue;
        }
        if (!ours) {
            if (strcmp(p, "-JMsingle") == 0)
                flag = p;
            else if (strcmp(flag, "-JMsingle") == 0) {
                b->jit_single = strcmp(p, "true") == 0;
                flag = "";
            }
            continue;
        }
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
        else if (strcmp(flag, "-setcookie") == 0 && !has_value(p + strlen(p) + 1, end)) {
            cookie = p; /* with two values it is another node's cookie */
            ncookies++;
        } else if (strcmp(flag, "-root") == 0)
            copy(b->root, sizeof b->root, p);
        else if (strcmp(flag, "-home") == 0)
            copy(b->home, sizeof b->home, p);
        else if (strcmp(flag, "-bindir") == 0)
            erts_of_path(b, p);
        else if (strcmp(flag, "-proto_dist") == 0)
            copy(b->proto, sizeof b->proto, p);
        else if (strcmp(flag, "-dist_listen") == 0)
            b->deaf = strcmp(p, "false") == 0;
        else if (strcmp(flag, "-erl_epmd_port") == 0)
            b->port = (uint16_t)atoi(p);
    }
    if (ncookies == 1) /* several: the VM uses none of them, and reads its file */
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
}

bool beam_args(struct beam *b, const char *args, size_t len, const char *hostname)
{
    if (len == 0 || args[len - 1] != '\0' || !are_words_of_beam(args, len))
        return false;
    read_words(b, args, len, hostname);
    return true;
}

bool beam_tls(const struct beam *b)
{
    return strcmp(b->proto, "inet_tls") == 0 || strcmp(b->proto, "inet6_tls") == 0;
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

static void listeners_read(struct listeners *out, int proc, const char *file)
{
    struct buf b = BUF_INIT;
    if (proc_read(proc, file, NET_MAX, &b) <= 0)
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
static void ports_of(struct beam *b, int proc, const struct listeners *all)
{
    char link[64];
    int fd = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    b->fds_known = true;
    struct dirent *e;
    for (int i = 0; i < FDS_MAX && (e = readdir(dir)); i++) {
        unsigned long inode;
        ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof link - 1);
        if (n <= 0)
            continue;
        link[n] = '\0';
        if (sscanf(link, "socket:[%lu]", &inode) != 1)
            continue;
        for (size_t k = 0; k < all->n; k++)
            if (all->l[k].inode == inode && b->nlisten < BEAM_PORTS)
                b->listen[b->nlisten++] = all->l[k].port;
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

/* Returns whether a socket listens at the port, and each one that does is another user's. */
static bool foreign(const struct listeners *all, uint16_t port, uid_t uid)
{
    bool any = false;
    for (size_t i = 0; i < all->n; i++) {
        if (all->l[i].port != port)
            continue;
        if (all->l[i].uid == uid)
            return false;
        any = true;
    }
    return any;
}

/* Returns whether it has another namespace of that kind than we: "net", "uts". */
static bool other_ns(int proc, const char *kind)
{
    struct stat a, b;
    char ours[32], theirs[32];
    snprintf(ours, sizeof ours, "/proc/self/ns/%s", kind);
    snprintf(theirs, sizeof theirs, "ns/%s", kind);
    return stat(ours, &a) == 0 && fstatat(proc, theirs, &b, 0) == 0 && a.st_ino != b.st_ino;
}

/* Reads a variable of the process's initial environment. */
static bool environ_get(int proc, const char *name, char *out, size_t cap)
{
    struct buf b = BUF_INIT;
    bool found = false;
    size_t k = strlen(name);
    if (proc_read(proc, "environ", ARGS_MAX, &b) > 0)
        for (char *p = b.data, *end = b.data + b.len; p < end && !found; p += strlen(p) + 1)
            if (strncmp(p, name, k) == 0 && p[k] == '=' && strlen(p + k + 1) < cap) {
                strcpy(out, p + k + 1);
                found = true;
            }
    buf_free(&b);
    return found;
}

/* Returns the release number that a text begins with; no other part of the text is ever shown. */
static unsigned release_of(const char *s)
{
    size_t n = strspn(s, "0123456789");
    return n > 0 && n <= 3 && strchr(".\r\n", s[n]) ? (unsigned)atoi(s) : 0;
}

void beam_release(struct beam *b)
{
    enum { OLDEST = 17, NEWEST = 60 }; /* releases whose folders are tried */
    char path[700], text[64], erts[16];
    unsigned otp = 0;
    int proc = b->otp[0] ? -1 : proc_open(b->pid, b->start);
    if (proc < 0)
        return;
    for (unsigned i = NEWEST; i >= OLDEST && otp == 0; i--) {
        snprintf(path, sizeof path, "%s/releases/%u/OTP_VERSION", b->root, i);
        ssize_t n = proc_file(proc, b->uid, path, PROC_OWN_OR_ROOT, text, sizeof text);
        if (n > 0)
            otp = release_of(text);
    }
    snprintf(path, sizeof path, "%s/releases/start_erl.data", b->root);
    if (otp == 0 && proc_file(proc, b->uid, path, PROC_OWN_OR_ROOT, text, sizeof text) > 0 &&
        sscanf(text, "%15[0-9.]", erts) == 1 && (otp = beam_otp_of_erts(erts)) != 0)
        copy(b->erts, sizeof b->erts, erts);
    if (otp != 0)
        snprintf(b->otp, sizeof b->otp, "%u", otp);
    close(proc);
}

static void owner_of(struct beam *b)
{
    char mem[4096];
    struct passwd pw, *res = NULL;
    snprintf(b->owner, sizeof b->owner, "%u", (unsigned)b->uid);
    if (getpwuid_r(b->uid, &pw, mem, sizeof mem, &res) == 0 && res) {
        if (strlen(res->pw_name) < sizeof b->owner)
            strcpy(b->owner, res->pw_name);
        if (!b->home[0])
            copy(b->home, sizeof b->home, res->pw_dir);
    }
}

/* Reads the words of its command line, but one that does not fit. `beam`: it is known to be one;
 * else the beginning has to look like one's. */
static bool args_of(int proc, bool beam, struct buf *args)
{
    if (proc_read(proc, "cmdline", HEAD_MAX, args) <= 0 ||
        (!beam && !are_words_of_beam(args->data, args->len)))
        return false;
    if (args->len == HEAD_MAX && proc_read(proc, "cmdline", ARGS_MAX, args) <= 0)
        return false;
    while (args->len > 0 && args->data[args->len - 1] != '\0')
        args->len--; /* an argument that was cut off */
    return args->len > 0;
}

/* Returns whether the process is a BEAM, by its program if that can be seen, and reads its words. A
 * program that runs with another user's rights than those of the user who started it (su) has a
 * command line that the latter chose. */
static bool is_one(int proc, struct beam *b, struct buf *args)
{
    char program[PROGRAM_MAX];
    const bool seen = proc_program(proc, program, sizeof program), beam = seen && is_beam(program);
    if ((seen && !beam && !is_emulator(program)) || !args_of(proc, beam, args))
        return false;
    if (!beam) {
        const bool is = beam_args(b, args->data, args->len, NULL);
        b->emulated = seen;
        return is;
    }
    erts_of_path(b, program);
    read_words(b, args->data, args->len, NULL);
    return true;
}

/* Fills *b and returns true when the process is a BEAM. */
static bool beam_look(int proc, struct beam *b, struct buf *args, struct listeners *local)
{
    char host[256] = "", home[512];
    struct listeners there = {0};
    gid_t gid;
    if (!is_one(proc, b, args) || !proc_owner(proc, &b->uid, &gid))
        return false;
    b->start = proc_start(proc);
    /* A container has a host name of its own, which the node will tell. */
    if (b->alive[0] && !b->name[0] && !other_ns(proc, "uts")) {
        node_hostname(host, sizeof host, b->longnames);
        full_name(b, host);
    }
    owner_of(b);
    if (environ_get(proc, "HOME", home, sizeof home))
        copy(b->home, sizeof b->home, home);
    b->other_net = other_ns(proc, "net");
    if (b->other_net) {
        listeners_read(&there, proc, "net/tcp");
        listeners_read(&there, proc, "net/tcp6");
        local = &there;
    }
    ports_of(b, proc, local);
    et_free(there.l);
    return true;
}

static bool beam_read(pid_t pid, struct beam *b, struct buf *args, struct listeners *local)
{
    int proc = proc_open(pid, 0);
    *b = (struct beam){.pid = pid};
    bool is = proc >= 0 && beam_look(proc, b, args, local);
    if (proc >= 0)
        close(proc);
    return is;
}

static int by_pid(const void *a, const void *b)
{
    const struct beam *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Applies epmd's list to one BEAM. */
static void match_one(struct beam *b, const struct epmd_list *names)
{
    for (size_t k = 0; k < names->n; k++) {
        const struct epmd_name *e = &names->name[k];
        bool same = strcmp(e->alive, b->alive) == 0;
        /* Its own socket proves it; where we may not look, the name must suffice. */
        if (b->fds_known ? !listens(b, e->port) : !same)
            continue;
        if (!same) {
            copy(b->alive, sizeof b->alive, e->alive);
            b->name[0] = '\0'; /* the node itself will tell its host part */
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

/* Handles nodes that our epmd does not list: it asks the epmd that their environment names; failing
 * that, when epmd has forgotten a name (it was restarted) and the node listens at one port only,
 * that port must be it. An epmd that another user's process names is asked only if that user or
 * root owns it, and only while *others_ms lasts. */
static void match_elsewhere(struct beam *b, const struct node_addr *here,
                            const struct listeners *local, int *others_ms)
{
    struct epmd_list names;
    char text[16];
    if (b->other_net || b->port)
        return;
    int proc = proc_open(b->pid, b->start);
    int port = proc >= 0 && environ_get(proc, "ERL_EPMD_PORT", text, sizeof text) ? atoi(text) : 0;
    bool ours = b->uid == geteuid();
    if (proc >= 0)
        close(proc);
    if (port > 0 && port < 65536 && port != epmd_port() &&
        !(foreign(local, (uint16_t)port, b->uid) && foreign(local, (uint16_t)port, 0)) &&
        (ours || *others_ms > 0)) {
        int64_t before = clock_ms();
        if (epmd_names(here, (uint16_t)port, EPMD_MS, &names) == 0) {
            match_one(b, &names);
            epmd_list_free(&names);
        }
        if (!ours)
            *others_ms -= (int)(clock_ms() - before);
    }
    if (!b->port && b->alive[0] && b->nlisten == 1)
        b->port = b->listen[0];
}

/* Handles a node in another network namespace, of which we know what listens there. */
static void match_inside(struct beam *b)
{
    struct listeners there = {0};
    int proc = proc_open(b->pid, b->start);
    if (proc < 0)
        return;
    listeners_read(&there, proc, "net/tcp");
    listeners_read(&there, proc, "net/tcp6");
    close(proc);
    if (!b->port && b->alive[0] && b->nlisten == 1)
        b->port = b->listen[0];
    b->foreign_port = b->port && (!listens(b, b->port) || foreign(&there, b->port, b->uid));
    et_free(there.l);
}

/* Its epmd may be anybody's program: it is believed only about sockets that the process has. */
void beam_enter(struct beam *b)
{
    struct epmd_list names;
    struct node_addr addr;
    char text[16];
    int proc = b->other_net && b->fds_known ? proc_open(b->pid, b->start) : -1;
    if (proc < 0)
        return;
    b->named = true;
    int port = environ_get(proc, "ERL_EPMD_PORT", text, sizeof text) ? atoi(text) : EPMD_PORT;
    close(proc);
    if (b->port || b->nlisten < 2 || port <= 0 || port >= 65536 ||
        node_resolve("127.0.0.1", &addr) != 0)
        return;
    addr.of = b->pid;
    addr.start = b->start;
    if (epmd_names(&addr, (uint16_t)port, EPMD_MS, &names) != 0)
        return;
    match_one(b, &names);
    epmd_list_free(&names);
    match_inside(b);
}

int beam_scan(struct beam_list *out)
{
    struct buf args = BUF_INIT;
    struct listeners local = {0};
    struct epmd_list names = {0};
    struct node_addr here;
    int err = 0, others_ms = OTHERS_MS, self = proc_open(getpid(), 0);
    *out = (struct beam_list){0};
    if (self >= 0) {
        listeners_read(&local, self, "net/tcp");
        listeners_read(&local, self, "net/tcp6");
        close(self);
    }
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
            match_elsewhere(&out->beam[i], &here, &local, &others_ms);
    }
    for (size_t i = 0; i < out->n; i++) {
        struct beam *b = &out->beam[i];
        if (b->other_net && b->fds_known)
            match_inside(b);
        if (b->other_net)
            continue;
        b->foreign_port = b->port && foreign(&local, b->port, b->uid);
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

/* Turns what was read into a cookie: its first line. Returns 0 or an errno. */
static int first_line(char out[COOKIE_MAX], ssize_t n)
{
    if (n < 0) {
        explicit_bzero(out, COOKIE_MAX);
        return (int)-n;
    }
    out[strcspn(out, "\r\n")] = '\0';
    return out[0] ? 0 : ENODATA;
}

/* Reads the file that the user named. It may be a pipe, `--cookie-file <(pass show shop)`, which
 * gets some time. */
static int cookie_given(const char *path, char out[COOKIE_MAX])
{
    enum { PIPE_MS = 30000 };
    size_t got = 0;
    ssize_t n = 1;
    int64_t deadline = clock_ms() + PIPE_MS;
    int e = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return errno;
    while (e == 0 && n != 0 && got < COOKIE_MAX - 1 && !memchr(out, '\n', got)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, clock_left(deadline)) == 0)
            e = ETIMEDOUT;
        else if ((n = read(fd, out + got, COOKIE_MAX - 1 - got)) > 0)
            got += (size_t)n;
        else if (n < 0 && errno != EINTR && errno != EAGAIN)
            e = errno;
    }
    close(fd);
    out[got] = '\0';
    return first_line(out, e ? -e : (ssize_t)got);
}

static const char *cookie_error(int e)
{
    return e == ENODATA  ? "it is empty"
           : e == EINVAL ? "it is not a regular file"
           : e == ESTALE ? "it does not belong to the process's user"
           : e == ESRCH  ? "the process has ended"
           : e == EXDEV  ? "it leads out of the process's root folder"
                         : strerror(e);
}

/* Reads one of the owner's files. A BEAM in a chroot sees other files than we do: its root is tried
 * first. The file must be the owner's: a process chooses its own HOME, and must not obtain a proof
 * of a cookie that it may not read. */
static int cookie_of_owner(const struct beam *b, const char *path, char out[COOKIE_MAX])
{
    if (!b)
        return first_line(out, own_file(path, out, COOKIE_MAX));
    int proc = proc_open(b->pid, b->start);
    if (proc < 0)
        return ESRCH;
    int e = first_line(out, proc_file(proc, b->uid, path, PROC_OWN, out, COOKIE_MAX));
    if ((e == EACCES || e == EPERM) &&
        geteuid() != 0) { /* /proc is closed to us, but the file itself may not be */
        struct stat st;
        int e2 = stat(path, &st) != 0   ? errno
                 : !S_ISREG(st.st_mode) ? EINVAL
                 : st.st_uid != b->uid  ? ESTALE
                                        : first_line(out, own_file(path, out, COOKIE_MAX));
        if (e2 != ENOENT)
            e = e2;
    }
    close(proc);
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
        snprintf(s->from, sizeof s->from, "--cookie or ERLTRACE_COOKIE");
        if (!cookie[0] || strlen(cookie) >= COOKIE_MAX) {
            snprintf(s->why, sizeof s->why, "the cookie given is %s",
                     cookie[0] ? "too long" : "empty");
            return false;
        }
        strcpy(out, cookie);
        return true;
    }
    if (file) {
        int e = cookie_given(file, out);
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
        snprintf(s->why, sizeof s->why,
                 "no home folder is known in which to look for .erlang.cookie");
        return false;
    }
    if (b) {
        int proc = proc_open(b->pid, b->start);
        if (proc < 0 || !environ_get(proc, "XDG_CONFIG_HOME", config, sizeof config))
            config[0] = '\0';
        if (proc >= 0)
            close(proc);
    } else if (getenv("XDG_CONFIG_HOME")) {
        snprintf(config, sizeof config, "%s", getenv("XDG_CONFIG_HOME"));
    }
    if (!config[0])
        snprintf(config, sizeof config, "%.480s/.config", home);
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
