"""What is asked of an ERP, by desk: the verbs as protocols, with the values they take and give."""
