/* Each of these can. */
#pragma D option quiet
BEGIN { setopt("flowindent", "no"); setopt("switchrate", "10hz"); setopt("aggrate", "10hz"); setopt("aggsortkey", "no"); }
BEGIN { setopt("aggsortkeypos", "0"); setopt("aggsortpos", "0"); setopt("aggsortrev", "no"); setopt("stackindent", "8"); }
BEGIN { setopt("rawbytes", "no"); setopt("quietresize"); setopt("printsize", "100"); setopt("agghist", "no"); setopt("aggpack", "no"); setopt("aggzoom", "no"); }
BEGIN { trace("done"); exit(0); }
