"""Packs the desktop bundle: ``python packaging/bundle.py FILE.mcpb``.

A bundle is an archive with a manifest; this one holds the package as a wheel, the libraries' pins, and a script that starts the server.
The client's uv installs what is pinned when the bundle is started first.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "packaging" / "mcpb"


def pack(target: Path) -> Path:
    """The bundle, written to ``target``."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
        files = [*SOURCE.iterdir(), *Path(folder).glob("rl_advisor-*.whl")]
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(f for f in files if f.is_file()):
                archive.write(path, path.name)
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{pack(Path(sys.argv[1]))}\n")
