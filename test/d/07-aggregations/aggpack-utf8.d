#pragma D option quiet
#pragma D option aggpack
#pragma D option encoding=utf8
BEGIN { @["x"] = lquantize(1, 0, 9, 1, 8); @["x"] = lquantize(2, 0, 9, 1, 1); @["x"] = lquantize(4, 0, 9, 1, 23); exit(0); }
