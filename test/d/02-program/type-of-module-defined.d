struct ext4`inode { int x; } p;
BEGIN
{
}
