/* proc.h - looking at processes of other users, and at files that they name.
 *
 * Any user can start a process that is called like a BEAM and has any command line. What it says is
 * therefore taken for a claim: whoever looks must not wait for anything of that user's, must not
 * open with his own rights what that user could not open, and must not take one process for
 * another. So:
 *   - a process is looked at through a descriptor of its folder in /proc, which stays that
 *     process's when the number is given to another;
 *   - a file that a process names is opened only when it is a regular one and belongs to whom the
 *     caller says, with no more rights than the process's user has, and never to wait. */
#ifndef ET_WIRE_PROC_H
#define ET_WIRE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* A descriptor of /proc/PID, or -1 with errno set. `start` as proc_start gives it: a process that
 * has the number and began at another time is another one (ESRCH); 0 takes any. */
int proc_open(pid_t pid, uint64_t start);
/* When the process began, in ticks since the machine did; 0 when that cannot be found out. */
uint64_t proc_start(int proc);
/* User and group whose rights it has; false when it has gone. */
bool proc_owner(int proc, uid_t *uid, gid_t *gid);
/* Whether the program that it runs can be seen, and its file has a name that `is` says no to. */
bool proc_runs_other(int proc, bool (*is)(const char *path));
/* The start of /proc/PID/NAME, at most `max` bytes; NUL behind it. Bytes read, or -errno. */
ssize_t proc_read(int proc, const char *name, size_t max, struct buf *b);

/* Whose a file may be. */
enum proc_whose {
    PROC_OWN,        /* the user's of the process; a process of root's may name anybody's */
    PROC_OWN_OR_ROOT /* root's as well */
};
/* Reads the start of the file that the process calls `path` (which begins with /), at most cap - 1
 * bytes, and puts a NUL behind them. Links are followed inside the root folder that the process
 * has. Bytes read, or -errno: -ESTALE it belongs to another user, -EINVAL it is no regular file.
 * The process is looked at again: -ESRCH when it is no longer `uid`'s. */
ssize_t proc_file(int proc, uid_t uid, const char *path, enum proc_whose whose, char *out,
                  size_t cap);
/* The same for a file of our own, whoever it belongs to. */
ssize_t own_file(const char *path, char *out, size_t cap);

#endif
