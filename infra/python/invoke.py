"""Invokes a function and waits for what it says: invoke.py FUNCTION EVENT. Fails if the function does."""

import sys

import botocore.session
from botocore.config import Config

function, event = sys.argv[1:]
config = Config(read_timeout=120, retries={"total_max_attempts": 1})
client = botocore.session.get_session().create_client("lambda", config=config)
with open(event, "rb") as payload:
    answer = client.invoke(FunctionName=function, Payload=payload.read())
said = answer["Payload"].read().decode()
if "FunctionError" in answer:
    sys.exit(f"{function} failed: {said}")
print(said)
