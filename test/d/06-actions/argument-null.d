/* NULL is a pointer, and faults. */
#pragma D option quiet
BEGIN { trace(inet_ntoa(NULL)); }
BEGIN { trace(inet_ntoa6(NULL)); }
BEGIN { trace(inet_ntop(2, NULL)); }
BEGIN { trace(link_ntop(1, 0)); }
BEGIN { bcopy(NULL, alloca(8), 8); }
BEGIN { bcopy(alloca(8), NULL, 8); }
BEGIN { copyinto(0, 8, NULL); }
BEGIN { trace(strlen(NULL)); }
BEGIN { trace(strjoin("a", NULL)); }
BEGIN { exit(0); }
ERROR { printf("%d %d\n", arg4, arg5); }
