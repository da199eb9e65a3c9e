#pragma D option quiet


self string s;

BEGIN { trace(json(self->s, "a")); }
BEGIN { trace(json("{}", self->s)); }
BEGIN { exit(0); }
