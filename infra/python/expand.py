"""Writes a template as CloudFormation gets it after SAM's transform, without asking AWS anything.

    expand.py TEMPLATE OUT

Says how large both are, and fails where a stack has more than CloudFormation's 500 resources. A local zip has no place
in an expanded template: as after packaging, a bucket and key stand for it.
"""

import json
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

from samtranslator.translator.transform import transform  # noqa: E402 (it wants the region)
from samtranslator.yaml_helper import yaml_parse  # noqa: E402


# The quota of CloudFormation, which cannot be raised.
MAX_RESOURCES = 500


class ManagedPolicies:
    """No function names a managed policy."""

    def load(self) -> dict[str, str]:
        return {}


def expanded(template: dict) -> dict:
    if "Transform" not in template:
        return template
    template.get("Globals", {}).get("Function", {})["CodeUri"] = "s3://packaged/bootstrap.zip"
    return transform(template, {}, ManagedPolicies())


def main(source: str, out: str) -> int:
    with open(source, encoding="utf-8") as file:
        text = file.read()
    template = expanded(yaml_parse(text))
    written = json.dumps(template)
    with open(out, "w", encoding="utf-8") as file:
        file.write(written)
    count = len(template["Resources"])
    sizes = f"{len(text.encode())} bytes, expanded {len(written.encode())}"
    print(f"{source}: {count} resources of at most {MAX_RESOURCES}, {sizes}")
    if count > MAX_RESOURCES:
        print(f"{source}: its tables and streams need a stack of their own", file=sys.stderr)
    return 1 if count > MAX_RESOURCES else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
