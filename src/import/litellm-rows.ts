/**
 * The rows of a LiteLLM proxy's database that are imported, as PostgreSQL gives them. Columns that an earlier release
 * of LiteLLM has not are undefined.
 */

/** Runs one SQL statement on LiteLLM's database. */
export type ReadRows = (sql: string) => Promise<readonly Row[]>;
type Row = Readonly<Record<string, unknown>>;

/** What keys, teams and people have alike. */
export interface LimitsRow {
  /** USD. */
  readonly spend?: number | null | undefined;
  readonly max_budget?: number | null | undefined;
  /** Such as 30d. */
  readonly budget_duration?: string | null | undefined;
  readonly tpm_limit?: string | number | null | undefined;
  readonly rpm_limit?: string | number | null | undefined;
  readonly max_parallel_requests?: number | null | undefined;
  readonly budget_id?: string | null | undefined;
}

export interface KeyTokenRow extends LimitsRow {
  /** SHA-256 of the secret, in hexadecimal digits. */
  readonly token: string;
  /** The masked secret. */
  readonly key_name?: string | null;
  readonly key_alias?: string | null;
  readonly expires?: Date | null;
  readonly models?: readonly string[] | null;
  readonly user_id?: string | null;
  readonly team_id?: string | null;
  readonly blocked?: boolean | null;
  readonly metadata?: unknown;
}

export interface TeamRow extends LimitsRow {
  readonly team_id: string;
  readonly team_alias?: string | null;
  readonly models?: readonly string[] | null;
  readonly blocked?: boolean | null;
}

export interface UserRow extends LimitsRow {
  readonly user_id: string;
  readonly user_alias?: string | null;
  readonly user_email?: string | null;
  readonly models?: readonly string[] | null;
}

/** The secret that a key had before it was rotated, until it ends. */
export interface DeprecatedTokenRow {
  readonly token: string;
  readonly active_token_id: string;
  readonly revoke_at: Date;
}

export interface ProxyModelRow {
  readonly model_name: string;
  /** Encrypted texts, and plain numbers and truth values. */
  readonly litellm_params: unknown;
  readonly model_info: unknown;
}

export interface CredentialRow {
  readonly credential_name: string;
  readonly credential_values: unknown;
}

export interface BudgetRow extends LimitsRow {
  readonly budget_id: string;
}

export interface LiteLlmRows {
  readonly keys: readonly KeyTokenRow[];
  readonly teams: readonly TeamRow[];
  readonly users: readonly UserRow[];
  readonly deprecated: readonly DeprecatedTokenRow[];
  readonly models: readonly ProxyModelRow[];
  readonly credentials: readonly CredentialRow[];
  readonly budgets: readonly BudgetRow[];
}

const TABLES = {
  keys: "LiteLLM_VerificationToken",
  teams: "LiteLLM_TeamTable",
  users: "LiteLLM_UserTable",
  deprecated: "LiteLLM_DeprecatedVerificationToken",
  models: "LiteLLM_ProxyModelTable",
  credentials: "LiteLLM_CredentialsTable",
  budgets: "LiteLLM_BudgetTable",
} as const;
/** Without it, the database is none of LiteLLM's. */
const REQUIRED = TABLES.keys;

/** Reads all of them. Throws an Error where the database has no keys of LiteLLM. */
export async function readLiteLlmRows(read: ReadRows): Promise<LiteLlmRows> {
  const found = await read("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'LiteLLM\\_%'");
  const names = new Set(found.map(({ table_name: name }) => name));
  if (!names.has(REQUIRED)) throw new Error(`it is no database of LiteLLM: it has no table "${REQUIRED}"`);
  const rows: Record<string, readonly Row[]> = {};
  for (const [kind, table] of Object.entries(TABLES))
    rows[kind] = names.has(table) ? await read(`SELECT * FROM "${table}"`) : [];
  // The columns are read by the names above, and each is checked where it is used.
  return rows as unknown as LiteLlmRows;
}
