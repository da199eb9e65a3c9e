#pragma D option quiet
#pragma D option agghist
#pragma D option aggzoom
BEGIN { @["a"] = sum(1); @["b"] = sum(5); @["c"] = sum(6); exit(0); }
