"""Set models without torch: an encoder that sees the whole collection and never its order, with arcs and flow."""
