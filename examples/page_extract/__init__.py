"""Takes the text out of a web page: a small tool on `messaging`, to be read and to be copied."""
