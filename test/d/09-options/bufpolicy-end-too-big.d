/* Each END clause needs 48 bytes: it may be a fault. */
#pragma D option bufpolicy=fill
#pragma D option bufsize=64

BEGIN { exit(0); }
END { trace(1); }
END { trace(2); }
