fbt:vmlinux::entry
{
	trace(1);
}
