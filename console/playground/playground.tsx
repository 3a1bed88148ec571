/** The playground: any model, asked as the person who is signed in, with what it costs before and after. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import { listModels, type Model } from "../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { modelWords } from "../copy/en-models.ts";
import { playgroundWords } from "../copy/en-playground.ts";
import { ClientCode } from "../parts/client-code.tsx";
import { Empty } from "../parts/empty.tsx";
import { Choice, Field, TextField } from "../parts/field.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useSignedIn } from "../shell/session.ts";
import { wrongDecimal, wrongWhole } from "../typed.ts";
import { AnswerBox } from "./answer-box.tsx";
import { Estimate } from "./estimate.tsx";
import { type Exchange, type Settings, useTalk } from "./use-talk.ts";

export function Playground(): ReactNode {
  const { account } = useSignedIn();
  const models = useQuery(ask(listModels, {}, account));
  return (
    <Page title={words.pages.playground} about={playgroundWords.about}>
      <Loaded of={models} what={words.pages.models} height={480}>
        {({ models: all }) => {
          const talking = all.filter(({ kind }) => kind === undefined || kind === "chat");
          return talking[0] === undefined ? (
            <Empty title={playgroundWords.emptyTitle} about={modelWords.emptyAbout} />
          ) : (
            <Table models={talking} first={talking[0]} />
          );
        }}
      </Loaded>
    </Page>
  );
}

const FRESH: Settings = { system: "", temperature: "", outputTokensMax: "" };
const TEMPERATURE_MAX = 2;

function Table({ models, first }: { readonly models: readonly Model[]; readonly first: Model }): ReactNode {
  const { account } = useSignedIn();
  const { model = first.id, beside } = useSearch({ from: "/playground" });
  const [settings, setSettings] = useState(FRESH);
  const [text, setText] = useState("");
  const talk = useTalk(account);
  const asked = beside === undefined ? [model] : [model, beside];
  const maySend = text.trim() !== "" && !talk.isRunning && !isWrong(settings);
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    if (!maySend) return;
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
          label={playgroundWords.message}
          value={text}
          rows={4}
          autoFocus
          onKeyDown={sendByKey}
          onChange={({ currentTarget: { value } }) => setText(value)}
        />
        <Estimate models={asked} text={text} settings={settings} exchanges={talk.exchanges} />
        <div className="row">
          <button className="button main" type="submit" disabled={!maySend}>
            {playgroundWords.send}
          </button>
          {talk.isRunning && (
            <button className="button" type="button" onClick={talk.stop}>
              {playgroundWords.stop}
            </button>
          )}
          {talk.exchanges.length > 0 && (
            <button className="button quiet" type="button" onClick={talk.clear}>
              {playgroundWords.clear}
            </button>
          )}
        </div>
        <AsCode model={model} text={text || talk.exchanges.at(-1)?.text || ""} />
      </form>
      <section className="stack" aria-label={playgroundWords.answers} aria-live="polite" aria-busy={talk.isRunning}>
        {talk.exchanges.length === 0 && <p className="card soft">{playgroundWords.noAnswers}</p>}
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
        <small className="soft">{playgroundWords.you}</small>
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
        label={playgroundWords.model}
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
        label={playgroundWords.beside}
        value={beside ?? ""}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, beside: value || undefined }), replace: true })
        }
      >
        <option value="">{playgroundWords.alone}</option>
        {models.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </Choice>
    </div>
  );
}

function isWrong({ temperature, outputTokensMax }: Settings): boolean {
  return wrongDecimal(temperature, TEMPERATURE_MAX) !== undefined || wrongWhole(outputTokensMax) !== undefined;
}

interface ParametersParts {
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
}

function Parameters({ settings, onChange }: ParametersParts): ReactNode {
  return (
    <details className="more">
      <summary>{playgroundWords.parameters}</summary>
      <div className="stack">
        <TextField
          label={playgroundWords.system}
          hint={playgroundWords.systemRule}
          value={settings.system}
          rows={2}
          onChange={({ currentTarget: { value } }) => onChange({ ...settings, system: value })}
        />
        <div className="pairs">
          <Field
            label={playgroundWords.temperature}
            inputMode="decimal"
            value={settings.temperature}
            wrong={wrongDecimal(settings.temperature, TEMPERATURE_MAX)}
            onChange={({ currentTarget: { value } }) => onChange({ ...settings, temperature: value })}
          />
          <Field
            label={playgroundWords.outputMax}
            inputMode="numeric"
            value={settings.outputTokensMax}
            wrong={wrongWhole(settings.outputTokensMax)}
            onChange={({ currentTarget: { value } }) => onChange({ ...settings, outputTokensMax: value })}
          />
        </div>
      </div>
    </details>
  );
}

function AsCode({ model, text }: { readonly model: string; readonly text: string }): ReactNode {
  const told = { secret: words.secretPlace, model, text: text === "" ? undefined : text };
  return (
    <details className="more">
      <summary>{playgroundWords.code}</summary>
      <div className="stack">
        <ClientCode what={playgroundWords.code} {...told} />
      </div>
    </details>
  );
}
