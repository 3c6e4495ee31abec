"""The page, figures and tables of a reproduction."""
