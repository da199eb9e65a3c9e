/* find.h - finds the BEAMs of this host in /proc, and their cookies. */
#ifndef ET_WIRE_FIND_H
#define ET_WIRE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "wire/epmd.h"

enum { BEAM_PORTS = 32, COOKIE_MAX = 512 };

/* A BEAM process. What cannot be determined is empty. */
struct beam {
    pid_t pid;
    uint64_t start; /* when it began, which tells it from another process that gets its pid */
    uid_t uid;
    char owner[64];
    char alive[256];             /* name before the @ */
    char name[256];              /* full name; empty when its host part is not known */
    bool longnames;              /* -name rather than -sname */
    char erts[16];               /* "13.1.5" */
    char otp[16];                /* "25" */
    char root[512];              /* -root: where its OTP is, as the process sees it */
    char home[512];              /* HOME */
    char cookie[COOKIE_MAX];     /* of -setcookie. A secret */
    char proto[32];              /* -proto_dist, "inet_tcp" when not given */
    bool deaf;                   /* -dist_listen false: it accepts no connections */
    uint16_t port;               /* distribution port, 0: not known */
    bool registered;             /* epmd knows its name and port */
    bool fds_known;              /* its sockets could be examined */
    bool other_net;              /* runs in another network namespace */
    bool named;                  /* the user named its process, so that namespace may be entered */
    bool foreign_port;           /* the listener at `port` is another user's, or of a process in
                                    another network namespace not its own */
    uint16_t listen[BEAM_PORTS]; /* ports it listens on, when fds_known */
    unsigned nlisten;
    uint16_t machine;   /* EM_... of the emulator's file; 0: unknown */
    bool loads_nothing; /* the emulator is linked statically: it can load no library */
    char loader[64];    /* the one that its file names, which is its C library's; "" */
    bool emulated;      /* an emulator of another processor runs it */
    bool no_jit;        /* it was started without the JIT */
    bool jit_single;    /* +JMsingle true: code is written where it is run */
};
struct beam_list {
    struct beam *beam; /* by pid; et_free */
    size_t n;
};

/* Finds all BEAMs that can be seen, named as their command lines say, then as epmd does. Returns 0
 * or ET_ENOMEM. */
int beam_scan(struct beam_list *out);
void beam_list_free(struct beam_list *l);
/* Fills in the release of a BEAM whose command line does not tell it, from files of its OTP. Call
 * it only for BEAMs that the user asked about, since it opens files that the process names. */
void beam_release(struct beam *b);
/* Enters the network namespace of a BEAM in a container, to ask its epmd which port is its own, if
 * it listens at several. Call it only for the process that the user named. */
void beam_enter(struct beam *b);
/* Fills in what the file of its emulator says. Call it only for BEAMs that the user asked about. */
void beam_processor(struct beam *b);
/* The same from the beginning of that file. */
void beam_emulator(struct beam *b, const char *file, size_t n);
/* Returns the BEAM that process `pid` is, or the first that runs under it; NULL if there is none.
 */
const struct beam *beam_under(const struct beam_list *l, pid_t pid);

/* Reads a command line as /proc/PID/cmdline has it (each argument ends with NUL). Returns false
 * when it is not a BEAM's. `hostname` completes names without a host part. */
bool beam_args(struct beam *b, const char *args, size_t len, const char *hostname);
/* Returns whether its distribution speaks TLS only. */
bool beam_tls(const struct beam *b);
/* Returns the OTP release that an ERTS version belongs to: "13.1.5" -> 25; 0 when it is unknown. */
unsigned beam_otp_of_erts(const char *erts);
/* Fills in the name or port of BEAMs that lack one, from what epmd knows about their sockets. */
void beam_match_epmd(struct beam_list *l, const struct epmd_list *names);

/* Writes the host part that a node of this host has: the host name up to its first dot, or all of
 * it with `longnames`. */
void node_hostname(char *out, size_t cap, bool longnames);
/* Returns whether that is the host part that a node of this host has, with or without long names.
 */
bool node_names_host(const char *host);
/* Returns whether a BEAM is what its name means on this host: not one of a container, nor one whose
 * name says another host. The host part may be one of this host's addresses. */
bool beam_is_meant(const struct beam *b);

/* Where a cookie came from, or why there is none. Texts for users; they never contain the cookie.
 */
struct cookie_source {
    char from[256]; /* "--cookie", "/root/.erlang.cookie" */
    char why[320];  /* why there is no cookie, "" otherwise */
    bool denied;    /* ... because reading a file is not permitted */
};
/* Finds the cookie: the one given, the file given, -setcookie of the process, or the cookie file of
 * its owner; without a process, of the user who runs us. Returns false, with s->why, when there is
 * none. */
bool cookie_find(const struct beam *b, const char *cookie, const char *file, char out[COOKIE_MAX],
                 struct cookie_source *s);

#endif
