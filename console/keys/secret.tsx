/** A new secret, shown once, in code for the client of the reader's choice. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { KeySettings } from "../../gen/console/key_service.js";
import { listModels } from "../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { keyWords } from "../copy/en-keys.ts";
import { ClientCode } from "../parts/client-code.tsx";
import { Code } from "../parts/code.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";
import { allowedModels } from "./allowed-models.ts";

export interface SecretParts {
  readonly secret: string;
  /** Of its key, so that the example names a model which the key may use. */
  readonly settings: KeySettings | undefined;
  /** True of a new key, which was never used. */
  readonly isNew?: boolean;
  readonly onClose: () => void;
}

export function Secret({ secret, settings, isNew = false, onClose }: SecretParts): ReactNode {
  const { account } = useSignedIn();
  const models = useQuery(ask(listModels, {}, account));
  const chats = models.data?.models.filter(({ kind }) => kind === undefined || kind === "chat") ?? [];
  const model = allowedModels(chats, settings)[0]?.id ?? "MODEL";
  return (
    <Dialog title={keyWords.secretTitle} onClose={onClose} isFirm>
      <p>{keyWords.secretOnce}</p>
      <Code text={secret} what={keyWords.secret} />
      {models.isPending ? (
        <Waiting height={200} />
      ) : (
        <ClientCode what={keyWords.snippet} label={keyWords.snippet} secret={secret} model={model} />
      )}
      <div className="foot">
        {isNew && (
          <Link to="/playground" className="button">
            {keyWords.doneTry}
          </Link>
        )}
        <button className="button main" type="button" onClick={onClose}>
          {keyWords.done}
        </button>
      </div>
    </Dialog>
  );
}
