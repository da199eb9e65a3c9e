/* find.h - the BEAMs of this host, from /proc, and their cookies. */
#ifndef ET_WIRE_FIND_H
#define ET_WIRE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "wire/epmd.h"

enum { BEAM_PORTS = 32, COOKIE_MAX = 512 };

/* A BEAM process. What cannot be found out is empty. */
struct beam {
    pid_t pid;
    uint64_t start; /* when it began, so that it is not taken for another of that number */
    uid_t uid;
    char owner[64];
    char alive[256];             /* name before the @ */
    char name[256];              /* full name; empty when its host part is not known */
    bool longnames;              /* -name rather than -sname */
    char erts[16];               /* "13.1.5" */
    char otp[16];                /* "25" */
    char root[512];              /* -root: where its OTP is, as it sees it */
    char home[512];              /* HOME */
    char cookie[COOKIE_MAX];     /* of -setcookie. A secret */
    char proto[32];              /* -proto_dist, "inet_tcp" when not given */
    bool deaf;                   /* -dist_listen false: it accepts no connections */
    uint16_t port;               /* distribution port, 0: not known */
    bool registered;             /* epmd knows its name and port */
    bool fds_known;              /* its sockets could be looked at */
    bool other_net;              /* lives in another network namespace */
    bool foreign_port;           /* what listens at `port` is another user's */
    uint16_t listen[BEAM_PORTS]; /* ports it listens on, when fds_known */
    unsigned nlisten;
};
struct beam_list {
    struct beam *beam; /* by pid; et_free */
    size_t n;
};

/* All BEAMs that can be seen, with their names as their command lines have them, then as epmd has
 * them. 0 or ET_ENOMEM. */
int beam_scan(struct beam_list *out);
void beam_list_free(struct beam_list *l);
/* Fills in the release of a BEAM whose command line does not tell it, from files of its OTP. For
 * those that are asked for, as it opens what the process names. */
void beam_release(struct beam *b);
/* The BEAM that this process is, or the first that runs under it; NULL if there is none. */
const struct beam *beam_under(const struct beam_list *l, pid_t pid);

/* Reads a command line as /proc/PID/cmdline has it (each argument ends with NUL). False when it is
 * not a BEAM's. `hostname` completes names without a host part. */
bool beam_args(struct beam *b, const char *args, size_t len, const char *hostname);
/* Whether its distribution speaks TLS, and nothing else. */
bool beam_tls(const struct beam *b);
/* The OTP release that an ERTS version belongs to: "13.1.5" -> 25; 0 when it is not known. */
unsigned beam_otp_of_erts(const char *erts);
/* Fills in, for BEAMs that have no name or no port, what epmd knows of their sockets. */
void beam_match_epmd(struct beam_list *l, const struct epmd_list *names);

/* The host part that a node of this host has: the host name up to its first dot, or all of it with
 * `longnames`. */
void node_hostname(char *out, size_t cap, bool longnames);

/* Where a cookie came from, or why there is none. Texts for people; they never hold the cookie. */
struct cookie_source {
    char from[256]; /* "--cookie", "/root/.erlang.cookie" */
    char why[320];  /* no cookie: why, "" otherwise */
    bool denied;    /* ... because a file may not be read */
};
/* Finds the cookie: the one given, the file given, -setcookie of the process, the cookie file of
 * its owner; without a process, of the one who runs us. False, with s->why, when there is none. */
bool cookie_find(const struct beam *b, const char *cookie, const char *file, char out[COOKIE_MAX],
                 struct cookie_source *s);

#endif
