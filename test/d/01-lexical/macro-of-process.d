/* Each is an int constant; with two $ it is the same number as text. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", $$pid == lltostr($pid), $$ppid == lltostr($ppid), $$pgid == lltostr($pgid));
	printf("%d %d %d\n", $$sid == lltostr($sid), $$uid == lltostr($uid), $$euid == lltostr($euid));
	printf("%d %d %d\n", $$gid == lltostr($gid), $$egid == lltostr($egid), $$target == lltostr($target));
	printf("%d %d %d %d\n", sizeof ($pid), 1, $pgid >= 0, $sid >= 0);
	printf("%d %d %d\n", $uid == $euid, $gid == $egid, $target);
	exit(0);
}
