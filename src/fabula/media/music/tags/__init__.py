"""Tags: what files say of themselves, covers and sheets beside them, and what is written into copies."""
