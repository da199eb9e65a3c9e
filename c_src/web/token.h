/* token.h - the token of a server, kept in a file of its user so that a restarted server admits the
 * pages of the one before it. */
#ifndef ET_WEB_TOKEN_H
#define ET_WEB_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "web/access.h"

/* Replaces the token by the one that the last server of this user on this address and port had; if
 * there was none, keeps this one for the next. The file is token-ADDRESS-PORT in
 * $XDG_STATE_HOME/erltrace, or in ~/.local/state/erltrace. A file or folder that another user could
 * have made, or can read or change, is not used. anew: removes the file instead.
 * If it cannot be kept, the token stays as it is, and why[size] says so in one line. */
void token_keep(const char *address, int port, bool anew, char token[ACCESS_SECRET], char *why,
                size_t size);

#endif
