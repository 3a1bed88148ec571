/** The kinds of alerts as commands write them, which is as JSON says them. */
import { InvalidArgumentError } from "commander";
import { registry } from "../api/descriptors.js";
import type { AlertKind } from "../api/index.js";

const NAME = "tollgate.v1.AlertKind";

function words(): readonly (readonly [string, number])[] {
  const values = registry().getEnum(NAME)?.values ?? [];
  return values.filter(({ number }) => number > 0).map(({ name, number }) => [name, number]);
}

export function parseKind(text: string): AlertKind {
  const found = words().find(([word]) => word === text);
  if (found === undefined)
    throw new InvalidArgumentError(
      `Write one of ${words()
        .map(([word]) => word)
        .join(", ")}.`,
    );
  return found[1];
}

export function kindWord(kind: AlertKind): string {
  return words().find(([, number]) => number === Number(kind))?.[0] ?? "-";
}
