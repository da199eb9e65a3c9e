#pragma D option redact=*password*
BEGIN { exit(0); }
