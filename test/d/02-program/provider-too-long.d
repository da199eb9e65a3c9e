pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp:::
{
}
