/* Between clauses these are no keywords, but probe names like others. */
while { exit(0); }
sizeof, if { exit(0); }
xlate { exit(0); }
