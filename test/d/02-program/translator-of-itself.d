/* A translator does not exist before its end. */
struct out { int v; };
translator struct out < int i > { v = xlate <struct out> (i).v; };
BEGIN { exit(0); }
