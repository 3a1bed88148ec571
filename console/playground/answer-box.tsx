/** An answer as it streams: its reasoning, its text, the tools that it calls, and a receipt of each request. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, lazy, type ReactNode, Suspense, useState } from "react";
import { getRequest } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { playgroundWords } from "../copy/en-playground.ts";
import { count, milliseconds, money } from "../format.ts";
import { Code } from "../parts/code.tsx";
import { TextField } from "../parts/field.tsx";
import { late } from "../parts/late.ts";
import { Problem } from "../parts/problem.tsx";
import { inputOf, outputOf } from "../requests/tokens.ts";
import { useSignedIn } from "../shell/session.ts";
import type { Heard, ToolCall } from "./chat.ts";
import type { Answer, Round } from "./use-talk.ts";

/** Most of the page's size: the page is there before, with the text as it came. */
const Markdown = lazy(late(async () => ({ default: (await import("./markdown.tsx")).Markdown })));
const SETTLING_MS = 500;

export interface AnswerBoxParts {
  readonly answer: Answer;
  /** Sends the results of the tool calls; absent where the answer is not the newest one. */
  readonly onResults?: ((results: readonly string[]) => void) | undefined;
}

export function AnswerBox({ answer, onResults }: AnswerBoxParts): ReactNode {
  const { model, rounds, state, error } = answer;
  return (
    <div className="card stack">
      <small className="soft">{model}</small>
      {rounds.map((round, index) => (
        <RoundBox
          key={index}
          round={round}
          isRunning={state === "running" && index === rounds.length - 1}
          onResults={state === "done" && index === rounds.length - 1 ? onResults : undefined}
        />
      ))}
      {state === "failed" && <Problem error={error} what={playgroundWords.failed} />}
      {state === "stopped" && <p className="soft">{playgroundWords.stopped}</p>}
    </div>
  );
}

interface RoundParts {
  readonly round: Round;
  readonly isRunning: boolean;
  readonly onResults: AnswerBoxParts["onResults"];
}

function RoundBox({ round: { heard, results }, isRunning, onResults }: RoundParts): ReactNode {
  return (
    <>
      {heard.thinking !== "" && (
        <details className="more">
          <summary>{playgroundWords.reasoning}</summary>
          <p className="answer-text soft">{heard.thinking}</p>
        </details>
      )}
      <div className="answer-text">
        <Suspense fallback={heard.text}>
          <Markdown text={heard.text} />
        </Suspense>
        {isRunning && <span className="caret" aria-hidden="true" />}
      </div>
      {onResults !== undefined && heard.calls.length > 0 ? (
        <ResultsForm calls={heard.calls} onSend={onResults} />
      ) : (
        heard.calls.map((call, index) => (
          <div className="stack" key={call.id}>
            <CallBox call={call} />
            {results !== undefined && <Code text={results[index] ?? ""} what={playgroundWords.result} role="group" />}
          </div>
        ))
      )}
      {!isRunning && heard.requestId !== "" && <Receipt heard={heard} />}
    </>
  );
}

function CallBox({ call }: { readonly call: ToolCall }): ReactNode {
  return (
    <div>
      <p>
        {playgroundWords.calls} <code>{call.function.name}</code>
      </p>
      <Code
        text={prettyJson(call.function.arguments)}
        what={playgroundWords.argumentsOf(call.function.name)}
        role="group"
      />
    </div>
  );
}

interface ResultsParts {
  readonly calls: readonly ToolCall[];
  readonly onSend: (results: readonly string[]) => void;
}

function ResultsForm({ calls, onSend }: ResultsParts): ReactNode {
  const [results, setResults] = useState<readonly string[]>(calls.map(() => ""));
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onSend(results);
  };
  return (
    <form className="stack" onSubmit={send}>
      {calls.map((call, index) => (
        <div className="stack" key={call.id}>
          <CallBox call={call} />
          <TextField
            label={playgroundWords.resultOf(call.function.name)}
            hint={playgroundWords.resultRule}
            rows={2}
            value={results[index] ?? ""}
            onChange={({ currentTarget: { value } }) =>
              setResults(results.map((one, place) => (place === index ? value : one)))
            }
          />
        </div>
      ))}
      <span>
        <button className="button" type="submit" disabled={results.some((result) => result.trim() === "")}>
          {playgroundWords.sendResults}
        </button>
      </span>
    </form>
  );
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Models may write arguments that are no JSON; they are shown as they came.
    return text;
  }
}

function Receipt({ heard: { requestId: id, firstMs, totalMs } }: { readonly heard: Heard }): ReactNode {
  const { account } = useSignedIn();
  const { data } = useQuery({
    ...ask(getRequest, { id }, account),
    refetchInterval: ({ state }) => (state.data?.request?.state === "held" ? SETTLING_MS : false),
  });
  const request = data?.request;
  return (
    <div className="row receipt">
      {request !== undefined && request.state !== "held" && (
        <span>
          {playgroundWords.receipt(
            money(request.chargedNanos),
            count(inputOf(request.usage) + outputOf(request.usage)),
          )}
        </span>
      )}
      {firstMs !== undefined && <span className="soft">{playgroundWords.first(milliseconds(firstMs))}</span>}
      {totalMs !== undefined && <span className="soft">{playgroundWords.total(milliseconds(totalMs))}</span>}
      <Link to="/requests/$id" params={{ id }}>
        {playgroundWords.seeRequest}
      </Link>
    </div>
  );
}
