"""Pydantic AI over each of the SDKs that it speaks through."""

import pydantic
from pydantic_ai import Agent
from told import ANSWER, CLASS, HELLO, KEY, MODEL, QUESTION, URL, tell


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


def model():
    if CLASS == "AnthropicModel":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(MODEL, provider=AnthropicProvider(api_key=KEY, base_url=URL))
    if CLASS == "GoogleModel":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(MODEL, provider=GoogleProvider(api_key=KEY, base_url=URL))
    from pydantic_ai.models import openai
    from pydantic_ai.providers.openai import OpenAIProvider

    return getattr(openai, CLASS)(MODEL, provider=OpenAIProvider(api_key=KEY, base_url=f"{URL}/v1"))


greeter = Agent(model())
reporter = Agent(model())


@reporter.tool_plain
def weather(city: str) -> str:
    """The weather of a city."""
    assert city == "Oslo"
    return ANSWER


async def whole():
    return (await greeter.run(HELLO)).output


async def stream_of(agent, prompt):
    async with agent.run_stream(prompt) as result:
        return "".join([text async for text in result.stream_text(delta=True)])


async def tools():
    return (await reporter.run(QUESTION)).output


async def structured():
    return (await Agent(model(), output_type=Weather).run(QUESTION)).output.model_dump()


tell(
    {
        "whole": whole,
        "stream": lambda: stream_of(greeter, HELLO),
        "tools": tools,
        "streamedTools": lambda: stream_of(reporter, QUESTION),
        "structured": structured,
    }
)
