ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp:::
{
}
