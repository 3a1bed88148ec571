/** Where Redis is, as one URL says it: a single server, sentinels, or nodes of a cluster. */
import { type Address, parseAddress } from "./listen-address.js";

export interface RedisUrl {
  readonly kind: "single" | "sentinel" | "cluster";
  /** The server, the sentinels, or some nodes of the cluster. */
  readonly hosts: readonly Address[];
  /** The name under which the sentinels know the primary. */
  readonly primary: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword: string | undefined;
  readonly database: number;
  readonly isSecure: boolean;
}

export const REDIS_RULE =
  "must be redis://[user:password@]host[:6379][/database], redis+cluster://host:port,host:port, or redis+sentinel://host:26379,host:26379/name-of-the-primary[/database]; rediss for TLS";

const FORM =
  /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?]+)(?:\/([^?]*))?(?:\?sentinel_password=([^&]+))?$/;
const PORTS = { single: 6379, sentinel: 26_379, cluster: 6379 };
const DATABASE_MAX = 1_000_000;

/** Undefined where it is no such URL. */
export function parseRedisUrl(text: string): RedisUrl | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, scheme, form = "single", login, list = "", path = "", sentinelPassword] = match;
  if (form !== "single" && form !== "sentinel" && form !== "cluster") return undefined;
  const hosts = list.split(",").map((host) => hostOf(host, PORTS[form]));
  if (!hosts.every((host) => host !== undefined) || (form === "single" && hosts.length > 1)) return undefined;
  const parts = path === "" ? [] : path.split("/");
  const primary = form === "sentinel" ? decoded(parts.shift()) : undefined;
  if (form === "sentinel" && (primary === undefined || primary === "")) return undefined;
  const database = parts.length === 0 ? 0 : databaseOf(parts);
  // A cluster has no other database than its first.
  if (database === undefined || (form === "cluster" && database > 0)) return undefined;
  if (form !== "sentinel" && sentinelPassword !== undefined) return undefined;
  const [username, password] = loginOf(login);
  return {
    kind: form,
    hosts,
    primary,
    username,
    password,
    sentinelPassword: decoded(sentinelPassword),
    database,
    isSecure: scheme === "rediss",
  };
}

function hostOf(text: string, port: number): Address | undefined {
  const address = /:\d+$/.test(text) && !/^[^[]*:.*:/.test(text) ? parseAddress(text) : parseAddress(`${text}:${port}`);
  return address === undefined || address.port === 0 ? undefined : address;
}

function databaseOf(parts: readonly string[]): number | undefined {
  const [text = ""] = parts;
  return parts.length === 1 && /^\d{1,7}$/.test(text) && Number(text) <= DATABASE_MAX ? Number(text) : undefined;
}

function loginOf(login: string | undefined): readonly [string | undefined, string | undefined] {
  if (login === undefined) return [undefined, undefined];
  const colon = login.indexOf(":");
  const username = decoded(colon < 0 ? login : login.slice(0, colon));
  const password = colon < 0 ? undefined : decoded(login.slice(colon + 1));
  return [username === "" ? undefined : username, password === "" ? undefined : password];
}

/** Characters that a URL cannot hold are written `%40` and so on; what is none such stands for itself. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return text;
  }
}
