#pragma D option quiet

provider shop { probe a(int); probe b(char *s) : (string s); };
provider shop { probe b(char *s) : (string s); probe a(int x); };

BEGIN { exit(0); }
