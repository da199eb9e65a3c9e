/* quiet=no after quiet: not quiet. */
#pragma D option quiet
#pragma D option quiet=unset
BEGIN { trace(1); exit(0); }
