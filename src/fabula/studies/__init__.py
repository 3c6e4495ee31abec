"""Studies: train, audit, compare, evaluate, reproduce; one function per use case, each returning a dataclass."""
