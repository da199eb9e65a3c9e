/* #pragma overrides -x: with 128 bytes a string would not fit. */
#pragma D option quiet
#pragma D option bufsize=1m
BEGIN { trace("fits"); exit(0); }
