"""A request for a certificate and a certificate, as fields of objects hold them.

Both are for ``nobody``, who has no key any more; nobody trusts the certificate.
"""

from __future__ import annotations

import base64
from typing import Final

REQUEST_PEM: Final = """\
-----BEGIN CERTIFICATE REQUEST-----
MIHLMHMCAQAwETEPMA0GA1UEAwwGbm9ib2R5MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAE3Vhgm4d5UCvrKaRtc3Dx25sq47Pro6YIc4XoPKnhYNwDLUw/Xn8KCwCr
uCj0XFub1+fg9+XR7tXuQuj5DqOY96AAMAoGCCqGSM49BAMCA0gAMEUCIQC3sRq2
cFSPevr5cp8k2+pui9hgge98ZxLaEDXAFu1bSAIgQMOdXz65KCKlJ46Sdps91F9g
2CgsyRolJ7DmOxXiuIk=
-----END CERTIFICATE REQUEST-----
"""
CERTIFICATE_PEM: Final = """\
-----BEGIN CERTIFICATE-----
MIIBEDCBt6ADAgECAgEBMAoGCCqGSM49BAMCMBExDzANBgNVBAMMBm5vYm9keTAg
Fw0yMDAxMDEwMDAwMDBaGA8yMTE5MTIwODAwMDAwMFowETEPMA0GA1UEAwwGbm9i
b2R5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3Vhgm4d5UCvrKaRtc3Dx25sq
47Pro6YIc4XoPKnhYNwDLUw/Xn8KCwCruCj0XFub1+fg9+XR7tXuQuj5DqOY9zAK
BggqhkjOPQQDAgNIADBFAiEAukmvnNUK3X9XXJ7vkSRooQwu43a/PterfWAhma8a
/1ACICQxnMRRHJ8/3VNUiVLRdgqQiZgs6+MGoA96taJ+HUt4
-----END CERTIFICATE-----
"""


def as_bytes(text: str) -> str:
    """Write a text as a field of bytes in JSON."""
    return base64.b64encode(text.encode()).decode()


REQUEST: Final = as_bytes(REQUEST_PEM)
CERTIFICATE: Final = as_bytes(CERTIFICATE_PEM)
