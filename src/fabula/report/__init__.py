"""What people look at: curves and bars in the terminal, figures, tables, pages."""
