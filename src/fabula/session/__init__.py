"""One function per use case: it takes what the command line or the page gives, returns dataclasses, never prints."""
