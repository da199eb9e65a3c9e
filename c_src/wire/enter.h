/* enter.h - sockets in the network namespace of another process, such as a node in a container.
 *
 * A socket belongs to the namespace in which it was made, whoever uses it. So a child makes it
 * there and passes it back: it enters that network namespace, which a process with threads could
 * do for one of them only. Nothing of the container is opened or run.
 *
 * It takes CAP_SYS_ADMIN over the container. Root of this host has that. So has, without being
 * root, the user who made the container's user namespace, but inside that namespace only: there
 * the child enters that one first. Meanwhile it is not dumpable, so that who is root in there
 * cannot look into it, a copy of this process. */
#ifndef ET_WIRE_ENTER_H
#define ET_WIRE_ENTER_H

#include <stdint.h>
#include <sys/types.h>

/* Makes a TCP socket of that family (close-on-exec, nonblocking) in the network namespace of the
 * process, which began at `start` (proc.h). Returns a descriptor or -errno: -EPERM when this
 * process may not enter, -ESRCH when the process has ended. */
int enter_socket(pid_t pid, uint64_t start, int family);

#endif
