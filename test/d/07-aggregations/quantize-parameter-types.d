BEGIN { @a = lquantize(1, "a", 2); }
BEGIN { @b = lquantize(1, 1, "b"); }
BEGIN { @c = lquantize(1, 1, 10, "c"); }
BEGIN { @d = llquantize(1, "d", 0, 1, 10); }
BEGIN { @e = llquantize(1, 10, 0, 1, "e"); }
BEGIN { @f = llquantize(1, arg0, 0, 1, 10); }
