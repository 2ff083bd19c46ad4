"""The server: a node that takes commands, follows the log, and shows each viewer its tables."""
