#!/usr/bin/env erltrace
BEGIN
{
	trace(nosuch);
}
