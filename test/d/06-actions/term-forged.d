/* a number that no probe gave is no term */
#pragma D option quiet
BEGIN { trace(term_int((term_t)1)); }
BEGIN { trace(term_text((term_t)0x123456789abcdef0)); }
BEGIN { trace(term_element((term_t)0x7fff00000000, 1) != NULL); }
BEGIN { exit(0); }
ERROR { printf("%d %d %x\n", arg3 > 0, arg4, arg5); }
