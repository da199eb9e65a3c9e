BEGIN {	trace(	nosuch); }
