#pragma D option quiet
#pragma D option agghist
BEGIN { @["low"] = sum(-10); @["none"] = sum(0); @["high"] = sum(30); exit(0); }
