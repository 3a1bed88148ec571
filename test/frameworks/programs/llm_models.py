"""LLM, as a library over a model of its `extra-openai-models.yaml`."""

import llm
from told import ANSWER, HELLO, MODEL, QUESTION, tell

model = llm.get_model(MODEL)


def weather(city: str) -> str:
    """The weather of a city."""
    assert city == "Oslo"
    return ANSWER


def whole():
    return model.prompt(HELLO, stream=False).text()


def stream():
    return "".join(model.prompt(HELLO))


def tools():
    return model.chain(QUESTION, tools=[weather], stream=False).text()


def streamed_tools():
    return "".join(model.chain(QUESTION, tools=[weather]))


tell({"whole": whole, "stream": stream, "tools": tools, "streamedTools": streamed_tools})
