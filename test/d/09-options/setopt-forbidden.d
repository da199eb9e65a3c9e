/* Only the options of language.md 9.3 can change while the trace runs; the action is the first of its
 * clause. */
#pragma D option quiet
BEGIN { setopt("bufsize", "1m"); }
BEGIN { setopt("bufpolicy", "ring"); }
BEGIN { setopt("strsize", "10"); }
BEGIN { setopt("cpu", "0"); }
BEGIN { setopt("nonsense"); }
BEGIN { setopt("quiet", "maybe"); exit(0); }
