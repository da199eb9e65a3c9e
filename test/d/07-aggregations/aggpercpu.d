#pragma D option quiet
#pragma D option aggpercpu
#pragma D option cpu=0
BEGIN { @["a"] = count(); @["b"] = count(); @["b"] = count(); }
BEGIN { @s["a"] = sum(3); exit(0); }
