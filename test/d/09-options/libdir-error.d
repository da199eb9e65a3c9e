/* Errors of a library are reported with its name. */
BEGIN { exit(0); }
