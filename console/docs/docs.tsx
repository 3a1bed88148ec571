/** How to call this gateway, with the reader's own address, models and key in every example. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useSyncExternalStore } from "react";
import { listKeys } from "../../gen/console/key_service.js";
import { listModels } from "../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { docs } from "../copy/en-docs.ts";
import { allowedModels } from "../keys/allowed-models.ts";
import { ClientCode } from "../parts/client-code.tsx";
import { Choice } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { useSignedIn } from "../shell/session.ts";
import { ApiReference } from "./api-reference.tsx";
import { DocPage } from "./doc-page.tsx";
import type { PageOfDocs } from "./page-of-docs.ts";
import { pages } from "./pages.ts";

const KEYS_MAX = 100;
const WIDE = "(min-width: 60rem)";
const START = "start";
/** What is made for the reader, before the pages that are the same for all. */
const OWN = [START, "api"] as const;
type Own = (typeof OWN)[number];

/** Whom a page is for; what is named nowhere stands with the operator's. */
const FOR_HOLDERS: ReadonlySet<string> = new Set([
  "alerts",
  "clients",
  "errors",
  "exports",
  "grpc",
  "headers",
  "http-api",
  "keys",
  "members",
  "model-facts",
  "payments",
  "people",
  "prices",
  "records",
  "tokens",
]);

export function Docs(): ReactNode {
  const { about = START } = useSearch({ from: "/docs" });
  const isWide = useIsWide();
  const own = OWN.find((one) => one === about);
  const page = pages.find(({ name }) => name === about);
  const title = own === undefined ? (page?.title ?? words.notFound.title) : docs.pages[own];
  return (
    <Page title={words.pages.docs} about={docs.about}>
      <div className="docs">
        {isWide ? (
          <Contents />
        ) : (
          <details className="card more" key={`contents at ${about}`}>
            <summary>{docs.allPages}</summary>
            <Contents />
          </details>
        )}
        <article className="stack prose" key={`page ${about}`}>
          <h2>{title}</h2>
          <Shown own={own} page={page} />
        </article>
      </div>
    </Page>
  );
}

/** Whether there is room for the contents beside a page. */
function useIsWide(): boolean {
  const query = window.matchMedia(WIDE);
  return useSyncExternalStore(
    (tell) => {
      query.addEventListener("change", tell);
      return () => query.removeEventListener("change", tell);
    },
    () => query.matches,
  );
}

interface ShownParts {
  readonly own: Own | undefined;
  readonly page: PageOfDocs | undefined;
}

function Shown({ own, page }: ShownParts): ReactNode {
  const { secret, model, choices } = useReader();
  if (own === "start") return <Start secret={secret} model={model} choices={choices} />;
  if (own === "api") return <ApiReference secret={secret} />;
  return page === undefined ? <p>{docs.noPage}</p> : <DocPage page={page} secret={secret} />;
}

/** All pages, for whom they are. */
function Contents(): ReactNode {
  const groups = [
    [docs.groups.start, OWN.map((name) => ({ name, title: docs.pages[name] }))],
    [docs.groups.holders, pages.filter(({ name }) => FOR_HOLDERS.has(name))],
    [docs.groups.operators, pages.filter(({ name }) => !FOR_HOLDERS.has(name))],
  ] as const;
  return (
    <nav className="docs-contents" aria-label={words.pages.docs}>
      {groups.map(([title, entries]) => (
        <div key={title}>
          <h2>{title}</h2>
          {entries.map((entry) => (
            <Entry key={entry.name} {...entry} />
          ))}
        </div>
      ))}
    </nav>
  );
}

function Entry({ name, title }: { readonly name: string; readonly title: string }): ReactNode {
  return (
    <Link
      to="/docs"
      search={(before) => ({ ...before, about: name === START ? undefined : name })}
      activeOptions={{ explicitUndefined: true }}
    >
      {title}
    </Link>
  );
}

interface Reader {
  /** What stands in the place of the secret: the hint of the chosen key. */
  readonly secret: string;
  readonly model: string;
  readonly choices: ReactNode;
}

/** The reader's own models and keys, and what was chosen of them, which the URL keeps from page to page. */
function useReader(): Reader {
  const { account } = useSignedIn();
  const { model: chosen, key: keyId = "" } = useSearch({ from: "/docs" });
  const navigate = useNavigate({ from: "/docs" });
  const models = useQuery(ask(listModels, {}, account));
  const keys = useQuery(ask(listKeys, { accountId: account, pageSize: KEYS_MAX, revoked: false }, account));
  const chats = (models.data?.models ?? []).filter(({ kind }) => kind === undefined || kind === "chat");
  const working = keys.data?.keys ?? [];
  const allowed = allowedModels(chats, working.find(({ id }) => id === keyId)?.settings);
  const model = allowed.find(({ id }) => id === chosen)?.id ?? allowed[0]?.id ?? "MODEL";
  const choose = (change: { readonly model?: string; readonly key?: string | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const choices = (
    <>
      <Choice label={docs.model} value={model} onChange={({ currentTarget: { value } }) => choose({ model: value })}>
        {allowed.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </Choice>
      <Choice
        label={docs.key}
        value={keyId}
        onChange={({ currentTarget: { value } }) => choose({ key: value || undefined })}
      >
        <option value="">{docs.anyKey}</option>
        {working.map(({ id, settings, hint }) => (
          <option key={id} value={id}>
            {`${settings?.name || id} ${hint}`}
          </option>
        ))}
      </Choice>
    </>
  );
  return { secret: working.find(({ id }) => id === keyId)?.hint ?? words.secretPlace, model, choices };
}

function Start({ secret, model, choices }: Reader): ReactNode {
  return (
    <>
      <ClientCode what={docs.pages.start} secret={secret} model={model} beside={choices} />
      <p>
        {docs.secretNote(secret)} {docs.hintNote}{" "}
        <Link to="/keys" search={{ make: "key" }}>
          {docs.makeKey}
        </Link>
      </p>
    </>
  );
}
