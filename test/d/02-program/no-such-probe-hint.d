dtrace:::BEGINN { exit(0); }
dtrase:::BEGIN { exit(0); }
dtrace:::begin { exit(0); }
