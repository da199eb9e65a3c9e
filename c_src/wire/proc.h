/* proc.h - looks at other users' processes, and at files that they name.
 *
 * Any user can start a process that is named like a BEAM and has any command line. What a process
 * says is therefore only a claim: the reader must not wait for anything of that user's, must not
 * use its own rights to open what that user could not open, and must not take one process for
 * another. So:
 *   - a process is looked at through a descriptor of its folder in /proc, which keeps denoting that
 *     process even after its pid is reused;
 *   - a file that a process names is opened only when it is a regular file owned by a user that the
 *     caller permits, with no more rights than the process's user has, and never waiting. */
#ifndef ET_WIRE_PROC_H
#define ET_WIRE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* Returns a descriptor of /proc/PID, or -1 with errno set. `start` is from proc_start: a process
 * with this pid that began at another time is another process (ESRCH); 0 accepts any. */
int proc_open(pid_t pid, uint64_t start);
/* Returns when the process began, in ticks since the machine booted; 0 when that cannot be
 * determined. */
uint64_t proc_start(int proc);
/* Returns the user and group whose rights it has; false when it has ended. */
bool proc_owner(int proc, uid_t *uid, gid_t *gid);
/* Reads the path of the program that it runs. Returns false when that cannot be seen, or is longer.
 */
bool proc_program(int proc, char *path, size_t cap);
/* Reads the start of /proc/PID/NAME, at most `max` bytes, and appends a NUL. Returns the number of
 * bytes, or -errno. */
ssize_t proc_read(int proc, const char *name, size_t max, struct buf *b);

/* Who may own a file. */
enum proc_whose {
    PROC_OWN,        /* the process's user; a root process may name any user's file */
    PROC_OWN_OR_ROOT /* that user or root */
};
/* Reads the start of the file that the process calls `path` (which begins with /), at most cap - 1
 * bytes, and appends a NUL. Links are resolved inside the process's root folder. Returns the number
 * of bytes, or -errno: -ESTALE it belongs to another user, -EINVAL it is not a regular file. Checks
 * the process again: -ESRCH when it is no longer `uid`'s. */
ssize_t proc_file(int proc, uid_t uid, const char *path, enum proc_whose whose, char *out,
                  size_t cap);
/* The same for a file that we open ourselves; any user may own it. */
ssize_t own_file(const char *path, char *out, size_t cap);

#endif
