BEGIN, tick-1s { x = 1; }
