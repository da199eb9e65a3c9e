#pragma D option quiet
#pragma D option aggpack
BEGIN { @["x"] = lquantize(1, 0, 9, 1, -1); @["x"] = lquantize(2, 0, 9, 1, -6); @["x"] = lquantize(3, 0, 9, 1, 1); exit(0); }
