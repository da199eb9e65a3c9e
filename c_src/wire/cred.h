/* cred.h - the certificates for a node that speaks TLS: those that the user has given, or, when he
 * asks for it, those of the node's own configuration.
 *
 * What a process says of its configuration is a claim of its user's (proc.h): the files that it
 * names are opened only if they are regular ones of that user or of root, with no more rights than
 * that user has. They are read whole, and OpenSSL gets them from memory. */
#ifndef ET_WIRE_CRED_H
#define ET_WIRE_CRED_H

#include "wire/find.h"
#include "wire/tls.h"

/* What the user has said. The strings are borrowed. */
struct cred_options {
    bool on;                         /* anything: connections are to be made over TLS */
    bool from_node;                  /* what is not given is taken from the node's configuration */
    const char *cert, *key, *cacert; /* files in PEM; key NULL: it is in `cert` */
    enum tls_verify verify;
};

/* Sets the option of that name: cert, key, cacert, verify (host, ca or none), from_node (which
 * takes no value); a dash may stand for _. False, with *why, when there is none, or not with that
 * value. */
bool cred_option(struct cred_options *o, const char *name, const char *value, const char **why);

/* Reads all that a connection to a node needs. `b`: its process, NULL when it is not known. 0,
 * ET_ENOMEM, or ET_ENODE with *why. cred_free in any case. */
int cred_read(struct tls_cred *c, const struct cred_options *o, const struct beam *b,
              struct tls_why *why);
/* Overwrites and frees. */
void cred_free(struct tls_cred *c);

#endif
