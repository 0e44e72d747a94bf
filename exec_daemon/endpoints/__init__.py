"""The endpoints of the API, one file a subject. `exec_daemon.app` holds the table of them."""
