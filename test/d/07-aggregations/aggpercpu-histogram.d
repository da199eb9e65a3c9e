#pragma D option quiet
#pragma D option aggpercpu
#pragma D option cpu=0
BEGIN { @ = quantize(1); exit(0); }
