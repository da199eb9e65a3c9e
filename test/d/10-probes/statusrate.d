/* Drops of an hour in one message. */
#pragma D option quiet
#pragma D option statusrate=1h
BEGIN { s = speculation(); s = speculation(); }
tick-5ms { s = speculation(); n++; }
tick-5ms / n == 4 / { exit(0); }
