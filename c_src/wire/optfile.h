/* optfile.h - what a node's configuration says of TLS as a client: the file of -ssl_dist_optfile,
 * and the arguments of -ssl_dist_opt.
 *
 * The file is one Erlang term, [{server, Options}, {client, Options}]. The VM evaluates it, so that
 * it may also hold calls of functions; of those an option may be made that is of no concern here,
 * and no other. */
#ifndef ET_WIRE_OPTFILE_H
#define ET_WIRE_OPTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/tls.h"

/* What a client's options say; "" where they say nothing. */
struct optfile {
    char cert[512], key[512],
        cacert[512]; /* certfile, keyfile, cacertfile: as the node sees them */
    char password[256];
    enum tls_verify verify;
    char host[256];    /* server_name_indication */
    bool any_host;     /* ... is `disable` */
    char not_read[64]; /* an option that a connection needs, and that cannot be followed here */
};

/* Adds the options of a file's text to what *o has; what is there already counts, as for the VM. 0,
 * ET_ENOMEM, or ET_EINVAL with why[size] when it is no such term. */
int optfile_read(struct optfile *o, const char *text, size_t len, char *why, size_t size);
/* The same for one pair of -ssl_dist_opt: "client_certfile", "/etc/shop.pem". Others are passed
 * over. */
void optfile_argument(struct optfile *o, const char *name, const char *value);

#endif
