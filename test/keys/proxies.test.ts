/** Whose word on a client's address is taken: our own proxies', from right to left, and nobody else's. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { TrustedProxies } from "../../src/keys/proxies.js";

const PROXIES = new TrustedProxies(["10.0.0.0/8", "2001:db8::/32"]);

describe("the client behind the proxies", () => {
  test.each([
    { name: "no header", peer: "10.0.0.1", header: undefined, want: "10.0.0.1" },
    { name: "one proxy", peer: "10.0.0.1", header: "203.0.113.9", want: "203.0.113.9" },
    { name: "two proxies", peer: "10.0.0.1", header: "203.0.113.9, 10.0.0.2", want: "203.0.113.9" },
    { name: "a client that wrote one itself", peer: "10.0.0.1", header: "127.0.0.1, 203.0.113.9", want: "203.0.113.9" },
    { name: "a client without a proxy that wrote one", peer: "203.0.113.9", header: "127.0.0.1", want: "203.0.113.9" },
    { name: "proxies alone", peer: "10.0.0.1", header: "10.0.0.3,10.0.0.2", want: "10.0.0.3" },
    { name: "a port", peer: "10.0.0.1", header: "203.0.113.9:4711", want: "203.0.113.9" },
    { name: "IPv6 in brackets", peer: "2001:db8::1", header: "[2001:4860::8]:4711", want: "2001:4860::8" },
    { name: "IPv6", peer: "2001:db8::1", header: "2001:4860::8", want: "2001:4860::8" },
    { name: "IPv4 in IPv6", peer: "::ffff:10.0.0.1", header: "203.0.113.9", want: "203.0.113.9" },
    { name: "no address at all", peer: "10.0.0.1", header: "203.0.113.9, unknown", want: "" },
    { name: "nothing between commas", peer: "10.0.0.1", header: "203.0.113.9,", want: "" },
  ])("$name", ({ peer, header, want }) => {
    expect(PROXIES.clientOf(peer, header)).toBe(want);
  });

  test("whatever a client writes, a chain of our proxies names who connected to the first of them", () => {
    const written = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), { maxLength: 6 });
    const stranger = fc.ipV4().filter((address) => !address.startsWith("10."));
    const check = (texts: readonly string[], client: string): void => {
      const header = [...texts, client, "10.9.9.9"].join(", ");
      expect(PROXIES.clientOf("10.1.1.1", header)).toBe(client);
      expect(PROXIES.clientOf(client, texts.join(","))).toBe(client);
    };
    fc.assert(fc.property(written, stranger, check));
  });
});
