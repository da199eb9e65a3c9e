BEGIN { copyin(0, 257); }
BEGIN { copyin(0, 256); }
