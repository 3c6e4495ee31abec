"""Training step models: a lexicon by ridge regression, then the weights under which true orders are likeliest."""
