"""The example shop: goods and parties from the packaged tables, trade from a fixed seed."""
