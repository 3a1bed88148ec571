"""Smolagents: an agent that calls tools, whole and streamed."""

from smolagents import OpenAIModel, ToolCallingAgent, tool
from told import ANSWER, HELLO, KEY, MODEL, QUESTION, URL, tell

model = OpenAIModel(model_id=MODEL, api_base=f"{URL}/v1", api_key=KEY)


@tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Its name.
    """
    assert city == "Oslo"
    return ANSWER


def say(content):
    return [{"role": "user", "content": [{"type": "text", "text": content}]}]


def whole():
    return model.generate(say(HELLO)).content


def stream():
    return "".join(delta.content or "" for delta in model.generate_stream(say(HELLO)))


def run(streams):
    return str(ToolCallingAgent(tools=[weather], model=model, stream_outputs=streams, verbosity_level=0).run(QUESTION))


tell({"whole": whole, "stream": stream, "tools": lambda: run(False), "streamedTools": lambda: run(True)})
