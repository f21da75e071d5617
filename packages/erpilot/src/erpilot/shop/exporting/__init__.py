"""Tables as files that a spreadsheet opens: CSV and XLSX."""
