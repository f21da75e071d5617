"""Spreadsheets of a shop as people keep them, brought into its ERP: read, understood, tried, applied as one change."""
