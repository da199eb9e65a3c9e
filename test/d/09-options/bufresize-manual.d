/* Nothing is lowered: what cannot be had is an error. */
#pragma D option bufresize=manual
#pragma D option bufsize=100000t

BEGIN { trace("x"); exit(0); }
