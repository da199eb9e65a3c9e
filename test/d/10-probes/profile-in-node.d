/* A node has ticks only, so far. */
profile-97 { exit(0); }
