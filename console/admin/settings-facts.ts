/** What the audit log tells of a settings file: what an accepted one changed, and why another was refused. */

export interface FileChange {
  /** Such as upstreams. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export function changesIn(before: string, after: string): readonly FileChange[] {
  const [was, is] = [membersOf(before), membersOf(after)];
  const names = [...new Set([...Object.keys(is), ...Object.keys(was)])];
  return names.map((name) => ({ name, before: textOf(was[name]), after: textOf(is[name]) }));
}

export function problemsIn(json: string): readonly string[] {
  const { problems } = membersOf(json);
  return Array.isArray(problems) ? problems.map(String) : [];
}

/** None where the log does not hold a JSON object there. */
function membersOf(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : String(value ?? "");
}
