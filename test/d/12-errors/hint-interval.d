tick-1ns { }
tick-0 { }
profile-1week { }
profile:::97hz { }
