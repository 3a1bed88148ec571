/** Adds a model to what upstreams serve, or changes it; shows while it is typed what it would change. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import type { ListPrice } from "../../gen/console/model_service.js";
import {
  applyObjects,
  checkObjects,
  type CheckObjectsResponse,
  type ObjectChange,
} from "../../gen/console/settings_service.js";
import type { ModelSpec, SettingsObject } from "../../gen/console/settings_object.js";
import { listUpstreams } from "../../gen/console/upstream_service.js";
import { call, type RequestFields } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { aliasWords, factWords, listWords, objectWords as say, wildcardWords } from "../copy/en-objects.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { LateDetails } from "../parts/late-details.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSettled } from "../parts/settled.ts";
import { CacheMarksChoice, cacheMarksSpec, type TypedCacheMarks, typedCacheMarks } from "./cache-marks-choice.tsx";
import { FactFields } from "./fact-fields.tsx";
import { budgetsOf, factsSpec, type TypedFacts, typedFacts } from "./facts.ts";
import { FallbackFields, fallbackSpec, type TypedFallbacks, typedFallbacks } from "./fallback-fields.tsx";
import { forgetObjects } from "./forget-objects.ts";
import { ListedPrice } from "./list-price.tsx";
import { ObjectEffect } from "./object-effect.tsx";
import { MODEL_OR_WILDCARD_NAME } from "./object-names.ts";
import { isRightPrice, PriceFields, type PriceKind, pricedSpec, type TypedPrice, typedPrice } from "./price-fields.tsx";
import { retriesSpec, RetryFields, type TypedRetries, typedRetries } from "./retry-fields.tsx";
import { areRight, hasOnlyUnits, targetSpecs, type TypedTarget, typedTargets } from "./targets.ts";
import { TargetsSection } from "./targets-section.tsx";
import { TimeoutFields, timeoutsSpec, type TypedTimeouts, typedTimeouts } from "./timeout-fields.tsx";

const PRICE_KINDS = ["published", "own", "free"] as const;

export interface ModelFormParts {
  /** The one to change. Undefined: a new one. */
  readonly object: SettingsObject | undefined;
  /** What the published list says about it, as it is now. */
  readonly listPrice?: ListPrice | undefined;
  /** The kind of price that is chosen at first. Absent: the present one. */
  readonly priceKind?: PriceKind;
  readonly onClose: () => void;
}

interface Typed {
  readonly name: string;
  readonly targets: readonly TypedTarget[];
  readonly price: TypedPrice;
  readonly facts: TypedFacts;
  readonly affinity: string;
  readonly cacheMarks: TypedCacheMarks;
  readonly timeouts: TypedTimeouts;
  readonly fallbacks: TypedFallbacks;
  readonly displayName: string;
  /** Of a wildcard: which models it serves. */
  readonly serve: string;
  readonly retries: TypedRetries;
}

