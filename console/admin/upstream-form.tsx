/** Adds an upstream with the models of its list, or changes one. It is tried before it is saved. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import {
  applyObjects,
  getFamilies,
  listObjects,
  type ObjectChange,
  type OfferedModel,
  testObject,
  type TestObjectResponse,
  updateObject,
  type UpstreamFamily,
} from "../../gen/console/settings_service.js";
import type { SettingsObject, UpstreamSpec } from "../../gen/console/settings_object.js";
import { call, type RequestFields } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { objectWords as say } from "../copy/en-objects.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { forgetObjects } from "./forget-objects.ts";
import { ChooseModels, hasUnpriced } from "./choose-models.tsx";
import { UPSTREAM_NAME } from "./object-names.ts";
import { isRightPrice, pricedSpec, type TypedPrice, typedPrice } from "./price-fields.tsx";
import { retriesSpec, RetryFields, typedRetries } from "./retry-fields.tsx";
import { TimeoutFields, timeoutsSpec, type TypedTimeouts, typedTimeouts } from "./timeout-fields.tsx";

const USUAL_FAMILY = "openai";
/** What a test says of an upstream that can be reached, and did not refuse the key. */
const ANSWERED: ReadonlySet<string> = new Set(["well", "untested"]);
/** Nothing is given away before an operator says so. */
const FRESH_PRICE: TypedPrice = { ...typedPrice(undefined), price: "own" };

export interface UpstreamFormParts {
  /** The one to change. Undefined: a new one. */
  readonly object: SettingsObject | undefined;
  readonly onClose: () => void;
}

export function UpstreamForm(parts: UpstreamFormParts): ReactNode {
  const families = useQuery(ask(getFamilies, {}));
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
  const [price, setPrice] = useState(FRESH_PRICE);
  const [timeouts, setTimeouts] = useState<TypedTimeouts>(() => typedTimeouts(object?.upstream?.timeouts));
  const [retries, setRetries] = useState(() => typedRetries(object?.upstream?.retries));
  const taken = useQuery(ask(listObjects, { kind: "upstream" })).data?.objects ?? [];
  const name = typed.name === "" ? freeName(typed.family, taken) : typed.name;
  const upstream = {
    ...object?.upstream,
    family: typed.family,
    apiKey: typed.apiKey.trim(),
    baseUrl: typed.baseUrl.trim(),
    timeouts: timeoutsSpec(timeouts),
    retries: retriesSpec(retries),
  };
  const saved = (): void => {
    forgetObjects();
    onClose();
  };
  // What a call proves is told beside the list, which stays.
  const [test, prove] = [useTest(name, upstream), useTest(name, upstream)];
  const save = useAct(async () => {
    if (object === undefined)
      return call(applyObjects, {
        changes: changesOf(name, upstream, { chosen, price, offered: test.data?.models ?? [] }),
      });
    const set = { kind: "upstream", name, object: { name, upstream } } as const;
    return call(updateObject, { ...set, updateMask: mask(typed), etag: object.etag });
  }, saved);
  const type = (change: Partial<Typed>): void => {
    setTyped({ ...typed, ...change });
    test.reset();
    prove.reset();
    setChosen(new Set());
  };
  const isTested = test.data !== undefined && ANSWERED.has(test.data.result);
  const isWrong = hasUnpriced(test.data?.models ?? [], chosen) && !isRightPrice(price);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isTested) save.run();
    else test.run("");
  };
  const [first] = chosen;
  return (
    <form className="stack" onSubmit={submit}>
      <Address typed={typed} name={name} families={families} isNew={object === undefined} onType={type} />
      <TimeoutFields typed={timeouts} connects onType={(change) => setTimeouts({ ...timeouts, ...change })} />
      <RetryFields typed={retries} onType={setRetries} />
      {test.error !== null && <Problem error={test.error} what={say.testFailed} />}
      {test.data !== undefined && <TestResult answer={prove.data ?? test.data} />}
      {prove.error !== null && <Problem error={prove.error} what={say.testFailed} />}
      {test.data !== undefined && !isTested && <SaveAnyway isBusy={save.isPending} onSave={() => save.run()} />}
      {test.data !== undefined && isTested && object === undefined && (
        <ChooseModels models={test.data.models} {...{ chosen, price }} onChoose={setChosen} onPrice={setPrice} />
      )}
      {first !== undefined && <ProveButton isBusy={prove.isPending} onProve={() => prove.run(first)} />}
      {save.error !== null && <Problem error={save.error} what={say.saveFailed} />}
      <DialogFoot onCancel={onClose} disabled={test.isPending || save.isPending || isWrong}>
        {test.isPending ? say.connecting : isTested ? say.save : say.connect}
      </DialogFoot>
    </form>
  );
}

