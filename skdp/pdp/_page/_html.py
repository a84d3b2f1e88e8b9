"""One file of HTML: the page of a report, with everything it needs inside."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

__all__ = ["page_html"]

#: What JSON may hold but HTML would read, and all that is not ASCII.
_SPECIAL = re.compile(r"[<>&]|[^\x00-\x7f]")
#: In the order in which they run.
_SCRIPTS = ("artefact.js", "bound.js", "words.js", "fields.js", "lookup.js")


def page_html(report: str, page: Mapping[str, Any]) -> str:
    """Return the page, which holds its style, its script and its numbers.

    Parameters
    ----------
    report : str
        The published report as JSON.
    page : mapping
        Questions and public constants that go with it.

    Returns
    -------
    str
        HTML, to be written in UTF-8. Its policy allows one style and one script, by
        their hashes, and no connection of any kind.
    """
    style = _source("lookup.css")
    script = "\n".join(['"use strict";', *map(_source, _SCRIPTS)])
    embedded = _in_script(report)
    # the page recognises its report: constants of one are wrong for another
    known = {**page, "checksum": zlib.adler32(embedded.encode("ascii"))}
    slots = {
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "report": embedded,
        "page": _in_script(json.dumps(known, allow_nan=False)),
    }
    return _fill(_source("lookup.html"), slots)


def _fill(template: str, slots: Mapping[str, str]) -> str:
    """Fill each slot once; what goes in is not searched for slots again."""
    out = []
    for chunk in template.split("{{")[1:]:
        name, _, text = chunk.partition("}}")
        out += [slots[name], text]
    return template.partition("{{")[0] + "".join(out)


def _policy(style: str, script: str) -> str:
    """Return a policy under which nothing is loaded, sent, or added to the page."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _in_script(text: str) -> str:
    """Return JSON in ASCII that cannot end the element it stands in."""
    return _SPECIAL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    # JSON's own escape of a sign beyond ASCII, which may take two of them
    return f"\\u{ord(sign):04x}" if sign.isascii() else json.dumps(sign)[1:-1]


def _source(name: str) -> str:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")
