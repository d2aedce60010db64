"""A memory provider for Hermes Agent."""
