"""LlamaIndex over a server that speaks as OpenAI does."""

import pydantic
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from told import ANSWER, HELLO, KEY, MODEL, QUESTION, URL, VECTORS, tell

BASE = f"{URL}/v1"
llm = OpenAILike(
    model=MODEL, api_base=BASE, api_key=KEY, is_chat_model=True, is_function_calling_model=True, context_window=100_000
)


class Weather(pydantic.BaseModel):
    """The weather."""

    city: str
    degrees: int


def weather(city: str) -> str:
    """The weather of a city."""
    assert city == "Oslo"
    return ANSWER


def whole():
    return llm.chat([ChatMessage(role="user", content=HELLO)]).message.content


def stream():
    return "".join(part.delta or "" for part in llm.stream_chat([ChatMessage(role="user", content=HELLO)]))


async def run(streaming):
    return str(await FunctionAgent(tools=[weather], llm=llm, streaming=streaming).run(QUESTION))


def structured():
    return llm.as_structured_llm(Weather).complete(QUESTION).raw.model_dump()


def vectors():
    embedder = OpenAILikeEmbedding(model_name=VECTORS, api_base=BASE, api_key=KEY)
    return len(embedder.get_text_embedding_batch(["one", "two"]))


tell(
    {
        "whole": whole,
        "stream": stream,
        "tools": lambda: run(False),
        "streamedTools": lambda: run(True),
        "structured": structured,
        "vectors": vectors,
    }
)
