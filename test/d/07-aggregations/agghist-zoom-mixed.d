#pragma D option quiet
#pragma D option agghist
#pragma D option aggzoom
BEGIN { @["a"] = sum(-10); @["b"] = sum(10); @["c"] = sum(20); exit(0); }
