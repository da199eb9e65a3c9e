/* A thread-local variable is there until it is assigned 0, in all clauses. */
#pragma D option quiet
int i;
BEGIN { self->n = 7; self->s = "text"; }
BEGIN { printf("%d %s\n", self->n, self->s); self->n = 0; self->s = 0; }
BEGIN { printf("%d %d\n", self->n, self->s == NULL); exit(0); }
