#pragma D depends_on module vmlinux
this is not even D
