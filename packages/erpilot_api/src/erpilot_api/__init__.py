"""The HTTP entrance: sessions, events, approvals and the page, for every program."""
