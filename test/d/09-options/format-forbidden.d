#pragma D option format=pprof
BEGIN { exit(0); }
