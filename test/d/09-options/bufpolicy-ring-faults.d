/* Faults stand in the ring with the records. */
#pragma D option quiet
#pragma D option bufpolicy=ring
int zero;

BEGIN { trace("before "); }
BEGIN { trace(1 / zero); }
BEGIN { trace("after "); exit(0); }
