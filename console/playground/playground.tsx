/** The playground: a conversation with up to three models, as the person who is signed in, with its cost. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { listModels, type Model } from "../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { playgroundWords } from "../copy/en-playground.ts";
import { Empty } from "../parts/empty.tsx";
import { Choice } from "../parts/field.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useSignedIn } from "../shell/session.ts";
import { AsCode } from "./as-code.tsx";
import { Composer } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { Barred, Estimate, isBarred, useEstimates } from "./estimate.tsx";
import { isWrong, NO_SETTINGS, type Settings } from "./parameters.ts";
import { ParametersForm } from "./parameters-form.tsx";
import { type Preset, Presets } from "./presets.tsx";
import { sharedIn } from "./share.ts";
import { ShareButton } from "./share-button.tsx";
import { type Exchange, type Message, type Talk, useTalk } from "./use-talk.ts";

export function Playground(): ReactNode {
  const { account } = useSignedIn();
  const models = useQuery(ask(listModels, {}, account));
  return (
    <Page title={words.pages.playground} about={playgroundWords.about}>
      <Loaded of={models} what={words.pages.models} height={480}>
        {({ models: all }) => {
          const talking = all.filter(({ kind }) => kind === undefined || kind === "chat");
          return talking[0] === undefined ? (
            <Empty title={playgroundWords.emptyTitle} about={playgroundWords.emptyAbout} />
          ) : (
            <Bench models={talking} first={talking[0]} />
          );
        }}
      </Loaded>
    </Page>
  );
}

const NO_MESSAGE: Message = { text: "", attachments: [] };

function Bench({ models, first }: { readonly models: readonly Model[]; readonly first: Model }): ReactNode {
  const { account, isReader } = useSignedIn();
  const { model = first.id, beside, third } = useSearch({ from: "/playground" });
  const [shared] = useState(() => sharedIn(window.location.hash));
  const [settings, setSettings] = useState(shared?.settings ?? NO_SETTINGS);
  const [message, setMessage] = useState<Message>({ ...NO_MESSAGE, text: shared?.draft ?? "" });
  const [editing, setEditing] = useState<number>();
  const talk = useTalk(account, shared?.exchanges ?? []);
  const chosen = [model, beside, third].filter((one) => one !== undefined);
  const before = talk.exchanges.slice(0, editing);
  const estimates = useEstimates(chosen, before, message, settings);
  const isBlank = message.text.trim() === "" && message.attachments.length === 0;
  // What is typed can itself be the reason, and must stay editable then.
  const isShut = isReader || (isBlank && isBarred(estimates));
  const compose = (next: Message, at?: number): void => {
    setMessage(next);
    setEditing(at);
  };
  const onClear = (): void => {
    talk.clear();
    setEditing(undefined);
  };
  return (
    <div className="bench">
      <Side {...{ models, chosen, settings, message, before, talk, onClear }} onSettings={setSettings} />
      <div className="stack talk">
        <Conversation
          talk={talk}
          settings={settings}
          onEdit={(at, { text, attachments }) => compose({ text, attachments }, at)}
          onRetry={(at, exchange) => talk.send(at, chosen, exchange, settings)}
        />
        {isShut && <Barred estimates={estimates} />}
        <Composer
          message={message}
          isRunning={talk.isRunning}
          maySend={!isBlank && !talk.isRunning && !isWrong(settings)}
          isBarred={isShut}
          isEditing={editing !== undefined}
          onChange={setMessage}
          onSend={() => {
            talk.send(before.length, chosen, message, settings);
            compose(NO_MESSAGE);
          }}
          onStop={talk.stop}
          onCancel={() => compose(NO_MESSAGE)}
        >
          <Estimate estimates={isBlank ? [] : estimates} />
        </Composer>
      </div>
    </div>
  );
}

interface SideParts {
  readonly models: readonly Model[];
  readonly chosen: readonly string[];
  readonly settings: Settings;
  readonly message: Message;
  /** The conversation before the message. */
  readonly before: readonly Exchange[];
  readonly talk: Talk;
  readonly onSettings: (settings: Settings) => void;
  readonly onClear: () => void;
}

function Side({ models, chosen, settings, message, before, talk, onSettings, onClear }: SideParts): ReactNode {
  const chooseModels = useChooseModels();
  const model = chosen[0] ?? "";
  const choose = (preset: Preset): void => {
    onSettings(preset.settings);
    chooseModels(preset.models);
  };
  return (
    <div className="card stack">
      <Pick models={models} chosen={chosen} />
      <ParametersForm
        settings={settings}
        capabilities={models.find(({ id }) => id === model)?.capabilities}
        onChange={onSettings}
      />
      <Presets models={chosen} settings={settings} onChoose={choose} />
      <AsCode model={model} exchanges={before} message={message} settings={settings} />
      <div className="row">
        <ShareButton shared={{ settings, draft: message.text, exchanges: talk.exchanges }} />
        {talk.exchanges.length > 0 && (
          <button className="button quiet" type="button" onClick={onClear}>
            {playgroundWords.clear}
          </button>
        )}
      </div>
    </div>
  );
}

/** Puts the chosen models into the URL. */
function useChooseModels(): (chosen: readonly string[]) => void {
  const navigate = useNavigate({ from: "/playground" });
  return ([model, beside, third]) =>
    // The part behind the # was read when the page opened, and is no longer what the page shows.
    void navigate({ search: (now) => ({ ...now, model, beside, third }), hash: "", replace: true });
}

interface PickParts {
  readonly models: readonly Model[];
  readonly chosen: readonly string[];
}

const PLACES = ["model", "beside", "third"] as const;

/** One choice more than models are chosen, up to three. */
function Pick({ models, chosen }: PickParts): ReactNode {
  const chooseModels = useChooseModels();
  return (
    <div className="pairs">
      {PLACES.slice(0, chosen.length + 1).map((place, index) => (
        <Choice
          key={place}
          label={playgroundWords[place]}
          value={chosen[index] ?? ""}
          onChange={({ currentTarget: { value } }) =>
            chooseModels([...chosen.slice(0, index), value, ...chosen.slice(index + 1)].filter(Boolean))
          }
        >
          {place !== "model" && <option value="">{playgroundWords.alone}</option>}
          {models.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </Choice>
      ))}
    </div>
  );
}
