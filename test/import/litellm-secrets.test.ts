/** What LiteLLM encrypts is read. The texts were made by PyNaCl and Python's cryptography, with a fixed nonce each. */
import { expect, test } from "vitest";
import { decrypted } from "../../src/import/litellm-secrets.js";

const SALT = "sk-salt-of-the-test";
const TEXTS = [
  {
    form: "a secret box",
    text: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX5_W6mAl02pTP5EhlHZh5-3sm4tNHU2WVKITas92p1IVKeAI=",
    holds: "openai/gpt-5.4-mini",
  },
  {
    form: "version 2",
    text: "v2:gcm:AAECAwQFBgcICQoL_sKV75A1n05VBd_nH_tYBRSml6Q7vJQX-JRgCXj4wCQgDf-iG3bthIktuQaN",
    holds: "sk-from-the-vendor-0123456789",
  },
  {
    form: "version 3",
    text: "v3:gcm:AAECAwQFBgcICQoLz_dPv_kvboDakulqf5ttOKxtubObpbb5ErzH4oz1dKvI4rmtsT8OEx6jgg==",
    holds: "anthropic/claude-sonnet-4-5",
  },
];

test.each(TEXTS)("$form is opened by its salt key alone", ({ text, holds }) => {
  expect(decrypted(text, SALT)).toBe(holds);
  expect(decrypted(text, `${SALT}.`)).toBeUndefined();
});

test.each(TEXTS)("$form that was changed is not opened", ({ text }) => {
  const at = text.length - 6;
  const changed = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
  expect(decrypted(changed, SALT)).toBeUndefined();
});

test.each(["", "plain text", "v3:gcm:", "v2:gcm:AA", "AAAA"])("%j is none of them", (text) => {
  expect(decrypted(text, SALT)).toBeUndefined();
});
