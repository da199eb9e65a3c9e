BEGIN { @a = count(); @a[1] = count(); }
BEGIN { @b[1] = count(); @b = count(); }
