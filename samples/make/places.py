"""Compresses the lines of places on standard input to ../places/places.tsv.gz. README.md says where they come from."""

import pathlib
import sys

import zopfli.gzip

target = pathlib.Path(__file__).parent.parent / "places" / "places.tsv.gz"
target.write_bytes(zopfli.gzip.compress(sys.stdin.buffer.read()))
print(f"{target.name}: {target.stat().st_size} bytes")
