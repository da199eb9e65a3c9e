/* NULL is no key: no string has it. */
BEGIN { a["k"] = 1; trace(a[NULL]); }
BEGIN { a[0]++; }
BEGIN { @b["k"] = count(); @b[NULL] = count(); }
