/** What a request says of the container that its upstream runs code in: which one, and what is loaded into it. */
import type { GatewayError } from "../../base/errors.js";
import { wrongValue } from "../json/node.js";
import { listOf, objectOf, textOf } from "../json/value.js";

const OTHERS =
  "this gateway has seen no answer to your account that named it; leave it out, and a new container is made";
const SHARED = "what the upstream keeps is shared by all who use this gateway";

/** The container that is named; undefined where none is. */
export function containerIn(value: unknown): string | undefined {
  return textOf(value) || textOf(objectOf(value)?.["id"]) || undefined;
}

/** Why the value may not pass; undefined where it may. `holds` says whose container it is. */
export function containerRefusal(
  value: unknown,
  param: string,
  holds: (id: string) => boolean,
): GatewayError | undefined {
  const said = objectOf(value);
  if (said === undefined) {
    if (value === null || value === "") return undefined;
    if (typeof value !== "string") return wrongValue(param, "it must be a container's id, or an object");
    return holds(value) ? undefined : wrongValue(param, OTHERS);
  }
  for (const [key, inner] of Object.entries(said)) {
    const path = `${param}.${key}`;
    if (inner === null) continue;
    if (key === "id") {
      if (typeof inner !== "string" || !holds(inner)) return wrongValue(path, OTHERS);
    } else if (key !== "skills") return wrongValue(path, "a container has an 'id' and 'skills'");
    // Anthropic's own are everybody's; others are the operator's.
    else if (!Array.isArray(inner) || listOf(inner).some((skill) => objectOf(skill)?.["type"] !== "anthropic"))
      return wrongValue(path, `${SHARED}; only skills of the type 'anthropic' can be loaded`);
  }
  return undefined;
}
