"""The gRPC services: messages in, commands and views between, messages out."""
