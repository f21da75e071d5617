"""The shop: its values, documents and rules, what is asked of an ERP, and the embedded one."""
