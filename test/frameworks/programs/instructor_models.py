"""Instructor over each of the SDKs that it patches: what it gives is always structured."""

import instructor
import pydantic
from told import CLASS, KEY, MODEL, QUESTION, URL, tell


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


def made():
    if CLASS == "anthropic":
        from anthropic import Anthropic

        return instructor.from_anthropic(Anthropic(base_url=URL, api_key=KEY)), {"max_tokens": 1_000}
    from openai import OpenAI

    return instructor.from_openai(OpenAI(base_url=f"{URL}/v1", api_key=KEY)), {}


client, more = made()
asked = {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}], "response_model": Weather, **more}


def structured():
    return client.chat.completions.create(**asked).model_dump()


def partial():
    for last in client.chat.completions.create_partial(**asked):
        pass
    return last.model_dump()


tell({"structured": structured, "partial": partial})
