/** Where a webhook may lead, and what an endpoint that means harm can do. */
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { WebhookNetworks } from "../../src/alerts/networks.js";
import { post, type PostOptions } from "../../src/alerts/post.js";
import { startReceiver } from "../support/webhook-receiver.js";

const strict = new WebhookNetworks([]);
const loopback = new WebhookNetworks(["127.0.0.0/8"]);
const BODY = Buffer.from("{}");

describe("an address that is not public is refused", () => {
  test.each([
    ["this host", "0.0.0.0"],
    ["this host's network", "0.1.2.3"],
    ["private", "10.1.2.3"],
    ["private", "172.16.0.1"],
    ["private", "192.168.1.1"],
    ["shared", "100.64.0.1"],
    ["loopback", "127.9.9.9"],
    ["of a cloud's metadata", "169.254.169.254"],
    ["multicast", "224.0.0.1"],
    ["reserved", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback of IPv6", "::1"],
    ["IPv4 in IPv6", "::ffff:10.0.0.1"],
    ["IPv4 in IPv6, in hex", "::ffff:7f00:1"],
    ["IPv4 in IPv6, compatible", "::127.0.0.1"],
    ["NAT64", "64:ff9b::a00:1"],
    ["6to4", "2002:a00:1::"],
    ["unique local", "fd00::1"],
    ["of one link", "fe80::1%eth0"],
    ["of documents", "2001:db8::1"],
    ["no address", "localhost"],
  ])("%s: %s", (_, address) => {
    expect(strict.problemOf(address, true)).toBeTypeOf("string");
  });

  test.each(["93.184.216.34", "2606:4700::1111"])("and %s is public", (address) => {
    expect(strict.problemOf(address, true)).toBeUndefined();
    expect(strict.problemOf(address, false)).toContain("https://");
    expect(new WebhookNetworks(["10.0.0.0/8"]).problemOf("10.9.9.9", false)).toBeUndefined();
  });
});

test.each([
  ["ftp://example.com/", "https://"],
  ["http://example.com/", "https://"],
  ["https://user:password@example.com/", "no user"],
  ["https://example.com/#x", "no fragment"],
  ["https://127.0.0.1/", "private"],
  ["https://0x7f.1/", "private"],
  ["https://2130706433/", "private"],
  ["https://[::ffff:127.0.0.1]/", "private"],
  ["no url", "https://"],
])("the URL %s is refused when it is written down", (url, problem) => {
  expect(strict.problemOfUrl(url)).toContain(problem);
});

describe("an endpoint", () => {
  const send = (url: string, more: Partial<PostOptions> = {}): ReturnType<typeof post> =>
    post(new URL(url), {}, BODY, { networks: loopback, resolve: () => Promise.reject(new Error("none")), ...more });

  test("whose name leads to a private address, alone or beside a public one, is not reached", async () => {
    const { url, received } = await startReceiver();
    const { port } = new URL(url);
    for (const addresses of [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"]]) {
      const found = addresses.map((address) => ({ address, family: 4 as const }));
      const resolve = (): Promise<typeof found> => Promise.resolve(found);
      const sent = await send(`http://rebinds.example:${port}/`, { networks: strict, resolve });
      expect(sent).toMatchObject({ status: 0, problem: expect.stringMatching(/^its address/) });
    }
    expect(received).toEqual([]);
  });

  test("whose name changed since it was looked at is reached where it was looked at", async () => {
    const { url, received } = await startReceiver();
    let asked = 0;
    const resolve = (): Promise<readonly { address: string; family: 4 }[]> => {
      asked += 1;
      return Promise.resolve([{ address: asked === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }]);
    };
    expect(await send(`http://rebinds.example:${new URL(url).port}/`, { resolve })).toMatchObject({ status: 204 });
    expect([asked, received.length]).toEqual([1, 1]);
  });

  test.each<{ name: string; how: (response: ServerResponse) => void; want: object; totalMs?: number }>([
    {
      name: "that redirects is not followed",
      how: (response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
      want: { status: 307, problem: expect.stringContaining("redirects") },
    },
    {
      name: "that answers with 10 MB is read no further than it must",
      how: (response) => response.writeHead(200).end("x".repeat(10_000_000)),
      want: { status: 200, problem: "", answer: "x".repeat(1_024) },
    },
    {
      name: "that never answers is left",
      how: () => undefined,
      want: { status: 0, problem: "timed out" },
      totalMs: 500,
    },
    {
      name: "that never ends its answer is left with its status",
      how: (response) => void response.writeHead(200).write("begin"),
      want: { status: 200, answer: "begin" },
      totalMs: 2_000,
    },
    {
      name: "that says a secret and steers a terminal is quoted without either",
      how: (response) => response.writeHead(500).end("\u001B[2J sk-abcdefghijklmnop"),
      want: { status: 500, answer: " [2J [redacted]" },
    },
    {
      name: "with endless headers is left",
      how: (response) => response.writeHead(200, { "x-long": "x".repeat(20_000) }).end(),
      want: { status: 0 },
    },
  ])("$name", async ({ how, want, totalMs = 60_000 }) => {
    const receiver = await startReceiver();
    receiver.answer(how);
    expect(await send(receiver.url, { totalMs })).toMatchObject(want);
  });
});
