BEGIN { trace(one); }
BEGIN { trace(two); }
