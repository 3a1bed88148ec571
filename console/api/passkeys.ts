/** Makes and uses passkeys through the browser. The package for authenticators is loaded at the first use. */
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/browser";
import { words } from "../copy/en.ts";
import { late } from "../parts/late.ts";

const load = late(() => import("@simplewebauthn/browser"));

/** True where the gateway asks for a passkey that the browser gives to this page. */
export function canUse(options: string): boolean {
  return options !== "" && readUse(options).rpId === window.location.hostname;
}

/** The answer of a passkey to the options of the gateway, as JSON. Rejects with an Error in a person's words. */
export async function answerByPasskey(options: string): Promise<string> {
  const { startAuthentication } = await load();
  return inWords(startAuthentication({ optionsJSON: readUse(options) }));
}

/** A new passkey for the options of the gateway, as JSON. Rejects with an Error in a person's words. */
export async function makePasskey(options: string): Promise<string> {
  const { startRegistration } = await load();
  // The edge: the gateway writes the JSON that browsers read.
  return inWords(startRegistration({ optionsJSON: JSON.parse(options) as PublicKeyCredentialCreationOptionsJSON }));
}

function readUse(options: string): PublicKeyCredentialRequestOptionsJSON {
  // The edge: the gateway writes the JSON that browsers read.
  return JSON.parse(options) as PublicKeyCredentialRequestOptionsJSON;
}

async function inWords(answering: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await answering);
  } catch (error) {
    const { name } = error as Error;
    if (name === "NotAllowedError" || name === "AbortError")
      throw new Error(words.signIn.passkeyCancelled, { cause: error });
    if (name === "InvalidStateError") throw new Error(words.signIn.passkeyThere, { cause: error });
    throw error;
  }
}
