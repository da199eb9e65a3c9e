auto int x;
static int y;
