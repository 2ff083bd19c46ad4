"""Drills: a real server is killed again and again while bots play, and then held to what it told them."""
