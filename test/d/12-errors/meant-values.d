BEGIN /timestamp - arg0 > 1ms/ { }
BEGIN /arg0 > 15us/ { }
BEGIN { x = 1.5; }
BEGIN { trace(1); % comment
}
% comment
BEGIN { case x of 1 -> 2 end; }
BEGIN { m = #{a => 1}; }
BEGIN /arg0 == <0.87.0>/ { }
BEGIN /self() == 1/ { }
