struct s { int if; };
