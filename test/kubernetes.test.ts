/** The manifests of Kubernetes and what the chart renders to are as Kubernetes' own schemas want them. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { StatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { Service } from "kubernetes-models/v1/Service";
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { renderChart } from "../.ci/release-checks.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const MANIFEST = z.object({ apiVersion: z.string(), kind: z.string() }).loose();
type Manifest = z.infer<typeof MANIFEST>;

/** By the kind, what reads it and where its form is said. */
const MODELS = new Map(
  [
    { model: ConfigMap, from: "kubernetes-models/v1/ConfigMap" },
    { model: Service, from: "kubernetes-models/v1/Service" },
    { model: PodDisruptionBudget, from: "kubernetes-models/policy/v1/PodDisruptionBudget" },
    { model: ServiceAccount, from: "kubernetes-models/v1/ServiceAccount" },
    { model: StatefulSet, from: "kubernetes-models/apps/v1/StatefulSet" },
    { model: Ingress, from: "kubernetes-models/networking.k8s.io/v1/Ingress" },
  ].map((each) => [`${each.model.apiVersion} ${each.model.kind}`, each]),
);

const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
const plain = parseAllDocuments(read("deploy/kubernetes.yaml"), { merge: true }).map((one) =>
  MANIFEST.parse(one.toJS()),
);

function rendered(values: object): Manifest[] {
  return renderChart((path) => read(`deploy/helm/tollgate/${path}`), values).map((one) => MANIFEST.parse(one));
}

/** What the schemas refuse. Of fields that they do not know they say nothing. */
function refusals(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap((manifest) => {
    const found = MODELS.get(`${manifest.apiVersion} ${manifest.kind}`);
    if (found === undefined) return [`${manifest.apiVersion} ${manifest.kind} is no kind that is looked at`];
    try {
      const model: { validate(): void } = Reflect.construct(found.model, [manifest]);
      model.validate();
      return [];
    } catch (error) {
      return [`${manifest.kind}: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
}

/** What the compiler read of its libraries and of the kinds, which stays the same. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Fields that the kinds do not have, and values of another form: each manifest is a literal of its kind's type. */
function strangers(manifests: readonly Manifest[]): string[] {
  const path = `${ROOT}test/kubernetes-manifests.ts`;
  const text = manifests
    .map((manifest, index) => {
      const { from } = MODELS.get(`${manifest.apiVersion} ${manifest.kind}`) ?? { from: "" };
      const form = `import type { I${manifest.kind} as M${index} } from "${from}";`;
      return `${form}\nexport const m${index}: M${index} = ${JSON.stringify(manifest)};`;
    })
    .join("\n");
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === path || fileExists(name);
  host.getSourceFile = (name, ...rest) => {
    if (name === path) return ts.createSourceFile(name, text, ts.ScriptTarget.ES2022);
    if (!parsed.has(name)) parsed.set(name, getSourceFile(name, ...rest));
    return parsed.get(name);
  };
  const program = ts.createProgram([path], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}

/** The plain manifests with something else in the set of the nodes. */
function changed(more: object): Manifest[] {
  return plain.map((manifest) => {
    if (manifest.kind !== "StatefulSet") return manifest;
    const { spec } = z.object({ spec: z.record(z.string(), z.unknown()) }).parse(manifest);
    return { ...manifest, spec: { ...spec, ...more } };
  });
}

const INGRESS = { enabled: true, className: "own", host: "llm.example.com", tlsSecret: "tls", annotations: { a: "b" } };
const VALUES = {
  image: "registry.example/t:1",
  replicas: 5,
  minAvailable: 4,
  resources: { limits: { cpu: "2" } },
  ingress: INGRESS,
};

describe.each([
  { name: "the plain manifests", manifests: plain },
  { name: "the chart with its own values", manifests: rendered({}) },
  { name: "the chart with other values", manifests: rendered(VALUES) },
])("$name", ({ manifests }) => {
  test("are of kinds that are looked at, and as their schemas want them", () => {
    expect(manifests.length).toBeGreaterThan(3);
    expect(refusals(manifests)).toEqual([]);
  });
});

test("the chart has an Ingress and a ServiceMonitor where its values say so, for the services that there are", () => {
  const kinds = (values: object): string[] => rendered(values).map(({ kind }) => kind);
  expect(kinds({})).not.toContain("Ingress");
  const serviceMonitor = { enabled: true, interval: "15s", labels: { release: "prometheus" } };
  const all = rendered({ ingress: INGRESS, serviceMonitor });
  const of = (kind: string, name: string): Manifest | undefined =>
    all.find((one) => one.kind === kind && JSON.stringify(one["metadata"]).includes(`"name":"${name}"`));
  const backend = { service: { name: "tollgate", port: { name: "http" } } };
  expect(of("Ingress", "tollgate")).toMatchObject({
    spec: { rules: [{ host: "llm.example.com", http: { paths: [{ path: "/", backend }] } }] },
  });
  const labels = { "app.kubernetes.io/name": "tollgate", "app.kubernetes.io/component": "nodes" };
  expect(of("ServiceMonitor", "tollgate")).toMatchObject({
    apiVersion: "monitoring.coreos.com/v1",
    metadata: { labels: { release: "prometheus" } },
    spec: { selector: { matchLabels: labels }, endpoints: [{ port: "admin", interval: "15s" }] },
  });
  expect(of("Service", "tollgate-nodes")).toMatchObject({
    metadata: { labels },
    spec: { ports: [{ name: "admin" }] },
  });
});

test("no manifest has a field that its kind does not have", () => {
  expect(strangers([...plain, ...rendered(VALUES)])).toEqual([]);
});

describe("a breach is found:", () => {
  test("a value of another form, and one that is missing", () => {
    expect(refusals(changed({ replicas: "two" }))).toEqual([expect.stringContaining("replicas")]);
    expect(refusals(changed({ template: undefined }))).toEqual([expect.stringContaining("template")]);
    expect(refusals([{ apiVersion: "v1", kind: "Secret" }])).toEqual(["v1 Secret is no kind that is looked at"]);
  });

  test("a field by a wrong name, at any depth", () => {
    expect(strangers(changed({ replica: 2 }))).toEqual([expect.stringContaining("replica")]);
    expect(strangers(changed({ updateStrategy: { rollingUpdate: { partitions: 1 } } }))).toEqual([
      expect.stringContaining("partitions"),
    ]);
  });
});
