"""The web page: the API for a person with a browser. It shows what the API answers, and sends what it takes.

sessions   who is signed in, and one-time links
pages      the table of pages, and how each is answered
views/     one file a page: what it shows, asked from the API's own endpoints
rendering  templates, headers and the words for times and sizes
marking    a reply in pieces, with its directives marked
forms      fields for an op's arguments, from its schema
plot       usage over days as SVG
"""
