#pragma D option quiet
#pragma D option iregs=8
BEGIN { x = 1; trace(x + (2 + (x + (x + x)))); exit(0); }
