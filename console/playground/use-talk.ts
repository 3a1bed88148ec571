/** A conversation with up to three models. Each model has its own answers, which stream independently. */
import { useRef, useState } from "react";
import { listRequests } from "../../gen/console/usage_service.js";
import { forget } from "../api/queries.ts";
import { type Attachment, contentOf } from "./attachments.ts";
import { chat, type Heard, SILENT, type Turn } from "./chat.ts";
import { requestOf, type Settings } from "./parameters.ts";

/** One request of an answer. An answer has more than one where the model called tools and got their results. */
export interface Round {
  readonly heard: Heard;
  /** The results of the round's tool calls, in their order; absent until they are sent. */
  readonly results?: readonly string[];
}

export interface Answer {
  readonly model: string;
  readonly rounds: readonly Round[];
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly error?: unknown;
}

export interface Message {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

export interface Exchange extends Message {
  /** One for each model that got the message. */
  readonly answers: readonly Answer[];
}

export interface Talk {
  readonly exchanges: readonly Exchange[];
  readonly isRunning: boolean;
  /** Sends a message at a place of the conversation, and drops the exchanges from there on. */
  readonly send: (at: number, models: readonly string[], message: Message, settings: Settings) => void;
  readonly sendResults: (at: number, column: number, results: readonly string[], settings: Settings) => void;
  readonly remove: (at: number) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

export function useTalk(account: string, first: readonly Exchange[]): Talk {
  const [exchanges, setExchanges] = useState(first);
  const running = useRef(new Set<AbortController>());
  const stop = (): void => {
    for (const aborter of running.current) aborter.abort();
  };
  /** Runs the last round of an answer. */
  const run = async (all: readonly Exchange[], at: number, column: number, settings: Settings): Promise<void> => {
    const answer = all[at]?.answers[column];
    if (answer === undefined) return;
    const aborter = new AbortController();
    running.current.add(aborter);
    const change = (part: Partial<Answer>): void => setExchanges((now) => changed(now, at, column, part));
    const hear = (heard: Heard): Partial<Answer> => ({ rounds: [...answer.rounds.slice(0, -1), { heard }] });
    const request = requestOf(answer.model, turnsOf(all.slice(0, at + 1), column, settings.system), settings);
    try {
      const heard = await chat(account, request, aborter.signal, (heard) => change(hear(heard)));
      change({ ...hear(heard), state: "done" });
    } catch (error) {
      change(aborter.signal.aborted ? { state: "stopped" } : { state: "failed", error });
    }
    running.current.delete(aborter);
    await forget(listRequests);
  };
  return {
    exchanges,
    isRunning: exchanges.some(({ answers }) => answers.some(({ state }) => state === "running")),
    send: (at, models, message, settings) => {
      const answers = models.map((model): Answer => ({ model, rounds: [{ heard: SILENT }], state: "running" }));
      const next = [...exchanges.slice(0, at), { ...message, answers }];
      setExchanges(next);
      models.forEach((_, column) => void run(next, at, column, settings));
    },
    sendResults: (at, column, results, settings) => {
      const rounds = exchanges[at]?.answers[column]?.rounds ?? [];
      const called = rounds.at(-1)?.heard ?? SILENT;
      const more: readonly Round[] = [...rounds.slice(0, -1), { heard: called, results }, { heard: SILENT }];
      const next = changed(exchanges, at, column, { rounds: more, state: "running" });
      setExchanges(next);
      void run(next, at, column, settings);
    },
    remove: (at) => setExchanges(exchanges.filter((_, index) => index !== at)),
    stop,
    clear: () => {
      stop();
      setExchanges([]);
    },
  };
}

/** The conversation of one column. An exchange whose answer is empty is left out, but the last one stays. */
export function turnsOf(exchanges: readonly Exchange[], column: number, system: string): readonly Turn[] {
  const first: readonly Turn[] = system === "" ? [] : [{ role: "system", content: system }];
  const turns = exchanges.flatMap(({ text, attachments, answers }, index): readonly Turn[] => {
    const answered = (answers[column]?.rounds ?? []).flatMap(turnsOfRound);
    if (answered.length === 0 && index < exchanges.length - 1) return [];
    return [{ role: "user", content: contentOf(text, attachments) }, ...answered];
  });
  return [...first, ...turns];
}

/** Calls without results are left out: a request that has them is refused. */
function turnsOfRound({ heard, results }: Round): readonly Turn[] {
  const { text, calls } = heard;
  if (results === undefined) return text === "" ? [] : [{ role: "assistant", content: text }];
  return [
    { role: "assistant", content: text, tool_calls: calls },
    ...calls.map(({ id }, index): Turn => ({ role: "tool", tool_call_id: id, content: results[index] ?? "" })),
  ];
}

function changed(all: readonly Exchange[], at: number, column: number, change: Partial<Answer>): readonly Exchange[] {
  return all.map((exchange, index) =>
    index === at
      ? { ...exchange, answers: exchange.answers.map((one, place) => (place === column ? { ...one, ...change } : one)) }
      : exchange,
  );
}
