/* Words for yes and no; the last one holds. */
#pragma D option quiet=no
#pragma D option quiet=disable
#pragma D option quiet=disabled
#pragma D option quiet=false
#pragma D option quiet=off
#pragma D option quiet=unset
#pragma D option quiet=
#pragma D option quiet=enable
#pragma D option quiet=enabled
#pragma D option quiet=true
#pragma D option quiet=on
#pragma D option quiet=set
#pragma D option quiet=yes
BEGIN { trace("quiet"); exit(0); }
