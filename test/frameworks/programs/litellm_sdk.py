"""LiteLLM by the name of each of its providers."""

import json

import litellm
from told import ANSWER, CLASS, HELLO, KEY, MODEL, QUESTION, SCHEMA, URL, VECTORS, WEATHER, tell

# Its provider of Gemini wants the version in the address, and the others what their SDKs want.
BASES = {"openai": f"{URL}/v1", "anthropic": URL, "gemini": f"{URL}/v1beta"}
ASKED = {"model": f"{CLASS}/{MODEL}", "api_base": BASES[CLASS], "api_key": KEY}
TOOL = {"type": "function", "function": {"name": "weather", "description": WEATHER, "parameters": SCHEMA}}


def say(content):
    return [{"role": "user", "content": content}]


def whole():
    return litellm.completion(**ASKED, messages=say(HELLO)).choices[0].message.content


def stream():
    chunks = litellm.completion(**ASKED, messages=say(HELLO), stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def talk(ask):
    messages = say(QUESTION)
    while True:
        message = ask(**ASKED, messages=messages, tools=[TOOL]).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            assert json.loads(call.function.arguments) == {"city": "Oslo"}
            messages.append({"role": "tool", "tool_call_id": call.id, "content": ANSWER})


def tools():
    return talk(litellm.completion)


def streamed_tools():
    return talk(
        lambda messages, **asked: litellm.stream_chunk_builder(
            list(litellm.completion(**asked, messages=messages, stream=True)), messages=messages
        )
    )


def structured():
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
        "required": ["city", "degrees"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema, "strict": True}}
    message = litellm.completion(**ASKED, messages=say(QUESTION), response_format=form).choices[0].message
    return json.loads(message.content)


def vectors():
    return len(litellm.embedding(**{**ASKED, "model": f"{CLASS}/{VECTORS}"}, input=["one", "two"]).data)


tell(
    {
        "whole": whole,
        "stream": stream,
        "tools": tools,
        "streamedTools": streamed_tools,
        "structured": structured,
        "vectors": vectors,
    }
)
