#pragma D option quiet
#pragma D option aggpack
BEGIN { @[1] = lquantize(-5, 0, 3, 1); @[1] = lquantize(2, 0, 3, 1); @[1] = lquantize(9, 0, 3, 1); @[1] = lquantize(9, 0, 3, 1); exit(0); }
