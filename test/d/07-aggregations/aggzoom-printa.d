#pragma D option quiet
#pragma D option aggzoom
/* Also in a format. */
BEGIN { @[7] = quantize(1); printa("%d:%@d", @); exit(0); }
