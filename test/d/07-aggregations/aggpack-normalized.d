#pragma D option quiet
#pragma D option aggpack
BEGIN { @["x"] = lquantize(1, 0, 9, 1, 50); @["x"] = lquantize(2, 0, 9, 1, 150); normalize(@, 10); exit(0); }
