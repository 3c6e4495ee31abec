"""Step models: arcs over plain measures and flow over a medium's own steps, with linear weights."""
