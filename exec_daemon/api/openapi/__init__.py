"""The API described for programs: `document()` is what `GET /openapi.json` answers (OpenAPI 3.1).

`operations` is the table of what each endpoint takes and gives, `schemas` has the shapes, taken from the same
models that the endpoints use, and `document` puts both together with the table of endpoints.
"""
