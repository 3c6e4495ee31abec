"""Training an essence by contrast: nets in PyTorch, batches of one length, loss, loop, and what comes out of it."""

from fabula.errors import import_extra

import_extra("torch", extra="train", purpose="training")
