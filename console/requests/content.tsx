/** What a request and its answer said, where that is kept: shown to an operator who asks for it, and recorded. */
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { readRequestContent, type RequestContent } from "../../gen/console/usage_service.js";
import { call, Refusal } from "../api/client.ts";
import { contentWords } from "../copy/en-content.ts";
import { Code } from "../parts/code.tsx";
import { Problem } from "../parts/problem.tsx";

export function Content({ id }: { readonly id: string }): ReactNode {
  const read = useMutation({ mutationFn: () => call(readRequestContent, { id }) });
  const isMissing = read.error instanceof Refusal && read.error.reason === "RESOURCE_UNKNOWN";
  return (
    <section className="card stack" aria-live="polite">
      <h2>{contentWords.title}</h2>
      {read.data?.content !== undefined ? (
        <Said content={read.data.content} />
      ) : isMissing ? (
        <p className="soft">{contentWords.none}</p>
      ) : (
        <>
          <p className="soft">{contentWords.readAbout}</p>
          <span>
            <button className="button" type="button" disabled={read.isPending} onClick={() => read.mutate()}>
              {contentWords.read}
            </button>
          </span>
          {read.error !== null && <Problem error={read.error} what={contentWords.readFailed} />}
        </>
      )}
    </section>
  );
}

function Said({ content }: { readonly content: RequestContent }): ReactNode {
  const { request, requestCut, answer, answerCut } = content;
  return (
    <>
      <p className="soft">{contentWords.redacted}</p>
      <h3>{contentWords.request}</h3>
      <Code text={request} what={contentWords.request} />
      {requestCut && <p className="soft">{contentWords.cut}</p>}
      <h3>{contentWords.answer}</h3>
      {answer === "" ? (
        <p className="soft">{contentWords.noAnswer}</p>
      ) : (
        <Code text={answer} what={contentWords.answer} />
      )}
      {answerCut && <p className="soft">{contentWords.cut}</p>}
    </>
  );
}
