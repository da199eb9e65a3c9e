/* Later END clauses still run; the status is that of the last. */
#pragma D option quiet
BEGIN { exit(1); }
END { exit(3); }
END { trace("later"); exit(4); }
END { trace(" last"); }
