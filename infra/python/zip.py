"""Packs one file as the `bootstrap` of a Lambda function: zip.py PROGRAM ZIP. The same program makes the same bytes."""

import sys
import zipfile

program, packed = sys.argv[1:]
entry = zipfile.ZipInfo("bootstrap", date_time=(1980, 1, 1, 0, 0, 0))
entry.external_attr = 0o755 << 16
entry.compress_type = zipfile.ZIP_DEFLATED
with zipfile.ZipFile(packed, "w", compresslevel=9) as file, open(program, "rb") as read:
    file.writestr(entry, read.read(), compresslevel=9)
