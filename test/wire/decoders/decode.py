"""Tells what Python's own decoder takes of bodies, one a line, as a server written in Python would read them."""
import json
import sys

NAMES = ("max_tokens", "max_completion_tokens", "n_predict")

for line in sys.stdin:
    body = json.loads(line)
    print(json.dumps([body.get("model", ""), *(body.get(name, 0) for name in NAMES)], ensure_ascii=False))
