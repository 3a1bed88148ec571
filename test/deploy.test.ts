/** The container files: what they name exists, and what they set is known. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { readEnvironment } from "../src/config/environment.js";
import { checkSettingsFile } from "../src/serve/settings-check.js";

const COMPOSE = z
  .object({
    services: z.record(
      z.string(),
      z
        .object({
          image: z.string().optional(),
          build: z.string().optional(),
          environment: z.record(z.string(), z.string()).optional(),
          volumes: z.array(z.string()).optional(),
          depends_on: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
          healthcheck: z
            .object({ test: z.array(z.string()) })
            .loose()
            .optional(),
        })
        .loose(),
    ),
    volumes: z.record(z.string(), z.unknown()),
  })
  .loose();
const { services, volumes } = COMPOSE.parse(parse(readFileSync("compose.yaml", "utf8"), { merge: true }));

test("compose names services, volumes and files that exist, and pins its images", () => {
  expect(Object.keys(services)).toEqual(["node-1", "node-2", "nginx", "postgres", "redis"]);
  for (const service of Object.values(services)) {
    expect(service.build ?? service.image).toMatch(/^\.$|^[a-z]+:[\d.]+-alpine$/);
    const needed = service.depends_on ?? {};
    for (const name of Array.isArray(needed) ? needed : Object.keys(needed)) expect(services).toHaveProperty(name);
    for (const volume of service.volumes ?? []) {
      const [from = ""] = volume.split(":");
      expect(from.startsWith("./") ? existsSync(from) : Object.keys(volumes).includes(from), volume).toBe(true);
    }
  }
});

test("both nodes have the same environment, which a start takes", async () => {
  const environment = services["node-1"]?.environment ?? {};
  expect(services["node-2"]?.environment).toEqual(environment);
  const given: Record<string, string> = {
    POSTGRES_PASSWORD: "p".repeat(32),
    TOLLGATE_SECRET: "s".repeat(32),
    TOLLGATE_OPERATOR_KEY: `sk-${"k".repeat(32)}`,
  };
  const entries = Object.entries(environment).map(([name, text]) => [
    name,
    text.replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, variable: string) => given[variable] ?? ""),
  ]);
  const env = { ...Object.fromEntries(entries), TOLLGATE_CONFIG: "examples/compose/tollgate.yaml" };
  expect(readEnvironment(env)).toMatchObject({ warnings: [], secret: given["TOLLGATE_SECRET"] });
  const { settings } = await checkSettingsFile("examples/compose/tollgate.yaml", {}, "tollgate.yaml");
  expect(settings.models.map(({ id }) => id)).toEqual(["sim-1"]);
});

test("the image is built of files that exist, does not run as root, and asks a path that is served", () => {
  const lines = readFileSync("Dockerfile", "utf8")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n");
  const copied = lines.filter((line) => line.startsWith("COPY ") && !line.includes("--from"));
  for (const line of copied) for (const path of line.split(" ").slice(1, -1)) expect(existsSync(path), path).toBe(true);
  expect(lines).toContain("USER node");
  expect(lines.find((line) => line.startsWith("RUN npm ci"))).toBeDefined();
  const { bin } = z
    .object({ bin: z.object({ tollgate: z.string() }) })
    .parse(JSON.parse(readFileSync("package.json", "utf8")));
  expect(lines).toContain(`ENTRYPOINT ["node", "${bin.tollgate}"]`);
  const paths = lines.flatMap((line) => [...(/127\.0\.0\.1:8080(\/\w+)/.exec(line) ?? [])].slice(1));
  expect(paths).toEqual(["/readyz"]);
  expect(readFileSync("src/http/health.ts", "utf8")).toContain('"/readyz"');
});

const RESOURCE = z
  .object({
    kind: z.string(),
    spec: z.record(z.string(), z.unknown()).optional(),
    data: z.record(z.string(), z.string()).optional(),
  })
  .loose();
const PROBE = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) }).loose();
const POD = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  spec: z
    .object({
      securityContext: z.record(z.string(), z.unknown()),
      containers: z.array(
        z
          .object({
            env: z.array(z.object({ name: z.string(), value: z.string() })),
            securityContext: z.unknown(),
            readinessProbe: PROBE,
            livenessProbe: PROBE,
            volumeMounts: z.array(z.object({ name: z.string() }).loose()),
          })
          .loose(),
      ),
      volumes: z.array(z.object({ name: z.string() }).loose()),
    })
    .loose(),
});
const KUBERNETES = parseAllDocuments(readFileSync("deploy/kubernetes.yaml", "utf8"), { merge: true }).map((one) =>
  RESOURCE.parse(one.toJS()),
);

test("the Kubernetes manifests belong together, run hardened, and say what a start takes", async () => {
  const kinds = ["ConfigMap", "ServiceAccount", "Service", "Service", "PodDisruptionBudget", "StatefulSet"];
  expect(KUBERNETES.map(({ kind }) => kind)).toEqual(kinds);
  const [settings, account, service, nodes, budget, set] = KUBERNETES;
  const directory = mkdtempSync(join(tmpdir(), "tollgate-kubernetes-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "tollgate.yaml");
  writeFileSync(path, settings?.data?.["tollgate.yaml"] ?? "");
  expect((await checkSettingsFile(path, {}, "tollgate.yaml")).settings.models).toHaveLength(1);
  const pod = POD.parse(set?.spec?.["template"]);
  const labels = pod.metadata.labels;
  for (const one of [service, nodes]) expect(one?.spec?.["selector"]).toEqual(labels);
  expect(nodes).toMatchObject({ metadata: { name: set?.spec?.["serviceName"] } });
  expect(account).toMatchObject({ metadata: { name: pod.spec["serviceAccountName"] } });
  for (const one of [budget, set]) expect(one?.spec?.["selector"]).toEqual({ matchLabels: labels });
  const [container] = pod.spec.containers;
  expect(container?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(pod.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
  const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
  expect(readEnvironment({ ...env, TOLLGATE_CONFIG: path })).toMatchObject({ warnings: [] });
  for (const probe of [container?.readinessProbe, container?.livenessProbe])
    expect(readFileSync("src/http/health.ts", "utf8")).toContain(`"${probe?.httpGet.path}"`);
  const claims = z
    .array(z.object({ metadata: z.object({ name: z.string() }) }))
    .parse(set?.spec?.["volumeClaimTemplates"]);
  const volumes = [...pod.spec.volumes, ...claims.map(({ metadata }) => metadata)].map(({ name }) => name);
  expect(container?.volumeMounts.map(({ name }) => name).toSorted()).toEqual(volumes.toSorted());
  // The journal outlives the process and its pod.
  const data = container?.volumeMounts.find((mount) => mount["mountPath"] === "/data")?.name;
  expect(claims.map(({ metadata }) => metadata.name)).toEqual([data]);
});

test("the systemd unit starts the package's program with variables that a start takes", () => {
  const unit = readFileSync("deploy/tollgate.service", "utf8");
  const { bin } = z
    .object({ bin: z.object({ tollgate: z.string() }) })
    .parse(JSON.parse(readFileSync("package.json", "utf8")));
  expect(unit).toContain(`/node_modules/tollgate/${bin.tollgate} serve\n`);
  const variables = [...(/^Environment=(.*)$/m.exec(unit)?.[1]?.split(" ") ?? [])].map((pair) => pair.split("="));
  const env = { ...Object.fromEntries(variables), TOLLGATE_CONFIG: "examples/compose/tollgate.yaml" };
  expect(readEnvironment(env)).toMatchObject({ warnings: [], dataDirectory: "/var/lib/tollgate" });
  expect(unit).toMatch(/^DynamicUser=yes$/m);
  const seen = spawnSync("systemd-analyze", ["verify", "--man=no", "deploy/tollgate.service"], { encoding: "utf8" });
  // Where systemd is there it reads the unit; that the program is not installed is no fault of the unit.
  if (seen.error === undefined)
    expect(seen.stderr.split("\n").filter((line) => /tollgate.service:\d+/.test(line))).toEqual([]);
});

const hasNginx = spawnSync("nginx", ["-v"]).status === 0;

test.skipIf(!hasNginx)("nginx takes its configuration", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-nginx-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "nginx.conf");
  const text = readFileSync("examples/compose/nginx.conf", "utf8");
  const hosts = [...text.matchAll(/server (node-\d:\d+)/g)].map(([, host = ""]) => host);
  expect(hosts).toEqual(["node-1:8080", "node-2:8080", "node-1:8081", "node-2:8081"]);
  writeFileSync(path, text.replaceAll(/node-\d:\d+/g, "127.0.0.1:9"));
  const { status, stderr } = spawnSync("nginx", ["-t", "-p", directory, "-c", path], { encoding: "utf8" });
  expect({ status, stderr }).toMatchObject({ status: 0 });
});
