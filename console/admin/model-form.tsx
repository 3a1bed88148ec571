/** Adds a model to what an upstream serves, or changes its price and its size; says before what that would change. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { listModels } from "../../gen/console/model_service.js";
import { applyObjects, checkObjects, listObjects, type ModelEffect } from "../../gen/console/settings_service.js";
import type { ModelSpec, SettingsObject } from "../../gen/console/settings_object.js";
import { listUpstreams } from "../../gen/console/upstream_service.js";
import type { Price } from "../../gen/console/usage.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { objectWords as say } from "../copy/en-objects.ts";
import { tokenPrice } from "../models/price.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";

const NAME = "[a-z0-9][a-z0-9._:\\/@\\-]{0,127}";
const DECIMAL = /^\d+(\.\d{1,6})?$/;
const WHOLE = /^\d{0,10}$/;

export interface ModelFormParts {
  /** The one to change. Undefined: a new one. */
  readonly object: SettingsObject | undefined;
  readonly onClose: () => void;
}

type PriceKind = keyof typeof say.prices;

interface Typed {
  readonly name: string;
  readonly upstream: string;
  readonly model: string;
  readonly price: PriceKind;
  readonly input: string;
  readonly output: string;
  readonly contextTokens: string;
  readonly outputTokensMax: string;
}

