/** Adds an upstream with the models of its list, or changes one. It is tried before it is saved. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { listModels } from "../../gen/console/model_service.js";
import {
  applyObjects,
  listFamilies,
  listObjects,
  testObject,
  type TestObjectResponse,
  updateObject,
  type UpstreamFamily,
} from "../../gen/console/settings_service.js";
import { listUpstreams } from "../../gen/console/upstream_service.js";
import type { SettingsObject, UpstreamSpec } from "../../gen/console/settings_object.js";
import { call, type RequestFields } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { objectWords as say } from "../copy/en-objects.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { ChooseModels } from "./choose-models.tsx";

const NAME = "[a-z0-9][a-z0-9._\\-]{0,63}";
const USUAL_FAMILY = "openai";

export interface UpstreamFormParts {
  /** The one to change. Undefined: a new one. */
  readonly object: SettingsObject | undefined;
  readonly onClose: () => void;
}

export function UpstreamForm(parts: UpstreamFormParts): ReactNode {
  const families = useQuery(ask(listFamilies, {}));
  const { object, onClose } = parts;
  const title = object === undefined ? say.addUpstream : say.changeUpstream(object.name);
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      {families.data === undefined ? <Waiting height={320} /> : <Form {...parts} families={families.data.families} />}
    </Dialog>
  );
}

interface Typed {
  readonly family: string;
  readonly name: string;
  readonly apiKey: string;
  readonly baseUrl: string;
}

function Form({
  object,
  families,
  onClose,
}: UpstreamFormParts & { readonly families: readonly UpstreamFamily[] }): ReactNode {
  const [typed, setTyped] = useState<Typed>(() => typedOf(object));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const name = typed.name === "" ? typed.family : typed.name;
  const upstream = {
    ...object?.upstream,
    family: typed.family,
    apiKey: typed.apiKey.trim(),
    baseUrl: typed.baseUrl.trim(),
  };
  const saved = (): void => {
    void forget(listUpstreams, listObjects, listModels);
    onClose();
  };
  const test = useAct(
    (callModel: string) => call(testObject, { object: { name, upstream }, callModel }),
    () => undefined,
  );
  const prove = useAct(
    (callModel: string) => call(testObject, { object: { name, upstream }, callModel }),
    () => undefined,
  );
  const save = useAct(async () => {
    if (object === undefined) return call(applyObjects, { changes: changesOf(name, upstream, chosen, test.data) });
    return call(updateObject, {
      kind: "upstream",
      name,
      object: { name, upstream },
      updateMask: mask(typed),
      etag: object.etag,
    });
  }, saved);
  const type = (change: Partial<Typed>): void => {
    setTyped({ ...typed, ...change });
    test.reset();
    prove.reset();
    setChosen(new Set());
  };
  const isTested = test.data !== undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isTested) save.run();
    else test.run("");
  };
  const [first] = chosen;
  return (
    <form className="stack" onSubmit={submit}>
      <Address typed={typed} families={families} isNew={object === undefined} onType={type} />
      {test.error !== null && <Problem error={test.error} what={say.testFailed} />}
      {test.data !== undefined && <TestResult answer={prove.data ?? test.data} />}
      {prove.error !== null && <Problem error={prove.error} what={say.testFailed} />}
      {test.data !== undefined && object === undefined && (
        <ChooseModels models={test.data.models} chosen={chosen} onChoose={setChosen} />
      )}
      {first !== undefined && <ProveButton isBusy={prove.isPending} onProve={() => prove.run(first)} />}
      {save.error !== null && <Problem error={save.error} what={say.saveFailed} />}
      <DialogFoot onCancel={onClose} disabled={test.isPending || save.isPending}>
        {test.isPending ? say.connecting : isTested ? say.save : say.connect}
      </DialogFoot>
    </form>
  );
}

function ProveButton({ isBusy, onProve }: { readonly isBusy: boolean; readonly onProve: () => void }): ReactNode {
  return (
    <span>
      <button className="button small" type="button" disabled={isBusy} onClick={onProve}>
        {say.callWith}
      </button>{" "}
      <small className="soft">{say.callAbout}</small>
    </span>
  );
}

function typedOf(object: SettingsObject | undefined): Typed {
  const { family = USUAL_FAMILY, baseUrl = "" } = object?.upstream ?? {};
  return { family, name: object?.name ?? "", apiKey: "", baseUrl };
}

/** A key that is not typed stays as it is. */
function mask({ apiKey }: Typed): string {
  return apiKey.trim() === "" ? "family,baseUrl" : "family,baseUrl,apiKey";
}

interface AddressParts {
  readonly typed: Typed;
  readonly families: readonly UpstreamFamily[];
  readonly isNew: boolean;
  readonly onType: (change: Partial<Typed>) => void;
}

function Address({ typed, families, isNew, onType }: AddressParts): ReactNode {
  const family = families.find((one) => one.name === typed.family);
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement | HTMLSelectElement>): void =>
    onType({ [name]: value });
  return (
    <>
      <Choice label={say.family} name="family" value={typed.family} onChange={take} autoFocus>
        {families.map(({ name }) => (
          <option key={name} value={name}>
            {say.families[name] ?? name}
          </option>
        ))}
      </Choice>
      {isNew && (
        <Field
          label={say.name}
          hint={say.nameRule}
          name="name"
          pattern={NAME}
          placeholder={typed.family}
          value={typed.name}
          onChange={take}
        />
      )}
      <Field
        label={say.apiKey}
        hint={isNew ? say.apiKeyRule(family?.keyVariable ?? "") : say.apiKeyKept}
        name="apiKey"
        type="password"
        autoComplete="off"
        value={typed.apiKey}
        onChange={take}
        required={isNew && family?.needsKey === true}
      />
      <Field
        label={say.baseUrl}
        hint={say.baseUrlRule(family?.baseUrl ?? "")}
        name="baseUrl"
        inputMode="url"
        value={typed.baseUrl}
        onChange={take}
        required={family?.baseUrl === ""}
      />
    </>
  );
}

function TestResult({ answer: { result, problem, models } }: { readonly answer: TestObjectResponse }): ReactNode {
  const isWell = result === "well";
  return (
    <p className={isWell ? "notice good" : "notice warn"} role="status">
      {say.results[result]} {problem !== "" && <span>{problem}. </span>}
      {models.length > 0 && say.listed(models.length)}
    </p>
  );
}

/** The upstream, and an object for each chosen model: its price and its size are those that are published. */
function changesOf(
  name: string,
  upstream: RequestFields<UpstreamSpec>,
  chosen: ReadonlySet<string>,
  tested: TestObjectResponse | undefined,
) {
  const models = (tested?.models ?? []).filter(({ id }) => chosen.has(id));
  return [
    { set: { name, upstream }, etag: "new" },
    ...models.map(({ id, kind }) => ({
      set: { name: id.toLowerCase(), model: { targets: [{ upstream: name, model: id }], kind } },
      etag: "new",
    })),
  ];
}
