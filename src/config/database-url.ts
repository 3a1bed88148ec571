/** The address of a PostgreSQL, as its own clients spell it. */

export const DATABASE_RULE =
  "must be a PostgreSQL address such as postgresql://user:password@db.internal:5432/tollgate?sslmode=verify-full";
const SSL_MODES: ReadonlySet<string> = new Set(["disable", "prefer", "require", "verify-ca", "verify-full"]);

export function isDatabaseUrl(text: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { pathname, searchParams } = new URL(text);
  const sslMode = searchParams.get("sslmode") ?? "disable";
  return pathname.length > 1 && SSL_MODES.has(sslMode);
}
