"""OpenAI's SDK: chat completions, responses and vectors."""

import json

import pydantic
from openai import OpenAI
from told import ANSWER, CLASS, HELLO, KEY, MODEL, QUESTION, SCHEMA, URL, VECTORS, WEATHER, tell

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY)


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


def say(content):
    return [{"role": "user", "content": content}]


def vectors():
    return len(client.embeddings.create(model=VECTORS, input=["one", "two"]).data)


class Chat:
    tool = {"type": "function", "function": {"name": "weather", "description": WEATHER, "parameters": SCHEMA}}

    def whole(self):
        return client.chat.completions.create(model=MODEL, messages=say(HELLO)).choices[0].message.content

    def stream(self):
        chunks = client.chat.completions.create(model=MODEL, messages=say(HELLO), stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

    def structured(self):
        done = client.chat.completions.parse(model=MODEL, messages=say(QUESTION), response_format=Weather)
        return done.choices[0].message.parsed.model_dump()

    def tools(self):
        return self.talk(lambda **asked: client.chat.completions.create(**asked).choices[0].message)

    def streamed_tools(self):
        def ask(**asked):
            with client.chat.completions.stream(**asked) as stream:
                return stream.get_final_completion().choices[0].message

        return self.talk(ask)

    def talk(self, ask):
        messages = say(QUESTION)
        while True:
            message = ask(model=MODEL, messages=messages, tools=[self.tool])
            if not message.tool_calls:
                return message.content
            messages.append(message)
            for call in message.tool_calls:
                assert json.loads(call.function.arguments) == {"city": "Oslo"}
                messages.append({"role": "tool", "tool_call_id": call.id, "content": ANSWER})


class Responses:
    tool = {"type": "function", "name": "weather", "description": WEATHER, "parameters": SCHEMA, "strict": True}

    def whole(self):
        return client.responses.create(model=MODEL, input=HELLO).output_text

    def stream(self):
        events = client.responses.create(model=MODEL, input=HELLO, stream=True)
        return "".join(event.delta for event in events if event.type == "response.output_text.delta")

    def structured(self):
        return client.responses.parse(model=MODEL, input=QUESTION, text_format=Weather).output_parsed.model_dump()

    def tools(self):
        return self.talk(client.responses.create)

    def streamed_tools(self):
        def ask(**asked):
            with client.responses.stream(**asked) as stream:
                return stream.get_final_response()

        return self.talk(ask)

    def talk(self, ask):
        items = say(QUESTION)
        while True:
            response = ask(model=MODEL, input=items, tools=[self.tool])
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return response.output_text
            items += response.output
            for call in calls:
                assert json.loads(call.arguments) == {"city": "Oslo"}
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": ANSWER})


parts = Responses() if CLASS == "responses" else Chat()
tell(
    {
        "whole": parts.whole,
        "stream": parts.stream,
        "tools": parts.tools,
        "streamedTools": parts.streamed_tools,
        "structured": parts.structured,
        "vectors": vectors,
    }
)
