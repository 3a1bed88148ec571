"""DSPy: its language model by each provider, and a signature with fields."""

import dspy
from told import CLASS, HELLO, KEY, MODEL, QUESTION, URL, tell

BASES = {"openai": f"{URL}/v1", "anthropic": f"{URL}/v1", "gemini": f"{URL}/v1beta"}
lm = dspy.LM(f"{CLASS}/{MODEL}", api_base=BASES[CLASS], api_key=KEY, cache=False)
dspy.configure(lm=lm)


class Report(dspy.Signature):
    """Say how the weather is."""

    question: str = dspy.InputField()
    city: str = dspy.OutputField()
    degrees: int = dspy.OutputField()


def whole():
    return lm(HELLO)[0]


def structured():
    with dspy.context(adapter=dspy.JSONAdapter()):
        report = dspy.Predict(Report)(question=QUESTION)
    return {"city": report.city, "degrees": report.degrees}


tell({"whole": whole, "structured": structured})
