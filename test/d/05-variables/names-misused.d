/* erlname is a variable, and a function of a string or a term */
BEGIN { trace(erlname(1)); }
BEGIN { trace(erlname()); }
BEGIN { trace(erlname("a", "b")); }
BEGIN { erlname = "a"; }
BEGIN { trace(erlpid("a")); }
