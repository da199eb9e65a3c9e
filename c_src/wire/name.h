/* name.h - what we call ourselves towards a node.
 *
 * A node remembers the name of every node it ever met: names are atoms, and atoms are never freed.
 * A monitor that attaches once a minute under a new name each time would fill the atom table in the
 * end. So connections share a small set of names, erltrace_0, erltrace_1, ..., each with the first
 * that nobody on this host is using. */
#ifndef ET_WIRE_NAME_H
#define ET_WIRE_NAME_H

enum { NAME_SLOTS = 256 };

/* Takes the first free name number from `from` on. Returns a descriptor that holds it until it is
 * closed, or the process ends, however it ends; -1 when all are taken. */
int name_take(unsigned from, unsigned *slot);

#endif
