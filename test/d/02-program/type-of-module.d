BEGIN
{
	x = ((struct ext4`inode *)0)->i_ino;
}
