"""Anthropic's SDK: messages, its runner of tools, and its threads."""

import pydantic
from anthropic import Anthropic, BadRequestError, beta_tool
from told import ANSWER, HELLO, KEY, MODEL, QUESTION, URL, tell

client = Anthropic(base_url=URL, api_key=KEY)
ASKED = {"model": MODEL, "max_tokens": 1_000}


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


@beta_tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Its name.
    """
    assert city == "Oslo"
    return ANSWER


def say(content):
    return [{"role": "user", "content": content}]


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def whole():
    return text_of(client.messages.create(**ASKED, messages=say(HELLO)))


def stream():
    with client.messages.stream(**ASKED, messages=say(HELLO)) as stream:
        return "".join(stream.text_stream)


def structured():
    message = client.messages.parse(**ASKED, messages=say(QUESTION), output_format=Weather)
    return message.parsed_output.model_dump()


def tools():
    runner = client.beta.messages.tool_runner(**ASKED, messages=say(QUESTION), tools=[weather])
    return text_of(runner.until_done())


def streamed_tools():
    runner = client.beta.messages.tool_runner(**ASKED, messages=say(QUESTION), tools=[weather], stream=True)
    for stream in runner:
        message = stream.get_final_message()
    return text_of(message)


def thread_of(**more):
    return client.beta.messages.thread(**ASKED, tools=[weather], **more)


def thread():
    """A thread that goes on by itself where the server keeps none."""
    kept = thread_of(unsupported_request_behavior="continue_unthreaded")
    kept.append(*say(QUESTION))
    return text_of(kept.tool_runner().until_done())


def refused_thread():
    """One that is to end where the server keeps none."""
    try:
        thread_of().send(*say(QUESTION))
    except BadRequestError as error:
        return error.body["error"]["details"]["error_code"]


tell(
    {
        "whole": whole,
        "stream": stream,
        "tools": tools,
        "streamedTools": streamed_tools,
        "structured": structured,
        "thread": thread,
        "refusedThread": refused_thread,
    }
)
