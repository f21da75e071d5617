"""A shop in one SQLite file: the backend that needs no server (``shop.EmbeddedShop``)."""
