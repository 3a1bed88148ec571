/** A new secret, shown once, in code for the client of the reader's choice. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { listModels } from "../../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { Code } from "../parts/code.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Choice } from "../parts/field.tsx";
import { CLIENTS, type Client, snippet } from "../parts/snippets.ts";
import { useSignedIn } from "../shell/session.ts";

export function Secret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }): ReactNode {
  const { account } = useSignedIn();
  const models = useQuery(ask(listModels, {}, account));
  const [client, setClient] = useState<Client>("curl");
  const model = models.data?.models.find(({ kind }) => kind === undefined || kind === "chat")?.id ?? "MODEL";
  const code = snippet(client, { origin: window.location.origin, secret, model });
  return (
    <Dialog title={words.keys.secretTitle} onClose={onClose} isFirm>
      <p>{words.keys.secretOnce}</p>
      <Code text={secret} what={words.keys.secret} />
      <Choice
        label={words.keys.snippet}
        value={client}
        onChange={({ currentTarget: { value } }) => setClient(CLIENTS.find(({ id }) => id === value)?.id ?? "curl")}
      >
        {CLIENTS.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Choice>
      <Code text={code} what={words.keys.snippet} />
      <div className="foot">
        <button className="button main" type="button" onClick={onClose}>
          {words.keys.done}
        </button>
      </div>
    </Dialog>
  );
}
