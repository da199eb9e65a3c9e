/* How long calls of lists' functions take, in microseconds of the process's own time. */
erlang*:lists::function-entry
{
    self->called[copyinstr(arg1)] = vtimestamp;
}
erlang*:lists::function-return
/self->called[copyinstr(arg1)]/
{
    @time[copyinstr(arg1)] = lquantize((vtimestamp - self->called[copyinstr(arg1)]) / 1000, 0, 63, 4);
    self->called[copyinstr(arg1)] = 0;
}
