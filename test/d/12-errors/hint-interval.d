tick-1ns { }
tick-0 { }
profile-1week { }
