#pragma D option quiet
#pragma D option quietresize
#pragma D option bufsize=100000t

BEGIN { trace("x"); exit(0); }
