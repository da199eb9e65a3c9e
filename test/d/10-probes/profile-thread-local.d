/* A thread-local variable of a profile probe is that of the thread on its CPU. */
#pragma D option quiet
#pragma D option cpu=0
BEGIN { self->x = 7; }
profile-1ms / self->x / { trace("somebody else's"); exit(1); }
profile-1ms { self->n++; }
profile-1ms / self->n == 3 / { trace(self->n); exit(0); }
