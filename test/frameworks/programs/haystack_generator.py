"""Haystack: its generator of chats, and its agent."""

from haystack.components.agents import Agent
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret
from told import ANSWER, HELLO, KEY, MODEL, QUESTION, URL, VECTORS, tell

SERVED = {"api_key": Secret.from_token(KEY), "api_base_url": f"{URL}/v1"}


def weather(city: str) -> str:
    """The weather of a city."""
    assert city == "Oslo"
    return ANSWER


def whole():
    generator = OpenAIChatGenerator(model=MODEL, **SERVED)
    return generator.run([ChatMessage.from_user(HELLO)])["replies"][0].text


def stream():
    told = []
    generator = OpenAIChatGenerator(model=MODEL, **SERVED, streaming_callback=lambda chunk: told.append(chunk.content))
    generator.run([ChatMessage.from_user(HELLO)])
    return "".join(told)


def run(callback=None):
    generator = OpenAIChatGenerator(model=MODEL, **SERVED)
    agent = Agent(
        chat_generator=generator, tools=[create_tool_from_function(weather)], streaming_callback=callback
    )
    return agent.run(messages=[ChatMessage.from_user(QUESTION)])["messages"][-1].text


def vectors():
    embedder = OpenAITextEmbedder(model=VECTORS, **SERVED)
    return sum(len(embedder.run(text)["embedding"]) > 0 for text in ["one", "two"])


tell(
    {
        "whole": whole,
        "stream": stream,
        "tools": run,
        "streamedTools": lambda: run(lambda _: None),
        "vectors": vectors,
    }
)
