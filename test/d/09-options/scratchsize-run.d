/* Two that fit alone, but not together. */
#pragma D option quiet
#pragma D option scratchsize=512
BEGIN { p = (char *)alloca(512); q = (char *)alloca(8); trace("not reached"); }
BEGIN { trace("next"); exit(0); }
