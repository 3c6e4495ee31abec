"""The medium keeps what fabula relies on."""

import subprocess

from fabula_video import MEDIUM

import fabula.media


def test_conformance(tmp_path):
    """All that fabula asks of a medium is tried with a clip."""
    clip = tmp_path / "bars.mp4"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=d=1:s=64x48", str(clip)], check=True)
    fabula.media.check(MEDIUM, clip)
