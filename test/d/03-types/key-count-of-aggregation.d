BEGIN { @g[1] = count(); @g[1, 2] = count(); }
BEGIN { @h[1, 2] = count(); @h[1] = count(); }
BEGIN { printa(@g); @g["k"] = count(); }
