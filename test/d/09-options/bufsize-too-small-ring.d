#pragma D option bufsize=128

#pragma D option bufpolicy=ring
BEGIN { trace("x"); exit(0); }
