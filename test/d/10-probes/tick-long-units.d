tick-1s, tick-1sec, tick-1m, tick-1min, tick-1h, tick-1hour, tick-1d, tick-1day
{
}
