"""The endpoints of the API, one file a subject. `exec_daemon.api.app` holds the table of them."""
