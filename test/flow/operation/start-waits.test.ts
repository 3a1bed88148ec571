/** A start while PostgreSQL cannot be reached waits for it; one that PostgreSQL refuses ends with the reason. */
import { rmSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { startGateway } from "../../support/gateway-process.js";
import { makeDatabase, postgresMissing } from "../../support/postgres.js";

const SECRET = "a root secret of this test, long enough";

test.skipIf(postgresMissing !== undefined)(
  `a start waits for a database that cannot be reached ${postgresMissing ?? ""}`,
  async () => {
    const url = new URL(await makeDatabase());
    const { hostname, port } = url;
    let refusals = 2;
    const gate = net.createServer((client) => {
      client.on("error", () => undefined);
      if (refusals > 0) {
        refusals -= 1;
        client.destroy();
        return;
      }
      const server = net.connect(Number(port), hostname);
      server.on("error", () => undefined);
      client.pipe(server).pipe(client);
      client.on("close", () => server.destroy());
    });
    await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
    url.hostname = "127.0.0.1";
    url.port = String((gate.address() as AddressInfo).port);
    const gateway = await startGateway({ env: { TOLLGATE_DATABASE_URL: url.href, TOLLGATE_SECRET: SECRET } });
    expect(refusals).toBe(0);
    expect(gateway.log.filter((line) => line.includes("the start waits for the database"))).toHaveLength(1);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    await gateway.stop();
    rmSync(gateway.dataDirectory, { recursive: true });
    gate.close();

    url.port = port;
    url.hostname = hostname;
    url.pathname = "/there_is_none";
    const refused = startGateway({ env: { TOLLGATE_DATABASE_URL: url.href, TOLLGATE_SECRET: SECRET } });
    await expect(refused).rejects.toThrow(/3D000/);
  },
);
