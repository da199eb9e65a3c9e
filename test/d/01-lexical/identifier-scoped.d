/* With a backquote a name may begin with a digit: it is one name, of a symbol in a module. */
BEGIN { trace(9p`x); }
BEGIN { trace(`x); }
BEGIN { trace(a`b + 1); }
