/* node.h - Erlang nodes: finding them on this host, and the options for reaching one;
 * tier/vm_open.h attaches to it.
 *
 * A node is reached over Erlang distribution, as a hidden node, with libei, with or without TLS; or
 * through a relay, a process of another node or of itself. */
#ifndef ET_WIRE_NODE_H
#define ET_WIRE_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

struct cred_options; /* cred.h */

/* A BEAM of this host. */
struct node_info {
    pid_t pid;
    char name[256];  /* node name "rabbit@host", without the host part when that is not known; ""
                        when it is not distributed or the name is unknown */
    char otp[16];    /* OTP release, "25"; "" when unknown */
    char owner[64];  /* user name, or the numeric id */
    bool attachable; /* nothing that can be seen prevents it: name and cookie were found. It was not
                        tried */
    bool meant;      /* the name means it on this host: see beam_is_meant */
    char why[256];   /* why not, "" when attachable */
    char help[384];  /* what would help, "" when attachable */
};
struct node_list {
    struct node_info *node; /* by pid; et_free */
    size_t n;
};
/* Lists the BEAMs of this host, and what is known to prevent a trace of each, with the cookie given
 * or its owner's, and with the certificates of `tls` (NULL: none). None is contacted. Returns 0 or
 * ET_ENOMEM. */
int node_scan(struct node_list *out, const char *cookie, const struct cred_options *tls,
              struct diags *d);
void node_list_free(struct node_list *l);

struct node_options {
    const char *name;   /* node name; a short one without @ gets this host; NULL: use pid */
    pid_t pid;          /* OS pid of a BEAM of this host; 0: use name */
    const char *cookie; /* NULL: from cookie_file, else -setcookie of the process, else its owner's
                           cookie file */
    const char *cookie_file;
    const char *as; /* the name, NAME@HOST or NAME, under which to come to the node; NULL: ours */
    const struct cred_options *tls; /* NULL or not `on`: no TLS */
    const char *root;               /* folder whose priv/ holds the agent, or embedded_root */
    const char *agent_dir; /* the target's folder for the NIF library; NULL: the usual ones */
    bool by_relay; /* connect not by distribution but through the relay at the other end of the
                      socket `relay`, which is taken over (relay.h); then name only appears in
                      messages, and only root, agent_dir and lease_ms apply */
    int relay;
    int lease_ms; /* the node ends the trace after this many ms without a message from us; 0: 1500
                   */
};

/* Starts a command (split on blanks, no quoting) that runs an Erlang node, and waits at most
 * wait_ms until it can be attached to. A command that names its node neither with -name nor -sname
 * gets a name through the environment. `tls` as in node_options. On success *pid is the child,
 * `name` (n bytes) its node name, and `cookie` (nc bytes) its cookie. */
int node_spawn(const char *command, int wait_ms, const struct cred_options *tls, pid_t *pid,
               char *name, size_t n, char *cookie, size_t nc, struct diags *d);

#endif
