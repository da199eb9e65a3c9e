/* Each clause has an enabled probe id of its own; ERROR is told which one faulted. */
#pragma D option quiet
int first, second, zero;
BEGIN { first = epid; }
BEGIN { second = epid; first += 0; x = 1 / zero; }
ERROR { printf("%d %d %d\n", first != second, arg1 == second, epid != second); }
BEGIN { exit(0); }
