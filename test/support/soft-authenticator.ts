/** An authenticator with one passkey, in software, and what it can be made to lie about. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isoCBOR } from "@simplewebauthn/server/helpers";

/** What the answer says in place of the truth. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  /** In base64url. */
  readonly challenge?: string;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly credentialId?: Uint8Array;
  /** Signs in place of its own key. */
  readonly key?: KeyObject;
  readonly isAbsent?: boolean;
  /** The attestation of a new one. */
  readonly attestation?: readonly [format: string, statement: Map<string, unknown>];
}

interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
  readonly user?: { readonly id: string };
}

const PRESENT = 1;
const ATTESTED = 64;

export class SoftAuthenticator {
  readonly credentialId: Uint8Array = randomBytes(32);
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  #userHandle = "";
  /** How often it was used; one that does not count stays at 0. */
  counter: number;

  constructor(
    private readonly origin: string,
    private readonly counts = true,
  ) {
    this.counter = 0;
  }

  /** The answer to the options of BeginPasskey. */
  create(options: string, lies: Lies = {}): string {
    const { challenge, rp, user } = JSON.parse(options) as Options;
    this.#userHandle = user?.id ?? "";
    const data = this.#data(rp?.id ?? "", lies, this.#attested(lies));
    const [fmt, attStmt] = lies.attestation ?? ["none", new Map()];
    const entries: [string, unknown][] = [
      ["fmt", fmt],
      ["attStmt", attStmt],
      ["authData", new Uint8Array(data)],
    ];
    // The edge: the package names only the forms that it reads itself.
    const attestationObject = isoCBOR.encode(new Map(entries) as never);
    const clientDataJSON = this.#clientData("webauthn.create", challenge, lies);
    return this.#answer(lies, {
      clientDataJSON: clientDataJSON.toString("base64url"),
      attestationObject: Buffer.from(attestationObject).toString("base64url"),
      transports: ["internal", "carrier pigeon"],
    });
  }

  /** The answer to the options of a sign-in or a proof. */
  use(options: string, lies: Lies = {}): string {
    const { challenge, rpId = "" } = JSON.parse(options) as Options;
    if (this.counts) this.counter += 1;
    const data = this.#data(rpId, lies);
    const clientDataJSON = this.#clientData("webauthn.get", challenge, lies);
    const hash = createHash("sha256").update(clientDataJSON).digest();
    const signature = sign("sha256", Buffer.concat([data, hash]), lies.key ?? this.#keys.privateKey);
    return this.#answer(lies, {
      clientDataJSON: clientDataJSON.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: signature.toString("base64url"),
      userHandle: lies.userHandle ?? this.#userHandle,
    });
  }

  #answer({ credentialId = this.credentialId }: Lies, response: object): string {
    const id = Buffer.from(credentialId).toString("base64url");
    const whole = { id, rawId: id, type: "public-key", response, clientExtensionResults: {} };
    return JSON.stringify({ ...whole, authenticatorAttachment: "platform" });
  }

  #clientData(type: string, challenge: string, lies: Lies): Buffer {
    const { origin = this.origin, crossOrigin = false } = lies;
    const said = { type: lies.type ?? type, challenge: lies.challenge ?? challenge, origin, crossOrigin };
    return Buffer.from(JSON.stringify(said));
  }

  #data(rpId: string, lies: Lies, attested: Uint8Array = new Uint8Array()): Buffer {
    const hash = createHash("sha256")
      .update(lies.rpId ?? rpId)
      .digest();
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(lies.counter ?? this.counter);
    const flags = (lies.isAbsent === true ? 0 : PRESENT) | (attested.length > 0 ? ATTESTED : 0);
    return Buffer.concat([hash, Buffer.from([flags]), counter, attested]);
  }

  #attested({ credentialId = this.credentialId }: Lies): Uint8Array {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const entries: [number, unknown][] = [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, "base64url"))],
      [-3, new Uint8Array(Buffer.from(y, "base64url"))],
    ];
    const key = isoCBOR.encode(new Map(entries) as never);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(credentialId.length);
    return Buffer.concat([Buffer.alloc(16), length, credentialId, key]);
  }
}
