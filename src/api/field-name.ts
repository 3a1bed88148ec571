/** Names of fields as the protocol spells them. */

/** `requests_per_minute` for `requestsPerMinute`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
