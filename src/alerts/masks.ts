/** Updates that name what they change. */
import { snakeCase } from "../api/field-name.js";
import { GatewayError } from "../base/errors.js";

/** The settings with those that the mask names taken from `given`. Throws PARAMETER_MISSING or PARAMETER_INVALID. */
export function masked<Settings extends object>(
  settings: Settings,
  given: Settings | undefined,
  mask: readonly string[],
): Settings {
  if (mask.length === 0) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "update_mask" });
  const fields = new Map(Object.keys(settings).map((field) => [snakeCase(field), field]));
  const changed = { ...settings };
  for (const name of mask) {
    const field = fields.get(name);
    if (field === undefined) {
      const problem = `each must be one of ${[...fields.keys()].join(", ")}`;
      throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "update_mask", problem });
    }
    if (given !== undefined) Reflect.set(changed, field, Reflect.get(given, field));
  }
  return changed;
}
