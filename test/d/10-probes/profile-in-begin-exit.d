/* After exit() in BEGIN nothing fires but END. */
#pragma D option quiet
BEGIN { exit(0); }
profile-5000hz { trace("not reached"); }
tick-5000hz { trace("not reached"); }
END { trace("end"); }
