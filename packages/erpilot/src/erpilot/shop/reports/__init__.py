"""Reports to look at: spans of time by their names, figures compared, charts as data."""
