#pragma D option bufsize=128

#pragma D option bufpolicy=fill
BEGIN { trace("x"); exit(0); }
