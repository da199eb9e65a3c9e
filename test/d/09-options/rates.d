/* Every unit, in either case; without one it is nanoseconds. */
#pragma D option quiet
#pragma D option switchrate=1
#pragma D option switchrate=1ns
#pragma D option switchrate=1NSEC
#pragma D option switchrate=1us
#pragma D option switchrate=1USEC
#pragma D option switchrate=1Ms
#pragma D option switchrate=1msec
#pragma D option aggrate=1s
#pragma D option aggrate=1SEC
#pragma D option aggrate=1m
#pragma D option aggrate=1min
#pragma D option aggrate=1h
#pragma D option aggrate=1Hour
#pragma D option aggrate=1d
#pragma D option aggrate=1day
#pragma D option statusrate=10HZ
#pragma D option cleanrate=0x10hz
BEGIN { trace("read"); exit(0); }
