"""What each page shows: values for its template, asked from the API's own endpoints and ops."""
