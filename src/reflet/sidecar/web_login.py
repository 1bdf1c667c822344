"""User and password for REQ_URL and for downloads, read again for each request."""

from __future__ import annotations

from pathlib import Path

from reflet.errors import ConfigurationError
from reflet.sidecar.log_lines import logger
from reflet.sidecar.sidecar_settings import SidecarSettings


def web_login(settings: SidecarSettings) -> tuple[bytes, bytes] | None:
    """Who we are; None without both parts.  A file wins over its plain variable if it is there."""
    try:
        return checked_login(settings)
    except ConfigurationError as error:
        logger.error("%s", error)
        return None


def checked_login(settings: SidecarSettings) -> tuple[bytes, bytes] | None:
    """The same; ConfigurationError when REQ_BASIC_AUTH_ENCODING cannot write it."""
    user = _read(settings.req_username_file, settings.req_username)
    password = _read(settings.req_password_file, settings.req_password)
    if not user or not password:
        return None
    encoding = settings.req_basic_auth_encoding
    try:
        return user.encode(encoding), password.encode(encoding)
    except (UnicodeError, LookupError):
        # The cause would show the password.
        raise ConfigurationError(
            f"REQ_BASIC_AUTH_ENCODING: {encoding} cannot write user and password: try utf-8"
        ) from None


def _read(path: str, otherwise: str) -> str:
    if not path:
        return otherwise
    try:
        return Path(path).read_text().strip()
    except FileNotFoundError:
        logger.warning("File not found at: %s", path)
    except PermissionError:
        logger.error("No read permission for file: %s", path)
    except (OSError, UnicodeDecodeError) as error:
        logger.error("An unexpected error occurred: %s: %s", path, type(error).__name__)
    return otherwise
