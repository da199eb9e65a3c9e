/* Faults are the classic ones: dividing by an unsigned zero is one, too. */
#pragma D option quiet
unsigned int zero, x;
unsigned long zl;
BEGIN { x = 7; }
BEGIN { x = 7 / zero; }
BEGIN { x = 5ul % zl; }
BEGIN { x /= zero; }
BEGIN { x %= zero; }
ERROR { n++; kind = arg4; }
END { printf("%d %d %d\n", x, n, kind); }
BEGIN { exit(0); }
