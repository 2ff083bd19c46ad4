"""One table, pure: what can be asked of it, what happened at it, and what each viewer may see."""
