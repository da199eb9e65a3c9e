/* One of those that are always there, by its id. */
#pragma D option cpu=0
profile-4999 { exit(0); }
