/** The choice of a client, and its first request as code that is copied as it stands. */
import { type ReactNode, useState } from "react";
import { words } from "../copy/en.ts";
import { Code } from "./code.tsx";
import { Choice } from "./field.tsx";
import { CLIENTS, CLIENTS_OF_REQUESTS, type Client, requestSnippet, snippet, type Told } from "./snippets.ts";

export interface ClientCodeParts {
  /** What the code is called for who cannot see it. */
  readonly what: string;
  /** The name of the choice. */
  readonly label?: string;
  readonly secret: string;
  readonly model: string;
  readonly text?: string | undefined;
  /** A whole request of chat completions in place of a text. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** Stands beside the choice of the client. */
  readonly beside?: ReactNode;
}

export function ClientCode(parts: ClientCodeParts): ReactNode {
  const { what, label = words.client, secret, model, text, request, beside } = parts;
  const [client, setClient] = useState<Client>("curl");
  const told: Told = { origin: window.location.origin, secret, model, ...(text === undefined ? {} : { text }) };
  const clients = request === undefined ? CLIENTS : CLIENTS.filter(({ id }) => CLIENTS_OF_REQUESTS.includes(id));
  const code = request === undefined ? snippet(client, told) : requestSnippet(client, told.origin, secret, request);
  const choice = (
    <Choice
      label={label}
      value={client}
      onChange={({ currentTarget: { value } }) => setClient(CLIENTS.find(({ id }) => id === value)?.id ?? "curl")}
    >
      {clients.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Choice>
  );
  return (
    <>
      {beside === undefined ? (
        choice
      ) : (
        <div className="pairs">
          {choice}
          {beside}
        </div>
      )}
      <Code text={code} what={what} />
    </>
  );
}
