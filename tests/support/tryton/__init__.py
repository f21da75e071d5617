"""A real Tryton server on a real PostgreSQL, made and filled by the tests themselves."""