export function ModelForm({ object, onClose }: ModelFormParts): ReactNode {
  const [typed, setTyped] = useState<Typed>(() => typedOf(object));
  const ids = (useQuery(ask(listUpstreams, {})).data?.upstreams ?? []).map(({ id }) => id);
  const upstream = typed.upstream === "" ? (ids[0] ?? "") : typed.upstream;
  const changes = [
    { set: { name: typed.name, model: specOf({ ...typed, upstream }, object?.model) }, etag: object?.etag ?? "new" },
  ];
  const check = useAct(
    () => call(checkObjects, { changes }),
    () => undefined,
  );
  const save = useAct(
    async () => {
      const { problems } = await call(checkObjects, { changes });
      if (problems.length > 0) return check.run();
      await call(applyObjects, { changes });
      void forget(listModels, listObjects, listUpstreams);
      return onClose();
    },
    () => undefined,
  );
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement | HTMLSelectElement>): void => {
    setTyped({ ...typed, [name]: value });
    check.reset();
  };
  const isRight =
    isWhole(typed) && (typed.price !== "own" || (DECIMAL.test(typed.input) && DECIMAL.test(typed.output)));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isRight) save.run();
  };
  return (
    <Dialog title={object === undefined ? say.addModel : say.changeModel(object.name)} onClose={onClose} isFirm>
      <form className="stack" onSubmit={submit}>
        {object === undefined && <TargetFields typed={{ ...typed, upstream }} upstreams={ids} onType={take} />}
        <PriceFields typed={typed} onType={take} />
        <Sizes typed={typed} onType={take} />
        {object !== undefined && hasMore(object.model) && <p className="soft">{say.otherTargets}</p>}
        {check.data !== undefined && <Checked problems={check.data.problems} effects={check.data.effects} />}
        {check.error !== null && <Problem error={check.error} what={say.saveFailed} />}
        {save.error !== null && <Problem error={save.error} what={say.saveFailed} />}
        <span>
          <button
            className="button small"
            type="button"
            disabled={!isRight || check.isPending}
            onClick={() => check.run()}
          >
            {say.review}
          </button>
        </span>
        <DialogFoot onCancel={onClose} disabled={save.isPending || !isRight}>
          {say.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

interface TypedParts {
  readonly typed: Typed;
  readonly onType: (event: FormEvent<HTMLInputElement | HTMLSelectElement>) => void;
}

function TargetFields({ typed, upstreams, onType }: TypedParts & { readonly upstreams: readonly string[] }): ReactNode {
  return (
    <>
      <Field
        label={say.name}
        hint={say.modelNameRule}
        name="name"
        pattern={NAME}
        value={typed.name}
        onChange={onType}
        autoFocus
        required
      />
      <Choice label={say.upstream} name="upstream" value={typed.upstream} onChange={onType} required>
        {upstreams.map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </Choice>
      <Field
        label={say.upstreamModel}
        hint={say.upstreamModelRule}
        name="model"
        value={typed.model}
        onChange={onType}
      />
    </>
  );
}

function PriceFields({ typed, onType }: TypedParts): ReactNode {
  const money = (name: "input" | "output"): ReactNode => (
    <Field
      label={say[name]}
      wrong={typed[name] === "" || DECIMAL.test(typed[name]) ? undefined : say.wrongPrice}
      name={name}
      inputMode="decimal"
      value={typed[name]}
      onChange={onType}
      required
    />
  );
  return (
    <>
      <Choice label={say.priceIs} name="price" value={typed.price} onChange={onType}>
        {Object.entries(say.prices).map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </Choice>
      {typed.price === "own" && (
        <div className="pairs">
          {money("input")}
          {money("output")}
        </div>
      )}
    </>
  );
}

function Sizes({ typed, onType }: TypedParts): ReactNode {
  const size = (name: "contextTokens" | "outputTokensMax"): ReactNode => (
    <Field
      label={say[name]}
      hint={say.sizeRule}
      wrong={WHOLE.test(typed[name]) ? undefined : say.wrongNumber}
      name={name}
      inputMode="numeric"
      value={typed[name]}
      onChange={onType}
    />
  );
  return (
    <div className="pairs">
      {size("contextTokens")}
      {size("outputTokensMax")}
    </div>
  );
}

interface CheckedParts {
  readonly problems: readonly { readonly field: string; readonly problem: string }[];
  readonly effects: readonly ModelEffect[];
}

function Checked({ problems, effects }: CheckedParts): ReactNode {
  if (problems.length > 0)
    return (
      <ul className="notice bad" role="alert">
        {problems.map(({ field, problem }) => (
          <li key={`${field} ${problem}`}>
            {field} {problem}
          </li>
        ))}
      </ul>
    );
  return (
    <div className="notice stack" role="status">
      <strong>{say.effect}</strong>
      {effects.length === 0 ? say.effectNone : effects.map((effect) => <Effect key={effect.id} effect={effect} />)}
    </div>
  );
}

function Effect({ effect: { id, before, after, source, losses } }: { readonly effect: ModelEffect }): ReactNode {
  if (after === undefined) return <span>{say.effectGone(id)}</span>;
  return (
    <span className="stack">
      {before === undefined
        ? say.effectNew(id, inShort(after), source)
        : say.effectOf(id, inShort(before), inShort(after))}
      {losses.map((loss) => (
        <small className="wrong" key={loss}>
          {loss}
        </small>
      ))}
    </span>
  );
}

function inShort(price: Price): string {
  return say.perMillion(tokenPrice(price, "inputPicos"), tokenPrice(price, "outputPicos"));
}

function typedOf(object: SettingsObject | undefined): Typed {
  const { price, contextTokens = 0n, outputTokensMax = 0n, targets = [] } = object?.model ?? {};
  const kind: PriceKind = price === undefined ? "published" : price.free ? "free" : "own";
  return {
    name: object?.name ?? "",
    upstream: targets[0]?.upstream ?? "",
    model: targets[0]?.model ?? "",
    price: kind,
    input: price?.input ?? "",
    output: price?.output ?? "",
    contextTokens: contextTokens === 0n ? "" : String(contextTokens),
    outputTokensMax: outputTokensMax === 0n ? "" : String(outputTokensMax),
  };
}

function isWhole({ contextTokens, outputTokensMax }: Typed): boolean {
  return WHOLE.test(contextTokens) && WHOLE.test(outputTokensMax);
}

/** What the form does not show stays as it is. */
function specOf(typed: Typed, before: ModelSpec | undefined) {
  const { upstream, model } = typed;
  const own = { ...before?.price, free: false, input: typed.input, output: typed.output };
  const price = { published: undefined, own, free: { free: true } }[typed.price];
  return {
    ...before,
    targets: before?.targets ?? [{ upstream, model }],
    price,
    contextTokens: BigInt(typed.contextTokens || 0),
    outputTokensMax: BigInt(typed.outputTokensMax || 0),
  };
}

/** True where a model says more than the form shows. */
function hasMore(model: ModelSpec | undefined): boolean {
  const { cacheRead = "", tiers = [] } = model?.price ?? {};
  return (model?.targets.length ?? 0) > 1 || cacheRead !== "" || tiers.length > 0;
}
