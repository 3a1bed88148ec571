/** The targets of a model in its form: one shows its fields, several their order and the fields of one. */
import { lazy, type ReactNode, Suspense, useState } from "react";
import { targetWords as say } from "../copy/en-objects.ts";
import { late } from "../parts/late.ts";
import { Waiting } from "../parts/waiting.tsx";
import { TargetFields } from "./target-fields.tsx";
import { newTarget, sharing, type TypedTarget, without } from "./targets.ts";

// Most models have one target, and what is dragged is large.
const TargetList = lazy(late(async () => ({ default: (await import("./target-list.tsx")).TargetList })));

export interface TargetsSectionParts {
  readonly targets: readonly TypedTarget[];
  readonly upstreams: readonly string[];
  readonly onChange: (targets: readonly TypedTarget[]) => void;
}

export function TargetsSection({ targets, upstreams, onChange }: TargetsSectionParts): ReactNode {
  const [editedKey, setEdited] = useState(targets[0]?.key);
  const [isChosen, setChosen] = useState(false);
  const [said, setSaid] = useState("");
  const edited = targets.find(({ key }) => key === editedKey) ?? targets[0];
  if (edited === undefined) return null;
  const edit = (key: string): void => {
    setEdited(key);
    setChosen(true);
  };
  const add = (): void => {
    const target = { ...newTarget(targets), upstream: upstreams[0] ?? "" };
    onChange([...targets, target]);
    edit(target.key);
  };
  const move = (changed: readonly TypedTarget[], key: string): void => {
    onChange(changed);
    const target = changed.find((one) => one.key === key);
    if (target === undefined) return;
    const levels = changed.at(-1)?.level ?? 1;
    setSaid(say.moved(nameOf(target), target.level, levels, sharing(changed, target).length));
  };
  const remove = (target: TypedTarget): void => {
    onChange(without(targets, target.key));
    setChosen(true);
    setSaid(say.removed(nameOf(target)));
  };
  const type = (change: Partial<TypedTarget>): void =>
    onChange(targets.map((target) => (target === edited ? { ...target, ...change } : target)));
  const fields = (
    <TargetFields
      key={edited.key}
      target={edited}
      upstreams={upstreams}
      isSharing={sharing(targets, edited).length > 1}
      isChosen={isChosen}
      onType={type}
    />
  );
  return (
    <>
      {targets.length === 1 ? (
        fields
      ) : (
        <fieldset className="stack">
          <legend>{say.targets}</legend>
          <p className="soft">{say.about}</p>
          <Suspense fallback={<Waiting height={160} />}>
            <TargetList {...{ targets, nameOf }} edited={edited.key} onEdit={edit} onRemove={remove} onMove={move} />
          </Suspense>
          <fieldset className="stack">
            <legend>{nameOf(edited)}</legend>
            {fields}
          </fieldset>
        </fieldset>
      )}
      <span className="row">
        <button className="button small" type="button" onClick={add}>
          {say.add}
        </button>
        <small role="status">{said}</small>
      </span>
    </>
  );
}

function nameOf({ upstream, model }: TypedTarget): string {
  return upstream === "" ? say.unnamed : say.name(upstream, model);
}
