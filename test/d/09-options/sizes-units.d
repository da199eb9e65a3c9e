/* k m g t in either case, and any base. */
#pragma D option quiet
#pragma D option bufsize=0x10000
#pragma D option bufsize=0200000
#pragma D option bufsize=64k
#pragma D option aggsize=1M
#pragma D option specsize=1K
#pragma D option dynvarsize=1m
BEGIN { trace("read"); exit(0); }
