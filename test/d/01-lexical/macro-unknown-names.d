BEGIN { trace($projid); }
BEGIN { trace($taskid); }
BEGIN { trace($pid2); }
BEGIN { trace($$nosuch); }
BEGIN { trace($ pid); }
