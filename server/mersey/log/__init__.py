"""The record: commits and their chain, the log (JetStream or memory), the SQLite archive."""
