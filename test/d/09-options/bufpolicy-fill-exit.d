/* exit() ends a trace before its buffer is full. */
#pragma D option quiet
#pragma D option bufpolicy=fill

BEGIN { trace("once"); exit(7); }
END { trace("end"); }
