#pragma D option quiet
#pragma D option aggpercpu
#pragma D option cpu=0
/* Cleared with the rest; what comes later is counted again. */
BEGIN { @["x"] = sum(5); clear(@); }
tick-1ms { @["x"] = sum(2); exit(0); }
