"""The resources, one subject a module."""
