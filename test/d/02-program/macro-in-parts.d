erlang$pid:mod$1x:$2:$3
{
}
