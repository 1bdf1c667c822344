"""What commands print: tables, documents and reports, with secrets masked."""
