/** How to call this gateway, with the reader's own address and models in every example. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { listKeys } from "../../../gen/console/key_service.js";
import { listModels } from "../../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { docs } from "../copy/en-docs.ts";
import { ClientCode } from "../parts/client-code.tsx";
import { Choice } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { DOC_PAGES } from "../states.ts";
import { useSignedIn } from "../shell/session.ts";
import { ApiReference } from "./api-reference.tsx";
import { Errors } from "./errors.tsx";
import { Grpc } from "./grpc.tsx";
import { Limits } from "./limits.tsx";

const KEYS_MAX = 100;
const PARTS = { start: Start, errors: Errors, limits: Limits, grpc: Grpc, api: ApiReference } as const;

export function Docs(): ReactNode {
  const { about = "start" } = useSearch({ from: "/docs" });
  const Part = PARTS[about];
  return (
    <Page title={words.pages.docs} about={docs.about}>
      <nav className="row" aria-label={words.pages.docs}>
        {DOC_PAGES.map((page) => (
          <Link
            key={page}
            to="/docs"
            search={(before) => ({ ...before, about: page })}
            className="button"
            aria-current={page === about ? "true" : undefined}
            activeProps={{ "aria-current": undefined }}
          >
            {docs.pages[page]}
          </Link>
        ))}
      </nav>
      <section className="stack prose">
        <h2>{docs.pages[about]}</h2>
        <Part />
      </section>
    </Page>
  );
}

function Start(): ReactNode {
  const { account } = useSignedIn();
  const models = useQuery(ask(listModels, {}, account));
  const keys = useQuery(ask(listKeys, { accountId: account, pageSize: KEYS_MAX }, account));
  const chats = (models.data?.models ?? []).filter(({ kind }) => kind === undefined || kind === "chat");
  const working = (keys.data?.keys ?? []).filter(({ revokeTime }) => revokeTime === undefined);
  const [chosen, setChosen] = useState("");
  const [keyId, setKeyId] = useState("");
  const model = chosen || (chats[0]?.id ?? "MODEL");
  const place = working.find(({ id }) => id === keyId)?.hint ?? words.secretPlace;
  const choices = (
    <>
      <Choice label={docs.model} value={model} onChange={({ currentTarget: { value } }) => setChosen(value)}>
        {chats.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </Choice>
      <Choice label={docs.key} value={keyId} onChange={({ currentTarget: { value } }) => setKeyId(value)}>
        <option value="">{docs.anyKey}</option>
        {working.map(({ id, settings, hint }) => (
          <option key={id} value={id}>
            {`${settings?.name || id} ${hint}`}
          </option>
        ))}
      </Choice>
    </>
  );
  return (
    <>
      <ClientCode what={docs.pages.start} secret={place} model={model} beside={choices} />
      <p>
        {docs.secretNote(place)} {docs.hintNote}{" "}
        <Link to="/keys" search={{ make: "key" }}>
          {docs.makeKey}
        </Link>
      </p>
    </>
  );
}
