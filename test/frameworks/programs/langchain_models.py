"""LangChain's chat models and vectors, and an agent of LangGraph."""

import pydantic
from langchain.agents import create_agent
from langchain_core.tools import tool
from told import ANSWER, CLASS, HELLO, KEY, MODEL, QUESTION, URL, VECTORS, tell


class Weather(pydantic.BaseModel):
    """The weather."""

    city: str
    degrees: int


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    assert city == "Oslo"
    return ANSWER


def chat_model():
    if CLASS == "ChatAnthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=MODEL, api_key=KEY, base_url=URL)
    if CLASS == "ChatGoogleGenerativeAI":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(model=MODEL, api_key=KEY, base_url=URL)
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=MODEL, api_key=KEY, base_url=f"{URL}/v1", use_responses_api=CLASS.endswith("responses"))


chat = chat_model()
asked = {"messages": [{"role": "user", "content": QUESTION}]}


def whole():
    return chat.invoke(HELLO).text


def stream():
    return "".join(chunk.text for chunk in chat.stream(HELLO))


def tools():
    return create_agent(chat, tools=[weather]).invoke(asked)["messages"][-1].text


def streamed_tools():
    agent = create_agent(chat, tools=[weather])
    chunks = (chunk for chunk, _ in agent.stream(asked, stream_mode="messages") if chunk.type == "AIMessageChunk")
    return "".join(chunk.text for chunk in chunks)


def structured():
    return chat.with_structured_output(Weather).invoke(QUESTION).model_dump()


def vectors():
    if CLASS == "ChatGoogleGenerativeAI":
        from langchain_google_genai import GoogleGenerativeAIEmbeddings

        embedder = GoogleGenerativeAIEmbeddings(model=VECTORS, api_key=KEY, base_url=URL)
    else:
        from langchain_openai import OpenAIEmbeddings

        # It counts tokens by a table that it downloads, and sends their numbers: text is what every server takes.
        embedder = OpenAIEmbeddings(
            model=VECTORS, api_key=KEY, base_url=f"{URL}/v1", check_embedding_ctx_length=False
        )
    return len(embedder.embed_documents(["one", "two"]))


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
