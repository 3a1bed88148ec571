/** What the list of sessions calls a device. */
import { expect, test } from "vitest";
import { deviceOf } from "../../console/me/device.js";

const MOZILLA = "Mozilla/5.0";
const CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0";

test.each([
  [`${MOZILLA} (X11; Linux x86_64) ${CHROME} Safari/537.36`, "Chrome", "Linux"],
  [`${MOZILLA} (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/140.0.0.0`, "Edge", "Windows"],
  [`${MOZILLA} (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 OPR/124.0.0.0`, "Opera", "Windows"],
  [`${MOZILLA} (Linux; Android 15; K) ${CHROME} Mobile Safari/537.36`, "Chrome", "Android"],
  [`${MOZILLA} (X11; CrOS x86_64 14541.0.0) ${CHROME} Safari/537.36`, "Chrome", "ChromeOS"],
  [`${MOZILLA} (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0`, "Firefox", "macOS"],
  [
    `${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15`,
    "Safari",
    "macOS",
  ],
  [
    `${MOZILLA} (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Safari/604.1`,
    "Chrome",
    "iPhone",
  ],
])("%s", (userAgent, browser, system) => {
  expect(deviceOf(userAgent)).toEqual({ browser, system });
});

test("what is no browser that it knows has no such name", () => {
  for (const userAgent of ["", "curl/8.14.1", "node", `${MOZILLA} (compatible; Somebody/1.0)`, `${MOZILLA} (Linux)`])
    expect(deviceOf(userAgent)).toBeUndefined();
});
