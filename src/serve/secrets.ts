/** The secrets that this process was given, so that none of them appears in text that leaves it. */
import type { Settings } from "../config/settings.js";
import { protectSecrets } from "../base/redaction.js";

/** What goes with traces to whoever takes them: often a credential. */
const TRACE_HEADERS = /^OTEL_EXPORTER_OTLP_(?:TRACES_)?HEADERS$/;
const SECRET_VARIABLE = /(?:^|_)(?:KEY|SECRET|TOKEN|PASSWORD|PASS|CREDENTIALS?)(?:_|$)/;

/** Those in the environment, told by the names of their variables. */
export function protectEnvironment(environment: Readonly<Record<string, string | undefined>>): void {
  protectSecrets(Object.keys(environment).flatMap((name) => (SECRET_VARIABLE.test(name) ? environment[name] : [])));
  protectSecrets(
    Object.keys(environment).flatMap((name) => (TRACE_HEADERS.test(name) ? valuesOf(environment[name]) : [])),
  );
}

/** The values of headers as OpenTelemetry's variables list them: names and values, between commas, as in an address. */
function valuesOf(headers = ""): readonly string[] {
  return headers.split(",").map((header) => {
    const value = header.slice(header.indexOf("=") + 1).trim();
    try {
      return decodeURIComponent(value);
    } catch {
      return value;
    }
  });
}

/** Those of a settings file. */
export function protectSettings({ upstreams, keys, payments: { stripe }, identity }: Settings): void {
  const credentials = upstreams.flatMap(({ apiKey }) => (apiKey === undefined ? [] : partsOf(apiKey)));
  const headers = upstreams.flatMap(({ headers: sent = {} }) => Object.values(sent));
  const clients = [
    ...identity.issuers.map(({ clientSecret }) => clientSecret),
    stripe?.secretKey,
    stripe?.webhookSecret,
  ];
  protectSecrets([...credentials, ...headers, ...keys.map((key) => key.secret), ...clients]);
}

/** A credential of two parts, as Amazon's, is two secrets more; one that is a file in JSON is not cut. */
function partsOf(apiKey: string): readonly string[] {
  return apiKey.trimStart().startsWith("{") ? [apiKey] : [apiKey, ...apiKey.split(":")];
}
