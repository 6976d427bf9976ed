"""Whether a tag, the changelog and CITATION.cff agree on a version and its date: `python .ci/release.py v1.2.3`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def versions(changelog: str, citation: str) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    """Version and date of the newest part of the changelog, and those of the citation; no date before a release."""
    head = re.search(r"^## (\S+), (\d{4}-\d\d-\d\d|not yet released)$", changelog, re.MULTILINE)
    version = re.search(r"^version: \"?([^\s\"]+)\"?$", citation, re.MULTILINE)
    date = re.search(r"^date-released: \"?([\d-]+)\"?$", citation, re.MULTILINE)
    if head is None or version is None:
        raise ValueError("CHANGELOG.md wants a heading '## VERSION, DATE', and CITATION.cff a version")
    day = None if head[2].startswith("not") else head[2]
    return (head[1], day), (version[1], date and date[1])


def complaints(tag: str, changelog: str, citation: str) -> list[str]:
    """What keeps the tag from being published."""
    (version, day), cited = versions(changelog, citation)
    found = []
    if cited != (version, day):
        found.append(f"CITATION.cff has {cited[0]} of {cited[1]}, CHANGELOG.md {version} of {day}")
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, the newest version in CHANGELOG.md {version}")
    if day is None:
        found.append(f"CHANGELOG.md says that {version} is not yet released")
    return found


if __name__ == "__main__":
    bad = complaints(
        sys.argv[1],
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        (ROOT / "CITATION.cff").read_text(encoding="utf-8"),
    )
    print("\n".join(bad) or f"{sys.argv[1]} may be published")
    sys.exit(bool(bad))
