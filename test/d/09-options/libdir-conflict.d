/* A library that redeclares what one before it has. */
BEGIN { exit(0); }
