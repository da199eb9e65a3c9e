/* name.h - the name by which we connect to a node.
 *
 * A node remembers the name of every node it ever met: names are atoms, and atoms are never freed.
 * A monitor that attached once a minute under a new name each time would eventually fill the atom
 * table. Connections therefore share a small set of names, erltrace_0, erltrace_1, ...; each takes
 * the first that no process of this host uses. */
#ifndef ET_WIRE_NAME_H
#define ET_WIRE_NAME_H

enum { NAME_SLOTS = 256 };

/* Takes the first free name number from `from` on. Returns a descriptor that holds it until it is
 * closed or the process ends in any way; -1 when all are taken. */
int name_take(unsigned from, unsigned *slot);

#endif
