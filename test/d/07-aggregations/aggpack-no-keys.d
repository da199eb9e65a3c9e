#pragma D option quiet
#pragma D option aggpack
BEGIN { @ = quantize(1); @ = quantize(2); exit(0); }
