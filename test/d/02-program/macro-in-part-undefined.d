erlang$nosuch:::
{
}
