/** A conversation with one or two models, each answer as it streams. */
import { useRef, useState } from "react";
import { listRequests } from "../../gen/console/usage_service.js";
import { forget } from "../api/queries.ts";
import { type ChatRequest, chat, type Heard, type Turn } from "./chat.ts";
import { parseDecimal, parseWhole } from "../typed.ts";

export interface Answer {
  readonly model: string;
  readonly heard: Heard;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly error?: unknown;
}

export interface Exchange {
  readonly text: string;
  /** One for each model that was asked. */
  readonly answers: readonly Answer[];
}

export interface Talk {
  readonly exchanges: readonly Exchange[];
  readonly isRunning: boolean;
  readonly ask: (models: readonly string[], text: string, settings: Settings) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** As it was typed. Empty: the model's own. */
export interface Settings {
  readonly system: string;
  readonly temperature: string;
  readonly outputTokensMax: string;
}

const SILENT: Heard = { text: "", thinking: "", requestId: "", firstMs: undefined };

export function useTalk(account: string): Talk {
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([]);
  const running = useRef<AbortController>(undefined);
  const isRunning = exchanges.some(({ answers }) => answers.some(({ state }) => state === "running"));
  const ask = (models: readonly string[], text: string, settings: Settings): void => {
    const aborter = new AbortController();
    running.current = aborter;
    const at = exchanges.length;
    const answers = models.map((model): Answer => ({ model, heard: SILENT, state: "running" }));
    setExchanges([...exchanges, { text, answers }]);
    models.forEach((model, column) => {
      const tell = (change: Partial<Answer>): void => setExchanges((all) => changed(all, at, column, change));
      const asked = askedOf(model, turnsOf(exchanges, column, settings.system, text), settings);
      void hear(account, asked, aborter.signal, tell);
    });
  };
  return {
    exchanges,
    isRunning,
    ask,
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort();
      setExchanges([]);
    },
  };
}

/** What is asked of a model. */
export function askedOf(model: string, messages: readonly Turn[], settings: Settings): ChatRequest {
  const temperature = parseDecimal(settings.temperature);
  const outputTokensMax = parseWhole(settings.outputTokensMax);
  return {
    model,
    messages,
    ...(temperature === undefined ? {} : { temperature }),
    ...(outputTokensMax === undefined ? {} : { max_completion_tokens: Number(outputTokensMax) }),
  };
}

/** The conversation of one column up to a new message. */
export function turnsOf(exchanges: readonly Exchange[], column: number, system: string, text: string): readonly Turn[] {
  const before = exchanges.flatMap(({ text, answers }): readonly Turn[] => {
    const answer = answers[column]?.heard.text ?? "";
    return answer === ""
      ? []
      : [
          { role: "user", content: text },
          { role: "assistant", content: answer },
        ];
  });
  const first: readonly Turn[] = system === "" ? [] : [{ role: "system", content: system }];
  return [...first, ...before, { role: "user", content: text }];
}

async function hear(
  account: string,
  asked: ChatRequest,
  signal: AbortSignal,
  tell: (change: Partial<Answer>) => void,
): Promise<void> {
  try {
    const heard = await chat(account, asked, signal, (heard) => tell({ heard }));
    tell({ heard, state: "done" });
  } catch (error) {
    tell(signal.aborted ? { state: "stopped" } : { state: "failed", error });
  }
  await forget(listRequests);
}

function changed(all: readonly Exchange[], at: number, column: number, change: Partial<Answer>): readonly Exchange[] {
  return all.map((exchange, index) =>
    index === at
      ? { ...exchange, answers: exchange.answers.map((one, place) => (place === column ? { ...one, ...change } : one)) }
      : exchange,
  );
}
