"""The part of the daemon's client that gives and takes client certificates: `box cert`."""

from __future__ import annotations

from typing import Any

from harvester.client.wire import Request, Wire, given, segment


class Certificates:
    """Documents as the API gives them (docs/api.md); each method raises `ClientError`."""

    _wire: Wire

    def certificates(self) -> list[dict[str, Any]]:
        """All that were issued, the oldest first."""
        return list(self._wire.get("/certificates").get("certificates", ()))

    def issue_certificate(
        self, identity: str, csr: str, ttl_s: int | None = None, *, renews: str | None = None
    ) -> dict[str, Any]:
        """A certificate for the key of the request `csr` (PEM); the key itself stays where it is.

        `renews` is the serial number of the one that it stands in for, for the audit.
        """
        further = {"ttl_s": ttl_s, "renews": renews}
        body = {"identity": identity, "csr": csr} | given(further)
        return self._wire.post("/certificates", body)

    def revoke_certificate(self, serial: str) -> dict[str, Any]:
        """Revoking twice is revoking once."""
        path = f"/certificates/{segment(serial)}"
        return self._wire.want(Request(method="DELETE", path=path, repeatable=True)).body
