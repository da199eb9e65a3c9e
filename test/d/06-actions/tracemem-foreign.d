#pragma D option quiet
/* memory that is not the program's: nothing of the clause is recorded */
ERROR { printf("%d %x\n", arg4, arg5); }
BEGIN { printf("never\n"); tracemem(4096, 4); }
BEGIN { exit(0); }
