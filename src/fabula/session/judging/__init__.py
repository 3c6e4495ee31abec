"""What orders are proposed, and how likely each is by the model that proposes them."""
