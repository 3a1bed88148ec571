/** The request that the next message makes, as code with every turn and parameter. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { playgroundWords } from "../copy/en-playground.ts";
import { ClientCode } from "../parts/client-code.tsx";
import { LateDetails } from "../parts/late-details.tsx";
import type { Attachment } from "./attachments.ts";
import { requestOf, type Settings } from "./parameters.ts";
import { type Exchange, type Message, turnsOf } from "./use-talk.ts";

export interface AsCodeParts {
  readonly model: string;
  readonly exchanges: readonly Exchange[];
  readonly message: Message;
  readonly settings: Settings;
}

export function AsCode({ model, exchanges, message, settings }: AsCodeParts): ReactNode {
  const isBlank = message.text === "" && message.attachments.length === 0;
  const last = exchanges.at(-1);
  // While nothing is typed, the call is the one that was sent last.
  const all =
    isBlank && last !== undefined
      ? [...exchanges.slice(0, -1), { ...last, answers: [] }]
      : [...exchanges, { ...message, answers: [] }];
  const hasFiles = all.some(({ attachments }) => attachments.length > 0);
  return (
    <LateDetails className="more" summary={playgroundWords.code}>
      {() => (
        <div className="stack">
          {hasFiles && <p className="soft">{playgroundWords.codeFiles}</p>}
          <ClientCode
            what={playgroundWords.code}
            secret={words.secretPlace}
            model={model}
            request={requestOf(model, turnsOf(all.map(withoutData), 0, settings.system), settings)}
          />
        </div>
      )}
    </LateDetails>
  );
}

/** Megabytes of base64 make no code that a person reads. */
function withoutData(exchange: Exchange): Exchange {
  const attachments = exchange.attachments.map((one): Attachment => ({
    ...one,
    dataUrl: `data:${one.mediaType};base64,BASE64_OF_${one.name}`,
  }));
  return { ...exchange, attachments };
}
