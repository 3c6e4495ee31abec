"""Training of set models: nets, data of collections of one length, the loss over tables, the loop, its controls."""
