struct ext4`inode *p;
BEGIN
{
}
