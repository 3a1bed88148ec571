"""Google's SDK: contents, functions that it calls by itself, and vectors."""

import pydantic
from google import genai
from told import ANSWER, HELLO, KEY, MODEL, QUESTION, URL, VECTORS, tell

client = genai.Client(api_key=KEY, http_options={"base_url": URL})


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


def weather(city: str) -> str:
    """The weather of a city."""
    assert city == "Oslo"
    return ANSWER


def whole():
    return client.models.generate_content(model=MODEL, contents=HELLO).text


def stream():
    chunks = client.models.generate_content_stream(model=MODEL, contents=HELLO)
    return "".join(chunk.text or "" for chunk in chunks)


def tools():
    return client.chats.create(model=MODEL, config={"tools": [weather]}).send_message(QUESTION).text


def streamed_tools():
    chunks = client.chats.create(model=MODEL, config={"tools": [weather]}).send_message_stream(QUESTION)
    return "".join(chunk.text or "" for chunk in chunks)


def structured():
    config = {"response_mime_type": "application/json", "response_schema": Weather}
    return client.models.generate_content(model=MODEL, contents=QUESTION, config=config).parsed.model_dump()


def vectors():
    return len(client.models.embed_content(model=VECTORS, contents=["one", "two"]).embeddings)


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
