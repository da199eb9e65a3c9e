/* message.h - the messages of a page on its WebSocket: text to struct message
 * (doc/web-protocol.md).
 *
 * The text comes from whoever holds the token and is not trusted: either it is one of the described
 * messages, with fields of the right types and sizes, or it is rejected. A message that is
 * well-formed but cannot be carried out is for others to refuse. */
#ifndef ET_WEB_MESSAGE_H
#define ET_WEB_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum message_type {
    MESSAGE_START,
    MESSAGE_JOIN,
    MESSAGE_REJOIN,
    MESSAGE_CHECK,
    MESSAGE_STOP,
    MESSAGE_RECORD,
    MESSAGE_PING
};

enum {
    MESSAGE_ARGS = 64,          /* $1 to $64 */
    MESSAGE_OPTIONS = 64,       /* options of one script */
    MESSAGE_VIEW = 4096,        /* bytes of a view */
    MESSAGE_SHORT = 1024,       /* bytes of names, arguments and values */
    MESSAGE_SCRIPT = 64 * 1024, /* bytes of a script */
    MESSAGE_SIZE = 128 * 1024,  /* bytes of a message */
    MESSAGE_PAGE = 33           /* of a page: 32 hexadecimal digits, and their end */
};

struct message_option {
    char *name, *value; /* value NULL: the name alone */
};

/* The message owns its strings; those that were not given are NULL. */
struct message {
    enum message_type type;
    int64_t id;              /* of start, join, rejoin, check, record; else 0 */
    int64_t t;               /* of ping; else 0 */
    uint64_t trace;          /* of join, rejoin; 0: not given */
    uint64_t n;              /* of rejoin: the last reading that the page has */
    uint64_t news;           /* of rejoin: the last news that the page has */
    char page[MESSAGE_PAGE]; /* of start, join, rejoin: which page this is; "": not given */
    bool all;                /* of stop */
    bool on;                 /* of record */
    char *node, *script, *name;
    char *view; /* JSON text */
    char *arg[MESSAGE_ARGS];
    size_t nargs;
    struct message_option option[MESSAGE_OPTIONS]; /* sorted by name */
    size_t noptions;
};

/* Decodes len bytes. Returns NULL, or one line that says why the text is not a message; then *m
 * holds nothing. */
const char *message_decode(const char *text, size_t len, struct message *m);
/* Copies what a check has. Returns false, and *to holds nothing, if memory is out. */
bool message_copy(const struct message *m, struct message *to);
void message_free(struct message *m);

#endif
