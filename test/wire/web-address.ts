/** Addresses of pictures, drawn at random: `fc.webUrl` makes a table of all of Unicode first, which takes a second. */
import { fc } from "../support/seeds.js";

const PIECES = [..."abXY09-._~!$&'()*+,;=:@/?", "%20", "%2F", "%C3%A9", "%E5%9F%9C", "%F0%BC%A3%91"];

export const webAddress: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom("http", "https"), fc.domain(), fc.string({ unit: fc.constantFrom(...PIECES) }))
  .map(([scheme, host, path]) => `${scheme}://${host}${path === "" ? "" : `/${path}`}`);
