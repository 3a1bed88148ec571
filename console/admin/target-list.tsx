/** The targets of a model in their order, which is changed by drag, by keys, and by a button for each step. */
import { type ReactNode, useEffect, useRef } from "react";
import { Button, GridList, GridListItem, type Key, useDragAndDrop } from "react-aria-components";
import { targetWords as say } from "../copy/en-objects.ts";
import { percent } from "../format.ts";
import { ActButton } from "../parts/act-button.tsx";
import { canMove, type Direction, dropped, type DropPosition, moved, sharing, type TypedTarget } from "./targets.ts";

export interface TargetListParts {
  readonly targets: readonly TypedTarget[];
  /** The one whose fields are shown. */
  readonly edited: string;
  readonly nameOf: (target: TypedTarget) => string;
  readonly onEdit: (key: string) => void;
  readonly onRemove: (target: TypedTarget) => void;
  /** `key` tells which one moved. */
  readonly onMove: (targets: readonly TypedTarget[], key: string) => void;
}

const STEPS: readonly Direction[] = ["up", "down"];

export function TargetList({ targets, edited, nameOf, onEdit, onRemove, onMove }: TargetListParts): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const pressed = useRef<string>(undefined);
  useEffect(() => {
    const id = pressed.current;
    pressed.current = undefined;
    // A row that the browser moves loses the focus; the next step is a press of the same button.
    if (id !== undefined)
      setTimeout(() => box.current?.querySelector<HTMLElement>(`[data-step="${id}"] button`)?.focus());
  }, [targets]);
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    onMove: ({ keys, target: { key, dropPosition } }) => drop([...keys][0], key, dropPosition),
  });
  const drop = (from: Key | undefined, to: Key, position: DropPosition): void => {
    const key = String(from ?? "");
    onMove(dropped(targets, key, { key: String(to), position }), key);
  };
  const step = (key: string, to: Direction): void => {
    pressed.current = `${key} ${to}`;
    onMove(moved(targets, key, to), key);
  };
  return (
    <div ref={box}>
      <GridList
        className="targets"
        aria-label={say.targets}
        items={targets}
        dependencies={[targets, edited]}
        keyboardNavigationBehavior="tab"
        dragAndDropHooks={dragAndDropHooks}
      >
        {(target) => (
          <GridListItem id={target.key} textValue={nameOf(target)} className="target">
            <Button slot="drag" className="button small quiet" aria-label={say.drag + say.of(nameOf(target))}>
              ⠿
            </Button>
            <span className="grow">
              <strong>{nameOf(target)}</strong> <Place targets={targets} target={target} />
            </span>
            <span className="row tight">
              {STEPS.map((to) => (
                <span key={to} data-step={`${target.key} ${to}`}>
                  <ActButton
                    className="button small"
                    disabled={!canMove(targets, target, to)}
                    onAct={() => step(target.key, to)}
                  >
                    {say[to]}
                    <span className="hidden-text">{say.of(nameOf(target))}</span>
                  </ActButton>
                </span>
              ))}
              <ActButton className="button small" disabled={edited === target.key} onAct={() => onEdit(target.key)}>
                {say.edit}
                <span className="hidden-text">{say.of(nameOf(target))}</span>
              </ActButton>
              <ActButton className="button small danger" disabled={false} onAct={() => onRemove(target)}>
                {say.remove}
                <span className="hidden-text">{say.of(nameOf(target))}</span>
              </ActButton>
            </span>
          </GridListItem>
        )}
      </GridList>
    </div>
  );
}

interface PlaceParts {
  readonly targets: readonly TypedTarget[];
  readonly target: TypedTarget;
}

/** When it is tried, and with which share. */
function Place({ targets, target }: PlaceParts): ReactNode {
  const level = sharing(targets, target);
  const weights = level.map(({ weight }) => Number(weight || 1));
  const share = Number(target.weight || 1) / weights.reduce((sum, weight) => sum + weight, 0);
  return (
    <small className="soft">
      {say.level(target.level)}
      {level.length > 1 && Number.isFinite(share) && `, ${say.share(percent(share))}`}
    </small>
  );
}
