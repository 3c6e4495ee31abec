"""What is told of an order: rows, reasons, threads and inner arcs."""
