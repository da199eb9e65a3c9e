/* A fault takes the record of the clause, and the status with it; that the trace ends stays. */
#pragma D option quiet
int zero;
BEGIN { exit(7); trace(1 / zero); }
tick-1ms { trace("not reached"); }
