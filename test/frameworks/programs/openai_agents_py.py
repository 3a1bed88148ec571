"""OpenAI's agents, over responses and over chat completions."""

import pydantic
from agents import Agent, Runner, function_tool, set_default_openai_api, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent
from told import ANSWER, CLASS, HELLO, KEY, MODEL, QUESTION, URL, tell

set_tracing_disabled(True)
set_default_openai_client(AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY), use_for_tracing=False)
set_default_openai_api(CLASS)


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    assert city == "Oslo"
    return ANSWER


greeter = Agent(name="Greeter", instructions="Be short.", model=MODEL)
reporter = Agent(name="Reporter", model=MODEL, tools=[weather])


async def whole():
    return (await Runner.run(greeter, HELLO)).final_output


async def stream():
    events = Runner.run_streamed(greeter, HELLO).stream_events()
    deltas = [event.data async for event in events if event.type == "raw_response_event"]
    return "".join(delta.delta for delta in deltas if isinstance(delta, ResponseTextDeltaEvent))


async def tools():
    return (await Runner.run(reporter, QUESTION)).final_output


async def streamed_tools():
    result = Runner.run_streamed(reporter, QUESTION)
    async for _ in result.stream_events():
        pass
    return result.final_output


async def structured():
    shaped = Agent(name="Shaped", model=MODEL, output_type=Weather)
    return (await Runner.run(shaped, QUESTION)).final_output.model_dump()


tell(
    {
        "whole": whole,
        "stream": stream,
        "tools": tools,
        "streamedTools": streamed_tools,
        "structured": structured,
    }
)
