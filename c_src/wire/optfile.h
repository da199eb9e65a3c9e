/* optfile.h - reads what a node's configuration says about TLS for clients: the file of
 * -ssl_dist_optfile, and the arguments of -ssl_dist_opt.
 *
 * The file is one Erlang term, [{server, Options}, {client, Options}]. The VM evaluates it, so it
 * may also contain function calls. Here a call is accepted only as part of an option that is not
 * needed. */
#ifndef ET_WIRE_OPTFILE_H
#define ET_WIRE_OPTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/tls.h"

/* A client's options; "" where they are not given. */
struct optfile {
    char cert[512], key[512],
        cacert[512]; /* certfile, keyfile, cacertfile: as the node sees them */
    char password[256];
    enum tls_verify verify;
    char host[256];    /* server_name_indication */
    bool any_host;     /* ... is `disable` */
    char not_read[64]; /* an option that a connection needs but that erltrace cannot follow */
};

/* Adds the options in a file's text to *o; what is already there takes precedence, as in the VM.
 * Returns 0, ET_ENOMEM, or ET_EINVAL with why[size] when the text is no such term. */
int optfile_read(struct optfile *o, const char *text, size_t len, char *why, size_t size);
/* The same for one pair of -ssl_dist_opt: "client_certfile", "/etc/shop.pem". Ignores other names.
 */
void optfile_argument(struct optfile *o, const char *name, const char *value);

#endif
