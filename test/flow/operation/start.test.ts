/** A start that cannot succeed says why in one line, ends, and hides no key that it made. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tollgate } from "../../support/command.js";
import { bySweep } from "../../support/sweep.js";

let taken: Server;
let address = "";

beforeAll(async () => {
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const bound = taken.address();
  address = `127.0.0.1:${typeof bound === "object" ? bound?.port : ""}`;
});
afterAll(() => {
  taken.close();
});

describe.each([
  { door: "HTTP", env: () => ({ TOLLGATE_HTTP: address, TOLLGATE_GRPC: "127.0.0.1:0" }) },
  { door: "gRPC", env: () => ({ TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: address }) },
])("where the address of $door is taken", ({ env }) => {
  test("it ends with 1, names the address, and shows the keys that it made", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-start-"));
    const { code, stderr } = await tollgate(["serve", "--demo"], { ...env(), TOLLGATE_DATA: directory });
    expect(code).toBe(1);
    const complaint = stderr.split("\n").filter((line) => line.startsWith("tollgate:"));
    expect(complaint).toHaveLength(1);
    expect(complaint[0]).toContain(address);
    expect(stderr.match(/sk-tg[0-9A-Za-z]{46}/g)).toHaveLength(2);
    expect(stderr).not.toContain("Tollgate serves");
  });
});

test("a core without HTTP shows its operator's key as well", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-start-"));
  // The first start is ended by the failure of its one door, the gRPC one.
  const { stderr } = await tollgate(["serve"], {
    TOLLGATE_HTTP: "off",
    TOLLGATE_GRPC: address,
    TOLLGATE_DATA: directory,
  });
  expect(stderr.match(/sk-tg[0-9A-Za-z]{46}/g)).toHaveLength(1);
});

/** A first start with `--demo`, and whether it gives credit. */
interface Demonstration {
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: string;
  readonly gives: boolean;
}

describe("demonstration credit is given only where no upstream can cost money", () => {
  const key = "key-0123456789abcdef";
  const named = (upstream: string): string => `upstreams: { mine: { ${upstream} } }\n`;

  const SETTINGS: readonly Demonstration[] = [
    { name: "a variable brings a real one", env: { XAI_API_KEY: key }, gives: false },
    ...["openai", "anthropic"].slice(0, bySweep({ short: 1, long: 2, all: 2 })).map((family) => ({
      name: `the settings name ${family}`,
      settings: named(`family: ${family}, api_key: ${key}`),
      gives: false,
    })),
    {
      name: "the settings name a server of one's own",
      settings: named('family: openai-compatible, base_url: "http://127.0.0.1:9/v1"'),
      gives: false,
    },
    { name: "the settings name the built-in family alone", settings: named("family: sim"), gives: true },
  ];

  test.each(SETTINGS)("$name", async ({ env = {}, settings, gives }) => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-start-"));
    const file = join(directory, "tollgate.yaml");
    if (settings !== undefined) writeFileSync(file, settings);
    const { stderr } = await tollgate(["serve", "--demo"], {
      TOLLGATE_HTTP: address,
      TOLLGATE_GRPC: "off",
      TOLLGATE_DATA: directory,
      ...(settings === undefined ? {} : { TOLLGATE_CONFIG: file }),
      ...env,
    });
    expect(stderr).toContain("operator key");
    expect(stderr.includes("client key  ")).toBe(gives);
    expect(stderr.includes("of credit")).toBe(gives);
    expect(stderr.includes("main.js key create")).toBe(!gives);
  });
});
