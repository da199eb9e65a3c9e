#pragma D option quiet

BEGIN { setopt("nonsense"); }
BEGIN { setopt("bufsize", "1m"); }
BEGIN { setopt("switchrate", "fast"); }
BEGIN { setopt("zdefs"); }
BEGIN { setopt("quiet", "perhaps"); }
BEGIN { setopt("destructive"); printf("goes on\n"); exit(0); }
