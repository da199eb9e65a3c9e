/* a probe of OTP's own provider that we do not have: its name is known, and why it is not there */
erlang*:::message-receive,
erlang*:::driver-init,
erlang*:::aio_pool-add
{
	trace(copyinstr(arg0));
}
