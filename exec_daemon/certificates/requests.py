"""A key and the request for its certificate, made where the key stays (RFC 2986)."""

from __future__ import annotations

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from exec_daemon.certificates.signing import key_of
from exec_daemon.tls import private_pem


def new_request() -> tuple[bytes, str]:
    """A private key and its request, as PEM. The request names nobody: that is for the authority to say."""
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    return private_pem(key), request.public_bytes(serialization.Encoding.PEM).decode()


def read_request(pem: str) -> x509.CertificateSigningRequest:
    """Raises ValueError, also for one that does not prove its key, or whose key is weak."""
    request = x509.load_pem_x509_csr(pem.encode())
    key_of(request)
    return request
