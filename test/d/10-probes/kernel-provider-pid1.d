pid1:libc:malloc:entry
{
	trace(1);
}
