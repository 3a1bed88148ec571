"""What every program of Python asks and prints."""

import asyncio
import inspect
import json
import os

URL = os.environ["GATEWAY_URL"]
KEY = os.environ["GATEWAY_KEY"]
MODEL = os.environ["MODEL"]
VECTORS = os.environ["VECTORS"]
CLASS = os.environ["CLASS"]
HELLO = "Say hello."
QUESTION = "How is the weather in Oslo?"
WEATHER = "The weather of a city."
ANSWER = "sunny-21"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def tell(parts):
    """Prints what each part in `DOES` gives, as one line of JSON. Clients keep connections: all share one loop."""
    told = {}
    with asyncio.Runner() as runner:
        for name in os.environ["DOES"].split(","):
            part = parts[name]()
            told[name] = runner.run(part) if inspect.iscoroutine(part) else part
    # What a client wrote may end without a line of its own.
    print(f"\n{json.dumps(told)}")
