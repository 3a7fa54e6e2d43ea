"""Published experiments, one module per machine. Each has EXPERIMENTS: name -> (help, function returning rows)."""
