/* The clause finishes; no later one of the same firing begins. */
#pragma D option quiet
BEGIN { exit(1); trace("rest "); x = 1; }
BEGIN { trace("not reached"); }
tick-1ms { trace("not reached"); }
END { trace(x); }
END { trace(" second"); }
