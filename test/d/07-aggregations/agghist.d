#pragma D option quiet
#pragma D option agghist
BEGIN { @["map"] = sum(5); @["foldl"] = sum(15); exit(0); }
