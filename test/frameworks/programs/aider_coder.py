"""Aider by its scripting interface: what it is told comes back as text, with and without a stream."""

import os

from told import HELLO, KEY, MODEL, URL, tell

os.environ.update(OPENAI_API_BASE=f"{URL}/v1", OPENAI_API_KEY=KEY, AIDER_ANALYTICS="false")

from aider.coders import Coder
from aider.io import InputOutput
from aider.models import Model


def run(streams):
    io = InputOutput(yes=True, pretty=False, fancy_input=False)
    model = Model(f"openai/{MODEL}")
    coder = Coder.create(main_model=model, edit_format="ask", io=io, fnames=[], use_git=False, stream=streams)
    return coder.run(HELLO).strip()


tell({"whole": lambda: run(False), "stream": lambda: run(True)})
