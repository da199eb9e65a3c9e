BEGIN { trace($1); }
BEGIN { trace($2); }
BEGIN { trace($3); }
