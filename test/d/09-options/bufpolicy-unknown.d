#pragma D option bufpolicy=circle
BEGIN { exit(0); }
