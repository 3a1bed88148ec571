"""A graph of LangGraph that is drawn by hand: a model, its tools, and the way back."""

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from told import ANSWER, KEY, MODEL, QUESTION, URL, tell


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    assert city == "Oslo"
    return ANSWER


chat = ChatOpenAI(model=MODEL, api_key=KEY, base_url=f"{URL}/v1").bind_tools([weather])
builder = StateGraph(MessagesState)
builder.add_node("model", lambda state: {"messages": [chat.invoke(state["messages"])]})
builder.add_node("tools", ToolNode([weather]))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition)
builder.add_edge("tools", "model")
graph = builder.compile()
asked = {"messages": [{"role": "user", "content": QUESTION}]}


def tools():
    return graph.invoke(asked)["messages"][-1].text


def streamed_tools():
    chunks = (chunk for chunk, _ in graph.stream(asked, stream_mode="messages") if chunk.type == "AIMessageChunk")
    return "".join(chunk.text for chunk in chunks)


tell({"tools": tools, "streamedTools": streamed_tools})
