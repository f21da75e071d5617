"""What models may call, by subject."""
