"""Replay: look at recorded games again, and prove them."""
