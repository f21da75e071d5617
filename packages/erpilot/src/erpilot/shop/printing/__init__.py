"""Documents as pages to print and send: HTML, and PDF with the extra ``pdf``."""
