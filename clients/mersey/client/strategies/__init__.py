"""Strategies: how a bot plays a seat, from nothing but what that seat sees."""
