"""The search for a good arrangement of many items, and the bound that tells how good it is."""
