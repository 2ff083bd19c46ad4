"""Protobuf by hand, where one made message goes to many: fields are joined as bytes, not built again."""

from __future__ import annotations

from collections.abc import Sequence


def delimited(payload: bytes) -> bytes:
    r"""Return ``payload`` after its length: what follows the tag of a field that holds a message.

    >>> delimited(bytes(300))[:3]
    b'\xac\x02\x00'
    """
    length, prefix = len(payload), bytearray()
    while length > 0x7F:
        prefix.append(length & 0x7F | 0x80)
        length >>= 7
    prefix.append(length)
    return bytes(prefix) + payload


def repeated(number: int, bodies: Sequence[bytes]) -> bytes:
    """Return a repeated message field of ``number`` (1 to 15) whose values are ``bodies``, delimited."""
    tag = bytes([number << 3 | 2])
    return tag + tag.join(bodies) if bodies else b""
