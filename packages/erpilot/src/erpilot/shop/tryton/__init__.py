"""A Tryton server as an ``ErpBackend``, over its JSON-RPC."""
