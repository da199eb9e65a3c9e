#pragma D option quiet
#pragma D option agghist
BEGIN { @["a"] = sum(-3); @["b"] = sum(-1); exit(0); }
