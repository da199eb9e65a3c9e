/* %T takes a term or a time, and what compares terms is for the compiler alone */
BEGIN { printf("%@T", atom("a")); }
BEGIN { printf("%T", "text"); }
BEGIN { printf("%T %T", walltimestamp, atom("a")); }
BEGIN { printf("%lT", atom("a")); }
BEGIN { trace(term_is(NULL, NULL)); }
BEGIN { trace(term_float(NULL, "1")); }
BEGIN { trace(atom("\xff")); }
