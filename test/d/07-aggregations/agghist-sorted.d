#pragma D option quiet
#pragma D option agghist
#pragma D option aggsortrev
BEGIN { @["a"] = sum(1); @["b"] = sum(2); @["c"] = sum(3); exit(0); }
