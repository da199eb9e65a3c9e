BEGIN
{
	x = ext4`ext4_count + 1;
}
