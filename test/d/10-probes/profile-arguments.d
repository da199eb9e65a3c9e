/* No program is interrupted here: arg0 and arg1, the places in kernel and user program, are 0. arg2
 * is how many nanoseconds it is late; arguments beyond are 0. */
#pragma D option quiet
#pragma D option cpu=0
profile-1ms { printf("%d %d %d %d", arg0, arg1, arg2 >= 0, arg3); exit(0); }
