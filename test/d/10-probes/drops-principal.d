/* A record of two int64_t takes 40 bytes, one of exit() 32: four of the former fit, and one of exit() behind them. Each of the others is a drop. */
#pragma D option quiet
#pragma D option cpu=0
#pragma D option bufsize=192
BEGIN { printf("%d of %d ", 1L, 6L); }
BEGIN { printf("%d of %d ", 2L, 6L); }
BEGIN { printf("%d of %d ", 3L, 6L); }
BEGIN { printf("%d of %d ", 4L, 6L); }
BEGIN { printf("%d of %d ", 5L, 6L); }
BEGIN { printf("%d of %d ", 6L, 6L); }
BEGIN { exit(0); }
