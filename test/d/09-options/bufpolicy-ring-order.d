/* What is read at the end is shown as always: BEGIN first, END last, header and prefixes. */
#pragma D option bufpolicy=ring

BEGIN { trace(1); }
tick-1ms { trace(2); exit(0); }
END { trace(3); }
