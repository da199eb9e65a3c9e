/* A fault each, and x stays what it was. */
#pragma D option quiet
int x, zero;
BEGIN { x = 5; }
BEGIN { x = 5 / zero; }
BEGIN { x = 5 % zero; }
BEGIN { x /= zero; }
BEGIN { x %= zero; }
BEGIN { x = 7 / (char)zero; }
ERROR { n++; kind = arg4; value = arg5; }
END { printf("%d %d %d %d\n", x, n, kind, value); }
BEGIN { exit(0); }
