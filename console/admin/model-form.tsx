/** Adds a model to what an upstream serves, or changes its price and its size; says before what that would change. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { applyObjects, checkObjects, type ModelEffect } from "../../gen/console/settings_service.js";
import type { ModelSpec, SettingsObject } from "../../gen/console/settings_object.js";
import { listUpstreams } from "../../gen/console/upstream_service.js";
import type { Price } from "../../gen/console/usage.js";
import { call, type RequestFields } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { objectWords as say } from "../copy/en-objects.ts";
import { tokenPrice } from "../models/price.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { forgetObjects } from "./forget-objects.ts";
import { isRightPrice, PriceFields, pricedSpec, type TypedPrice, typedPrice } from "./price-fields.tsx";

const NAME = "[a-z0-9][a-z0-9._:\\/@\\-]{0,127}";
const PRICE_KINDS = ["published", "own", "free"] as const;

export interface ModelFormParts {
  /** The one to change. Undefined: a new one. */
  readonly object: SettingsObject | undefined;
  readonly onClose: () => void;
}

interface Typed extends TypedPrice {
  readonly name: string;
  readonly upstream: string;
  readonly model: string;
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
      forgetObjects();
      return onClose();
    },
    () => undefined,
  );
  const type = (change: Partial<Typed>): void => {
    setTyped({ ...typed, ...change });
    check.reset();
  };
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement | HTMLSelectElement>): void =>
    type({ [name]: value });
  const isRight = isRightPrice(typed);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isRight) save.run();
  };
  return (
    <Dialog title={object === undefined ? say.addModel : say.changeModel(object.name)} onClose={onClose} isFirm>
      <form className="stack" onSubmit={submit}>
        {object === undefined && <TargetFields typed={{ ...typed, upstream }} upstreams={ids} onType={take} />}
        <PriceFields typed={typed} kinds={PRICE_KINDS} onType={type} />
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
  const { upstream = "", model = "" } = object?.model?.targets[0] ?? {};
  return { name: object?.name ?? "", upstream, model, ...typedPrice(object?.model) };
}

/** What the form does not show stays as it is. */
function specOf(typed: Typed, before: ModelSpec | undefined): RequestFields<ModelSpec> {
  const { upstream, model } = typed;
  return { ...before, targets: before?.targets ?? [{ upstream, model }], ...pricedSpec(typed, before) };
}

/** True where a model says more than the form shows. */
function hasMore(model: ModelSpec | undefined): boolean {
  const { cacheRead = "", tiers = [] } = model?.price ?? {};
  return (model?.targets.length ?? 0) > 1 || cacheRead !== "" || tiers.length > 0;
}
