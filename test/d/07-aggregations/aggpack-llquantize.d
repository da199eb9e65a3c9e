#pragma D option quiet
#pragma D option aggpack
/* Bins of magnitude 1 by tens: 10, 20, 30 ... The bin below has all under 10. */
BEGIN { @["x"] = llquantize(10, 10, 1, 2, 10); @["x"] = llquantize(35, 10, 1, 2, 10); exit(0); }
