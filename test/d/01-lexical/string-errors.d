BEGIN { trace("open
); }
BEGIN { trace("open \
more"); }
BEGIN { trace("a" "b"); }
