BEGIN /probemod == "MyApp.Foo" && "Enum" != probemod/ { exit(1); }
BEGIN /epid == 0 && copyinstr(arg1) == "MyApp.Foo.bar/1"/ { }
BEGIN /stringof(probefunc) == "MyApp.Foo" || probemod == "Elixir.Enum" || probemod == "lists" || probemod == "" || probename == "BEGIN"/
{
    exit(0);
}
