/* The clause of a description with an unknown macro is looked at: what it assigns is known below. */
tick-$1 { @a = count(); x = 1; trace(nosuch); }
tick-$xyz { exit(0); }
END { printa(@a); trace(x); }
