#pragma D option quiet
#pragma D option aggzoom
/* Against the largest, which takes 38 of 40 columns. */
BEGIN { @ = quantize(1, 10); @ = quantize(2, 5); @ = quantize(4, 1); exit(0); }
