#pragma D option quiet
#pragma D option tregs=11
BEGIN { @[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] = count(); printa("%@d\n", @); exit(0); }
