/** The messages of a conversation, each with what can be done with it and the answers of the models side by side. */
import type { ReactNode } from "react";
import { playgroundWords } from "../copy/en-playground.ts";
import { AnswerBox } from "./answer-box.tsx";
import { AttachmentList } from "./attachment-list.tsx";
import type { Settings } from "./parameters.ts";
import type { Exchange, Talk } from "./use-talk.ts";

export interface ConversationParts {
  readonly talk: Talk;
  readonly settings: Settings;
  readonly onEdit: (at: number, exchange: Exchange) => void;
  readonly onRetry: (at: number, exchange: Exchange) => void;
}

export function Conversation({ talk, settings, onEdit, onRetry }: ConversationParts): ReactNode {
  const { exchanges, isRunning } = talk;
  return (
    <section className="stack" aria-label={playgroundWords.answers} aria-live="polite" aria-busy={isRunning}>
      {exchanges.length === 0 && <p className="card soft">{playgroundWords.noAnswers}</p>}
      {exchanges.map((exchange, at) => (
        <article className="stack" key={at}>
          <div className="said">
            <small className="soft">{playgroundWords.you}</small>
            <p className="answer-text">{exchange.text}</p>
            <AttachmentList attachments={exchange.attachments} />
            <div className="row">
              <Act name={playgroundWords.edit} isDisabled={isRunning} onPress={() => onEdit(at, exchange)} />
              <Act name={playgroundWords.retry} isDisabled={isRunning} onPress={() => onRetry(at, exchange)} />
              <Act name={playgroundWords.remove} isDisabled={isRunning} onPress={() => talk.remove(at)} />
            </div>
          </div>
          <div className="columns answers">
            {exchange.answers.map((answer, column) => (
              <AnswerBox
                key={column}
                answer={answer}
                onResults={
                  at === exchanges.length - 1 ? (results) => talk.sendResults(at, column, results, settings) : undefined
                }
              />
            ))}
          </div>
        </article>
      ))}
    </section>
  );
}

interface ActParts {
  readonly name: string;
  readonly isDisabled: boolean;
  readonly onPress: () => void;
}

function Act({ name, isDisabled, onPress }: ActParts): ReactNode {
  return (
    <button className="button small quiet" type="button" disabled={isDisabled} onClick={onPress}>
      {name}
    </button>
  );
}
