/* The left side waits in a register while the right side is made: one more for each level. */
#pragma D option iregs=2
BEGIN { trace(arg0 + (arg1 + (arg2 + (arg3 + arg4)))); }
