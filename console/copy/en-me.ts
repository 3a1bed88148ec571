/** The sentences of a person’s own page in English. */
import { many } from "./en.ts";

export const meWords = {
  about: (name: string, email: string): string =>
    name === "" || name === email ? `You are signed in as ${email}.` : `You are signed in as ${name}, ${email}.`,
  name: {
    title: "Name",
    about: "People of your accounts see this name.",
    change: "Change name",
    changeTitle: "Change your name",
    field: "Your name",
    go: "Change the name",
    failed: "The name was not changed.",
  },
  password: {
    title: "Password",
    about: "A new password ends all your sessions, this one included. Then you sign in with the new password.",
    none: "You sign in with an identity provider and have no password here. An operator can send a link to set one.",
    change: "Change password",
    changeTitle: "Change your password",
    current: "Current password",
    next: "New password",
    go: "Change the password",
    failed: "The password was not changed.",
  },
  factor: {
    title: "Second factor",
    on: "on",
    off: "off",
    about:
      "With a second factor, each sign-in with your password also needs a code from an authenticator app, or a passkey.",
    required: "This account or gateway requires a second factor. Until you set one up, you can use only this page.",
    codesLeft: (count: number): string =>
      count === 0
        ? "You have no unused recovery codes. Create new ones: you need one to sign in if you lose your devices."
        : `You have ${many(count, "unused recovery code", "unused recovery codes")}. Each works once.`,
    setUp: "Set up an authenticator app",
    setUpFailed: "The set-up of the authenticator app did not start.",
    secretTitle: "Set up an authenticator app",
    secretAbout:
      "Add a new entry to your authenticator app and enter this secret. It is a time-based code (TOTP) of six digits.",
    secret: "the secret",
    uri: "Open in an authenticator app on this device",
    code: "Code that the app shows",
    codeRule: "Six digits. The app shows a new code every 30 seconds.",
    confirmWill: "If this is your first second factor, your other sessions end.",
    confirm: "Turn on the app",
    confirmFailed: "The app is not on yet.",
    codesTitle: "Your recovery codes",
    codesOnce:
      "This is the only time the codes are shown. Save them where you find them without your phone. " +
      "Each works for one sign-in, in place of a code from the app or a passkey.",
    codes: "the recovery codes",
    done: "I have saved them",
    newCodes: "Create new recovery codes",
    newCodesTitle: "Create new recovery codes?",
    newCodesWill: "You get ten new codes. The old ones stop working at once.",
    newCodesGo: "Create the codes",
    newCodesFailed: "No recovery codes were created.",
    remove: "Remove the authenticator app",
    removeTitle: "Remove the authenticator app?",
    removeWill:
      "If it is your last second factor, you then sign in with your password alone, " +
      "and your recovery codes stop working.",
    removeGo: "Remove",
    removeFailed: "The authenticator app was not removed.",
  },
  passkeys: {
    title: "Passkeys",
    about:
      "A passkey is a second factor that your device, password manager or security key keeps. " +
      "You confirm it with a touch, in place of a code.",
    name: "Name",
    nameRule: "How you recognize it in this list.",
    used: "Last used",
    never: "never",
    added: "Added",
    actions: "Actions",
    otherHost: (host: string): string => `only at ${host}`,
    add: "Add a passkey",
    addTitle: "Add a passkey",
    addAbout:
      "Your browser then asks where to keep the passkey. If this is your first second factor, your other sessions end.",
    addGo: "Add",
    addFailed: "The passkey was not added.",
    off:
      "Passkeys are off: the address of this gateway has no host name, or no HTTPS. " +
      "An operator can set its public address.",
    elsewhere: "To add a passkey, open the console at its public address:",
    rename: "Rename",
    renameTitle: "Rename the passkey",
    renameGo: "Rename",
    renameFailed: "The passkey was not renamed.",
    remove: "Remove",
    removeTitle: "Remove the passkey?",
    removeWill: (name: string): string =>
      `You can no longer sign in with ${name}. If it is your last second factor, ` +
      "you then sign in with your password alone, and your recovery codes stop working.",
    removeGo: "Remove the passkey",
    removeFailed: "The passkey was not removed.",
  },
  sessions: {
    title: "Sessions",
    about: "Where you are signed in. End the sessions that you do not recognize, and change your password.",
    device: "Device",
    on: (browser: string, system: string): string => `${browser} on ${system}`,
    unknown: "Unknown device",
    current: "this session",
    address: "Address",
    used: "Last used",
    since: "Signed in",
    expires: "Expires",
    actions: "Actions",
    end: "End",
    endTitle: "End this session?",
    endWill: (device: string): string =>
      `${device} is signed out at once. A request that runs in that session is cancelled.`,
    endGo: "End the session",
    endFailed: "The session was not ended.",
    endOthers: "End all other sessions",
    endOthersTitle: "End all other sessions?",
    endOthersWill: "Every device but this one is signed out at once. Requests that run there are cancelled.",
    endOthersGo: "End the sessions",
    endOthersFailed: "Not all sessions were ended.",
  },
} as const;
