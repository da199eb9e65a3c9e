struct later;
translator int < int i > { v = i; };
translator struct later < int i > { v = i; };
BEGIN { exit(0); }
