/* a term that is not the record is a fault, which ERROR sees */
#pragma D option quiet
record order { id, price };
BEGIN { printf("before\n"); trace(atom("order").#order.price); printf("not reached\n"); }
ERROR { printf("code %d: %d\n", arg4 == DTRACEFLT_BADRECORD, arg4); exit(0); }
