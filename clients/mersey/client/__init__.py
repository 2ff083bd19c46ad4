"""The client side: what a player's program, a bot or a person at a terminal needs."""
