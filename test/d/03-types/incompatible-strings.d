string s;
BEGIN { s = 5; }
BEGIN { s = arg0; }
BEGIN { s = 'ab'; }
BEGIN { x = 1; x = s; }
BEGIN { s = (int *)0; }
BEGIN { pidtext = "x"; pidtext = pid; }
