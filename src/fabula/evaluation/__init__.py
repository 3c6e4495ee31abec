"""How well orderings and models do: metrics, information about the order, and the controls that must come out zero."""
