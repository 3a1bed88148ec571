/** The playground: any model, asked as the person who is signed in, with what it costs before and after. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import { listModels, type Model } from "../../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { Code } from "../parts/code.tsx";
import { Empty } from "../parts/empty.tsx";
import { Choice, Field, TextField } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { CLIENTS, type Client, snippet } from "../parts/snippets.ts";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";
import { AnswerBox } from "./answer-box.tsx";
import { Estimate } from "./estimate.tsx";
import { type Exchange, type Settings, useTalk } from "./use-talk.ts";

export function Playground(): ReactNode {
  const { account } = useSignedIn();
  const { data, error, refetch } = useQuery(ask(listModels, {}, account));
  const models = data?.models.filter(({ kind }) => kind === undefined || kind === "chat");
  return (
    <Page title={words.pages.playground} about={words.playground.about}>
      {error !== null ? (
        <Problem error={error} what={words.errors.load(words.pages.models)} onAgain={() => void refetch()} />
      ) : models === undefined ? (
        <Waiting height={480} />
      ) : models[0] === undefined ? (
        <Empty title={words.playground.emptyTitle} about={words.models.emptyAbout} />
      ) : (
        <Table models={models} first={models[0]} />
      )}
    </Page>
  );
}

const FRESH: Settings = { system: "", temperature: undefined, outputTokensMax: undefined };

function Table({ models, first }: { readonly models: readonly Model[]; readonly first: Model }): ReactNode {
  const { account } = useSignedIn();
  const { model = first.id, beside } = useSearch({ from: "/playground" });
  const [settings, setSettings] = useState(FRESH);
  const [text, setText] = useState("");
  const talk = useTalk(account);
  const asked = beside === undefined ? [model] : [model, beside];
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    if (text.trim() === "" || talk.isRunning) return;
    talk.ask(asked, text, settings);
    setText("");
  };
  const sendByKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="bench">
      <form className="card stack" onSubmit={send}>
        <Pick models={models} model={model} beside={beside} />
        <Parameters settings={settings} onChange={setSettings} />
        <TextField
          label={words.playground.message}
          value={text}
          rows={4}
          autoFocus
          onKeyDown={sendByKey}
          onChange={({ currentTarget: { value } }) => setText(value)}
        />
        <Estimate models={asked} text={text} settings={settings} exchanges={talk.exchanges} />
        <div className="row">
          <button className="button main" type="submit" disabled={text.trim() === "" || talk.isRunning}>
            {words.playground.send}
          </button>
          {talk.isRunning && (
            <button className="button" type="button" onClick={talk.stop}>
              {words.playground.stop}
            </button>
          )}
          {talk.exchanges.length > 0 && (
            <button className="button quiet" type="button" onClick={talk.clear}>
              {words.playground.clear}
            </button>
          )}
        </div>
        <AsCode model={model} text={text || talk.exchanges.at(-1)?.text || ""} />
      </form>
      <section className="stack" aria-label={words.playground.answers} aria-live="polite" aria-busy={talk.isRunning}>
        {talk.exchanges.map((exchange, index) => (
          <Turned key={index} exchange={exchange} />
        ))}
      </section>
    </div>
  );
}

function Turned({ exchange }: { readonly exchange: Exchange }): ReactNode {
  return (
    <article className="stack">
      <div className="said">
        <small className="soft">{words.playground.you}</small>
        <p className="answer-text">{exchange.text}</p>
      </div>
      <div className="columns">
        {exchange.answers.map((answer, index) => (
          <AnswerBox key={index} answer={answer} />
        ))}
      </div>
    </article>
  );
}

interface PickParts {
  readonly models: readonly Model[];
  readonly model: string;
  readonly beside: string | undefined;
}

function Pick({ models, model, beside }: PickParts): ReactNode {
  const navigate = useNavigate({ from: "/playground" });
  return (
    <div className="pairs">
      <Choice
        label={words.playground.model}
        value={model}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, model: value }), replace: true })
        }
      >
        {models.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </Choice>
      <Choice
        label={words.playground.beside}
        value={beside ?? ""}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, beside: value || undefined }), replace: true })
        }
      >
        <option value="">{words.playground.alone}</option>
        {models.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </Choice>
    </div>
  );
}

interface ParametersParts {
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
}

function Parameters({ settings, onChange }: ParametersParts): ReactNode {
  const numberIn = (text: string): number | undefined => (text === "" ? undefined : Number(text));
  return (
    <details className="more">
      <summary>{words.playground.parameters}</summary>
      <div className="stack">
        <TextField
          label={words.playground.system}
          hint={words.playground.systemRule}
          value={settings.system}
          rows={2}
          onChange={({ currentTarget: { value } }) => onChange({ ...settings, system: value })}
        />
        <div className="pairs">
          <Field
            label={words.playground.temperature}
            type="number"
            min={0}
            max={2}
            step={0.1}
            value={settings.temperature ?? ""}
            onChange={({ currentTarget: { value } }) => onChange({ ...settings, temperature: numberIn(value) })}
          />
          <Field
            label={words.playground.outputMax}
            type="number"
            min={1}
            value={settings.outputTokensMax ?? ""}
            onChange={({ currentTarget: { value } }) => onChange({ ...settings, outputTokensMax: numberIn(value) })}
          />
        </div>
      </div>
    </details>
  );
}

function AsCode({ model, text }: { readonly model: string; readonly text: string }): ReactNode {
  const [client, setClient] = useState<Client>("curl");
  const told = {
    origin: window.location.origin,
    secret: words.playground.key,
    model,
    ...(text === "" ? {} : { text }),
  };
  return (
    <details className="more">
      <summary>{words.playground.code}</summary>
      <div className="stack">
        <Choice
          label={words.keys.client}
          value={client}
          onChange={({ currentTarget: { value } }) => setClient(CLIENTS.find(({ id }) => id === value)?.id ?? "curl")}
        >
          {CLIENTS.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Choice>
        <Code text={snippet(client, told)} what={words.playground.code} />
      </div>
    </details>
  );
}
