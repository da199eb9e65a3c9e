BEGIN { x = $nosuch; }
BEGIN { x = 08; }
BEGIN { x = 1.5; }
BEGIN { x = 99999999999999999999; }
BEGIN { x = ''; }
BEGIN { x = "a
"; }
BEGIN { x = 'abcdefghi'; }
BEGIN { x = # 1; }
BEGIN { x = /* open /* 1; */ }
BEGIN { trace(ending); }
