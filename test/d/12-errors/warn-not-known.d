erlang*:::message-queued { @[copyinstr(arg0)] = max(arg2); @b = quantize(arg1); }
erlang*:::message-queued { @c = sum(args[1] * args[2]); @d = count(); printf("%d", arg2); }
BEGIN { exit(0); }
#pragma D option zdefs
