#pragma D option quiet
#pragma D option bufresize=auto
BEGIN { trace("x"); exit(0); }
