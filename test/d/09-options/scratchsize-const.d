#pragma D option scratchsize=512
BEGIN { p = (char *)alloca(513); exit(0); }
