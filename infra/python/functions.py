"""The functions of a deployment whose names begin as told, with when each was last changed, as JSON."""

import json
import sys

import botocore.session

client = botocore.session.get_session().create_client("lambda")
pages = client.get_paginator("list_functions").paginate()
functions = (function for page in pages for function in page["Functions"])
changed = {f["FunctionName"]: f["LastModified"] for f in functions if f["FunctionName"].startswith(sys.argv[1])}
print(json.dumps(changed))
