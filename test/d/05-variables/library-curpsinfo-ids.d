/* In the local tier the traced process is erltrace itself, which the macros speak of. */
#pragma D option quiet

BEGIN
/pid == $pid && curpsinfo->pr_pgid == $pgid && curpsinfo->pr_sid == $sid && curpsinfo->pr_euid == $euid &&
 curpsinfo->pr_egid == $egid/
{
	printf("right\n");
}

BEGIN
/$pid != pid/
{
	/* inside a node: whatever they are, they are ids; 0 is a group or session whose leader this PID namespace does not show */
	printf("%s\n", curpsinfo->pr_pgid >= 0 && curpsinfo->pr_sid >= 0 ? "right" : "wrong");
}

BEGIN { exit(0); }
