/** The URL of Redis: which forms it has, and what is none. */
import { describe, expect, test } from "vitest";
import { parseRedisUrl } from "../../src/config/redis-url.js";

const NOTHING = { primary: undefined, username: undefined, password: undefined, sentinelPassword: undefined };
const SINGLE = { ...NOTHING, kind: "single", database: 0, isSecure: false };
const hosts = (...named: [string, number][]) => named.map(([host, port]) => ({ host, port }));

describe("a URL", () => {
  test.each([
    { url: "redis://cache", want: { ...SINGLE, hosts: hosts(["cache", 6379]) } },
    { url: "redis://127.0.0.1:7000/3", want: { ...SINGLE, hosts: hosts(["127.0.0.1", 7000]), database: 3 } },
    { url: "redis://[::1]", want: { ...SINGLE, hosts: hosts(["::1", 6379]) } },
    { url: "redis://[::1]:7000/", want: { ...SINGLE, hosts: hosts(["::1", 7000]) } },
    { url: "redis://:p%40ss@h", want: { ...SINGLE, hosts: hosts(["h", 6379]), password: "p@ss" } },
    { url: "redis://u:100%@h", want: { ...SINGLE, hosts: hosts(["h", 6379]), username: "u", password: "100%" } },
    {
      url: "rediss://u:p:q@h",
      want: { ...SINGLE, hosts: hosts(["h", 6379]), username: "u", password: "p:q", isSecure: true },
    },
    {
      url: "redis+cluster://:p@a:7000,b,[::1]:7002",
      want: { ...SINGLE, kind: "cluster", hosts: hosts(["a", 7000], ["b", 6379], ["::1", 7002]), password: "p" },
    },
    {
      url: "rediss+sentinel://u:p@a,b:26380/main/2?sentinel_password=s%26",
      want: {
        kind: "sentinel",
        hosts: hosts(["a", 26_379], ["b", 26_380]),
        primary: "main",
        username: "u",
        password: "p",
        sentinelPassword: "s&",
        database: 2,
        isSecure: true,
      },
    },
  ])("$url is read", ({ url, want }) => {
    expect(parseRedisUrl(url)).toEqual(want);
  });

  test.each([
    "h:6379",
    "http://h",
    "redis:/h",
    "redis://",
    "redis://h:0",
    "redis://h:70000",
    "redis://a,b",
    "redis://h/name",
    "redis://h/0/1",
    "redis://h?sentinel_password=x",
    "redis+cluster://a,b/1",
    "redis+cluster://a,,b",
    "redis+sentinel://a,b",
    "redis+sentinel://a/main/x",
    "redis+other://a",
    "redis://1.2.3",
  ])("%s is none", (url) => {
    expect(parseRedisUrl(url)).toBeUndefined();
  });
});