export function ModelForm({ object, listPrice, priceKind, onClose }: ModelFormParts): ReactNode {
  const [before] = useState(() => typedOf(object));
  const [typed, setTyped] = useState(() =>
    priceKind === undefined ? before : { ...before, price: { ...before.price, price: priceKind } },
  );
  const ids = (useQuery(ask(listUpstreams, {})).data?.upstreams ?? []).map(({ id }) => id);
  const targets = typed.targets.map((one) => (one.upstream === "" ? { ...one, upstream: ids[0] ?? "" } : one));
  const changes = [changeOf({ ...typed, targets }, object)];
  const isRight = areRight(targets) && isRightPrice(typed.price, object?.model) && isRightFacts(typed.facts);
  const isChanged = object === undefined ? typed.name !== "" : typed !== before;
  const check = useCheck(changes, isRight && isChanged);
  const save = useAct(async () => {
    await call(applyObjects, { changes });
    forgetObjects();
  }, onClose);
  const type = (change: Partial<Typed>): void => setTyped({ ...typed, ...change });
  const isRefused = !check.isOld && check.data !== undefined && check.data.problems.length > 0;
  const mayGo = isRight && !isRefused && !save.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (mayGo) save.run();
  };
  const [checked] = check.data?.models ?? [];
  return (
    <Dialog title={object === undefined ? say.addModel : say.changeModel(object.name)} onClose={onClose} isFirm>
      <form className="stack" onSubmit={submit}>
        {object === undefined && <NameField name={typed.name} onName={(name) => type({ name })} />}
        <Field
          label={aliasWords.displayName}
          hint={say.displayNameRule}
          maxLength={128}
          value={typed.displayName}
          onChange={({ currentTarget: { value } }) => type({ displayName: value })}
        />
        {typed.name.endsWith("*") && <ServeField serve={typed.serve} onServe={(serve) => type({ serve })} />}
        <TargetsSection targets={targets} upstreams={ids} onChange={(changed) => type({ targets: changed })} />
        {targets.length > 1 && <AffinityChoice value={typed.affinity} onChoose={(affinity) => type({ affinity })} />}
        <PriceFields
          typed={typed.price}
          kinds={PRICE_KINDS}
          isByUnits={hasOnlyUnits(object?.model?.price)}
          onType={(change) => type({ price: { ...typed.price, ...change } })}
        />
        <PublishedPrice
          of={checked === undefined ? listPrice : checked.listPrice}
          isMissing={checked !== undefined && checked.listPrice === undefined && !typed.name.endsWith("*")}
          kind={typed.price.price}
          onUse={() => type({ price: { ...typed.price, price: "published" } })}
        />
        {isDetailed(object?.model) && <p className="soft">{say.moreDetailed}</p>}
        <MoreFields typed={typed} onType={type} />
        <div className="effect" role="status" aria-busy={check.isOld}>
          {check.data !== undefined && <ObjectEffect of={check.data} />}
          {check.error !== null && <Problem error={check.error} what={say.checkFailed} />}
        </div>
        {save.error !== null && <Problem error={save.error} what={say.saveFailed} />}
        <DialogFoot onCancel={onClose} disabled={!mayGo}>
          {say.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

interface MoreFieldsParts {
  readonly typed: Typed;
  readonly onType: (change: Partial<Typed>) => void;
}

/** What most models need not say. */
function MoreFields({ typed, onType }: MoreFieldsParts): ReactNode {
  return (
    <>
      <LateDetails className="more" summary={factWords.title}>
        {() => <FactFields typed={typed.facts} onType={(change) => onType({ facts: { ...typed.facts, ...change } })} />}
      </LateDetails>
      <CacheMarksChoice value={typed.cacheMarks} onChoose={(cacheMarks) => onType({ cacheMarks })} />
      <FallbackFields
        typed={typed.fallbacks}
        onType={(change) => onType({ fallbacks: { ...typed.fallbacks, ...change } })}
      />
      <TimeoutFields
        typed={typed.timeouts}
        connects={false}
        onType={(change) => onType({ timeouts: { ...typed.timeouts, ...change } })}
      />
      <RetryFields typed={typed.retries} onType={(retries) => onType({ retries })} />
    </>
  );
}

interface Check {
  readonly data: CheckObjectsResponse | undefined;
  readonly error: Error | null;
  /** True while what is shown is the effect of what was typed before. */
  readonly isOld: boolean;
}

/** The effect of changes, after a pause in typing. */
function useCheck(changes: readonly RequestFields<ObjectChange>[], isAsked: boolean): Check {
  const text = JSON.stringify(changes, (_name, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
  const isSettled = useSettled(text) === text;
  const { data, error, isPlaceholderData } = useQuery({
    ...ask(checkObjects, { changes }),
    enabled: isAsked && isSettled,
    placeholderData: keepPreviousData,
  });
  const isShown = isAsked || isPlaceholderData;
  return { data: isShown ? data : undefined, error: isAsked ? error : null, isOld: isPlaceholderData || !isSettled };
}

interface NameFieldParts {
  readonly name: string;
  readonly onName: (name: string) => void;
}

function NameField({ name, onName }: NameFieldParts): ReactNode {
  return (
    <Field
      label={say.name}
      hint={say.modelNameRule}
      name="name"
      pattern={MODEL_OR_WILDCARD_NAME}
      value={name}
      onChange={({ currentTarget }) => onName(currentTarget.value)}
      autoFocus
      required
    />
  );
}

interface ServeFieldParts {
  readonly serve: string;
  readonly onServe: (serve: string) => void;
}

function ServeField({ serve, onServe }: ServeFieldParts): ReactNode {
  return (
    <Choice
      label={wildcardWords.serve}
      hint={wildcardWords.about}
      value={serve === "" ? "any" : serve}
      onChange={({ currentTarget }) => onServe(currentTarget.value)}
    >
      {(["any", "list"] as const).map((one) => (
        <option key={one} value={one}>
          {wildcardWords.serves[one]}
        </option>
      ))}
    </Choice>
  );
}

interface AffinityChoiceParts {
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

function AffinityChoice({ value, onChoose }: AffinityChoiceParts): ReactNode {
  return (
    <Choice
      label={say.affinity}
      hint={say.affinityIs}
      name="affinity"
      value={value}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      <option value="">{say.affinityAuto}</option>
      <option value="off">{say.affinityOff}</option>
    </Choice>
  );
}

interface PublishedPriceParts {
  readonly of: ListPrice | undefined;
  /** True where the list was asked and has no price. */
  readonly isMissing: boolean;
  readonly kind: PriceKind;
  readonly onUse: () => void;
}

function PublishedPrice({ of, isMissing, kind, onUse }: PublishedPriceParts): ReactNode {
  if (of === undefined) return isMissing && kind === "published" ? <p className="wrong">{listWords.none}</p> : null;
  return (
    <span className="row">
      <span>
        <ListedPrice of={of} />
      </span>
      {kind !== "published" && (
        <button className="button small" type="button" onClick={onUse}>
          {listWords.use}
        </button>
      )}
    </span>
  );
}

function typedOf(object: SettingsObject | undefined): Typed {
  const { name = "", model } = object ?? {};
  return {
    name,
    targets: typedTargets(model?.targets ?? []),
    price: typedPrice(model),
    facts: typedFacts(model?.facts),
    affinity: model?.affinity === "off" ? "off" : "",
    cacheMarks: typedCacheMarks(model),
    timeouts: typedTimeouts(model?.timeouts),
    fallbacks: typedFallbacks(model),
    displayName: model?.displayName ?? "",
    serve: model?.serve ?? "",
    retries: typedRetries(model?.retries),
  };
}

function isRightFacts({ budgets }: TypedFacts): boolean {
  return budgetsOf(budgets) !== undefined;
}

/** What the form does not show stays as it is. */
function changeOf(typed: Typed, object: SettingsObject | undefined): RequestFields<ObjectChange> {
  const { connect: _, ...timeouts } = typed.timeouts;
  const model: RequestFields<ModelSpec> = {
    ...object?.model,
    targets: targetSpecs(typed.targets),
    ...pricedSpec(typed.price, object?.model),
    facts: factsSpec(typed.facts),
    affinity: typed.affinity,
    ...cacheMarksSpec(typed.cacheMarks),
    timeouts: timeoutsSpec(timeouts),
    ...fallbackSpec(typed.fallbacks),
    displayName: typed.displayName,
    ...wildcardSpec(typed),
    retries: retriesSpec(typed.retries),
  };
  return { set: { name: typed.name, model }, etag: object?.etag ?? "new" };
}

/** A wildcard has the published prices of its models, or one price for all. */
function wildcardSpec({ name, price, serve }: Typed): RequestFields<ModelSpec> {
  if (!name.endsWith("*")) return {};
  return { priceFrom: price.price === "published" ? "list" : "ceiling", serve };
}

/** True where the price of a model says more than the form shows. */
function isDetailed(model: ModelSpec | undefined): boolean {
  const { free: _free, input: _input, output: _output, ...rest } = model?.price ?? {};
  return Object.values(rest).some((value) =>
    typeof value === "object" ? Object.keys(value).length > 0 : value !== "",
  );
}
