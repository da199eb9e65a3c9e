BEGIN { trace(0b11); }
BEGIN { trace(0x); }
BEGIN { trace(12abc); }
