/* A ring keeps no room for END, which may overwrite what is older. */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=64

BEGIN { exit(0); }
END { trace(1); }
END { trace(2); }
