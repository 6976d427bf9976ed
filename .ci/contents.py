"""What the wheel and the sdist hold, against the working tree."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path


def shipped(path: str) -> set[str]:
    """Files of an archive; those of an sdist without its leading folder."""
    if path.endswith(".whl"):
        return {name for name in zipfile.ZipFile(path).namelist() if not name.endswith("/")}
    with tarfile.open(path) as archive:
        return {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}


def complaints(path: str, tracked: set[str]) -> list[str]:
    """Files that are missing, and files that have no business there."""
    held = shipped(path)
    package = {name for name in tracked if name.startswith("energystats/")}
    beside = {name for name in tracked if name and "/" not in name and not name.startswith(".")} | {
        "conda/recipe/meta.yaml"
    }
    wanted = package if path.endswith(".whl") else package | beside
    assert "energystats/py.typed" in package
    assert any(name.endswith(".csv") for name in package)
    found = [f"{name} is missing" for name in sorted(wanted - held)]
    for name in sorted(held):
        if path.endswith(".whl") and not name.startswith("energystats/") and ".dist-info/" not in name:
            found.append(f"{name} does not belong into a wheel")
        if "__pycache__" in name or name.endswith((".pyc", ".nbi", ".nbc")):
            found.append(f"{name} is a cache")
    return found


if __name__ == "__main__":
    tracked = set(subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n"))
    bad = [f"{Path(path).name}: {text}" for path in sys.argv[1:] for text in complaints(path, tracked)]
    print("\n".join(bad) or f"contents of {len(sys.argv) - 1} archives are right")
    sys.exit(bool(bad))
