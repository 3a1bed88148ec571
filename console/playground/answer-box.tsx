/** An answer as it streams, and its receipt once it ended. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { getRequest } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { playgroundWords } from "../copy/en-playground.ts";
import { count, milliseconds, money } from "../format.ts";
import { Problem } from "../parts/problem.tsx";
import { inputOf, outputOf } from "../requests/tokens.ts";
import { useSignedIn } from "../shell/session.ts";
import type { Answer } from "./use-talk.ts";

const SETTLING_MS = 500;

export function AnswerBox({ answer }: { readonly answer: Answer }): ReactNode {
  const { model, heard, state, error } = answer;
  return (
    <div className="card stack">
      <small className="soft">{model}</small>
      {heard.thinking !== "" && <p className="answer-text soft">{heard.thinking}</p>}
      <p className="answer-text">
        {heard.text}
        {state === "running" && <span className="caret" aria-hidden="true" />}
      </p>
      {state === "failed" && <Problem error={error} what={playgroundWords.failed} />}
      {state === "stopped" && <p className="soft">{playgroundWords.stopped}</p>}
      {state !== "running" && heard.requestId !== "" && <Receipt id={heard.requestId} firstMs={heard.firstMs} />}
    </div>
  );
}

function Receipt({ id, firstMs }: { readonly id: string; readonly firstMs: number | undefined }): ReactNode {
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
      <Link to="/requests/$id" params={{ id }}>
        {playgroundWords.seeRequest}
      </Link>
    </div>
  );
}
