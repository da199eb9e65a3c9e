BEGIN
{
	trace(curthread->pid);
}
