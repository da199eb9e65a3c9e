/* cred.h - the certificates for a node that speaks TLS: those that the user gave or, on request,
 * those of the node's own configuration.
 *
 * What a process says about its configuration is a claim of its user (proc.h): the files that it
 * names are opened only if they are regular files of that user or of root, with no more rights than
 * that user has. They are read whole, and OpenSSL reads them from memory. */
#ifndef ET_WIRE_CRED_H
#define ET_WIRE_CRED_H

#include "wire/find.h"
#include "wire/tls.h"

/* The user's options. The strings are borrowed. */
struct cred_options {
    bool on;                         /* any option was given: connections use TLS */
    bool from_node;                  /* what is not given comes from the node's configuration */
    const char *cert, *key, *cacert; /* files in PEM; key NULL: the key is in `cert` */
    enum tls_verify verify;
};

/* Why the static command, which can load no library, takes none of them. */
extern const char cred_static[];

/* Sets the option of that name: cert, key, cacert, verify (host, ca or none) or from_node (which
 * takes no value); a dash may replace _. Returns false, with *why, when there is no such option or
 * it does not take that value. */
bool cred_option(struct cred_options *o, const char *name, const char *value, const char **why);

/* Reads everything that a connection to a node needs. `b`: the node's process, NULL when it is not
 * known. Returns 0, ET_ENOMEM, or ET_ENODE with *why. Call cred_free in any case. */
int cred_read(struct tls_cred *c, const struct cred_options *o, const struct beam *b,
              struct tls_why *why);
/* Overwrites and frees. */
void cred_free(struct tls_cred *c);

#endif