interface SaveAnywayParts {
  readonly isBusy: boolean;
  readonly onSave: () => void;
}

/** The way on where an upstream does not answer now, and will later. */
function SaveAnyway({ isBusy, onSave }: SaveAnywayParts): ReactNode {
  return (
    <span>
      <button className="button small" type="button" disabled={isBusy} onClick={onSave}>
        {say.saveAnyway}
      </button>
    </span>
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

// oxlint-disable-next-line typescript/explicit-function-return-type
function useTest(name: string, upstream: RequestFields<UpstreamSpec>) {
  return useAct(
    (callModel: string) => call(testObject, { object: { name, upstream }, callModel }),
    () => undefined,
  );
}

function typedOf(object: SettingsObject | undefined): Typed {
  const { family = USUAL_FAMILY, baseUrl = "" } = object?.upstream ?? {};
  return { family, name: object?.name ?? "", apiKey: "", baseUrl };
}

/** The name of the family, or with a number where something has that name: it would be displaced. */
function freeName(family: string, taken: readonly SettingsObject[]): string {
  const names = new Set(taken.map(({ name }) => name));
  for (let number = 2, name = family; ; number += 1, name = `${family}-${number}`) if (!names.has(name)) return name;
}

/** A key that is not typed stays as it is. */
function mask({ apiKey }: Typed): string {
  const typed = "family,baseUrl,timeouts,retries";
  return apiKey.trim() === "" ? typed : `${typed},apiKey`;
}

interface AddressParts {
  readonly typed: Typed;
  /** The one that it gets where none is typed. */
  readonly name: string;
  readonly families: readonly UpstreamFamily[];
  readonly isNew: boolean;
  readonly onType: (change: Partial<Typed>) => void;
}

function Address({ typed, name: proposed, families, isNew, onType }: AddressParts): ReactNode {
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
          pattern={UPSTREAM_NAME}
          placeholder={proposed}
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
      {say.results[result]} {problem !== "" && <span>{sentence(problem)}. </span>}
      {models.length > 0 && say.listed(models.length)}
    </p>
  );
}

function sentence(problem: string): string {
  return problem.slice(0, 1).toUpperCase() + problem.slice(1);
}

interface Choices {
  readonly chosen: ReadonlySet<string>;
  /** Of the chosen models whose price is not published. */
  readonly price: TypedPrice;
  readonly offered: readonly OfferedModel[];
}

/** The upstream, and an object for each chosen model, by its published price where there is one. */
function changesOf(
  name: string,
  upstream: RequestFields<UpstreamSpec>,
  { chosen, price, offered }: Choices,
): readonly RequestFields<ObjectChange>[] {
  const models = offered.filter(({ id }) => chosen.has(id));
  return [
    { set: { name, upstream }, etag: "new" },
    ...models.map((one): RequestFields<ObjectChange> => {
      const own = one.price === undefined ? pricedSpec(price) : {};
      const model = { targets: [{ upstream: name, model: one.id }], ...own };
      return { set: { name: one.id.toLowerCase(), model }, etag: "new" };
    }),
  ];
}
