#pragma D option quiet
#pragma D option aggpack
#pragma D option aggzoom
#pragma D option encoding=utf8
/* The largest is a full block; what is far below is the lowest. */
BEGIN { @["x"] = lquantize(1, 0, 9, 1, 1); @["x"] = lquantize(2, 0, 9, 1, 1000); @["x"] = lquantize(3, 0, 9, 1, 2000); exit(0); }
