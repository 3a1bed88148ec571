/** What a gateway adds to one caller's calls where its PostgreSQL is 2 ms away. */
import net, { type AddressInfo } from "node:net";
import { Cluster } from "../cluster.js";
import { CALL_NANOS } from "../cluster.js";
import { percentile } from "../load.js";
import type { Scenario } from "../scenario.js";

const AWAY_MS = 2;
const ADDED_MS_MAX = 0.4;
const WARM_UP = 300;

export const latency: Scenario = {
  name: "latency",
  claim: `beside a PostgreSQL that is ${AWAY_MS} ms away one caller waits at most ${ADDED_MS_MAX} ms longer (p50)`,
  small: 500,
  full: 3_000,
  run: async (calls, run) => {
    const proxies: net.Server[] = [];
    const databaseUrl = async (url: string): Promise<string> => {
      const { proxy, address } = await startSlowProxy(url);
      proxies.push(proxy);
      return address;
    };
    const cluster = await Cluster.open({ nodes: 1, databaseUrl });
    try {
      await cluster.makeAccount("acme", CALL_NANOS * 1_000_000n);
      const { secret } = await cluster.makeKey("acme");
      const direct = new URL(cluster.upstream.url).origin;
      const time = async (url: string, name: string): Promise<number> => {
        const startMs = performance.now();
        const { status } = await cluster.callers.chat(url, secret, name);
        if (status !== 200) run.fail(`a call was answered ${status}`);
        return performance.now() - startMs;
      };
      const through: number[] = [];
      const past: number[] = [];
      // In turns, so that both are measured in the same weather.
      for (let call = -WARM_UP; call < calls; call += 1) {
        const [one, other] = [await time(cluster.node(0).url, `through-${call}`), await time(direct, `past-${call}`)];
        if (call >= 0) {
          through.push(one);
          past.push(other);
        }
      }
      const [with50, without50] = [percentile(through, 0.5), percentile(past, 0.5)];
      const added = with50 - without50;
      run.say(
        `p50 ${with50.toFixed(2)} ms through, ${without50.toFixed(2)} ms past: ${added.toFixed(2)} ms added` +
          ` (p99 ${percentile(through, 0.99).toFixed(2)} and ${percentile(past, 0.99).toFixed(2)})`,
      );
      if (added > ADDED_MS_MAX) run.fail(`${added.toFixed(2)} ms are added, more than ${ADDED_MS_MAX}`);
    } finally {
      await cluster.close();
      for (const proxy of proxies) proxy.close();
    }
  },
};

/** Each piece of an answer comes so much later. */
async function startSlowProxy(url: string): Promise<{ readonly proxy: net.Server; readonly address: string }> {
  const { port, hostname: host } = new URL(url);
  const proxy = net.createServer({ noDelay: true }, (client) => {
    const server = net.connect({ port: Number(port), host, noDelay: true });
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => setTimeout(() => client.write(bytes), AWAY_MS));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = new URL(url);
  address.port = String((proxy.address() as AddressInfo).port);
  address.hostname = "127.0.0.1";
  return { proxy, address: address.href };
}
