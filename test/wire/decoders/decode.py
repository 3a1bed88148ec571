"""Tells what Python's own decoder takes of bodies, as a server written in Python would read them. A line has the paths
to look at, with blanks between them, a tab, and the body."""
import json
import sys


def value_at(body, path):
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


for line in sys.stdin:
    names, _, body = line.partition("\t")
    read = json.loads(body)
    print(json.dumps([value_at(read, path) for path in names.split()]))
