#pragma D option bufsize=128

BEGIN { trace("x"); exit(0); }
