/** The sentences of the first steps in English, which only operators load. */
export const stepWords = {
  title: "First steps",
  about: "What this gateway needs before your team can use it. Nothing here needs a file or a restart.",
  end: "Hide",
  progress: (done: number, all: number) => `First steps: ${done} of ${all} done. Next:`,
  allDone: "All first steps are done: programs can use this gateway.",
  done: "done",
  open: "to do",
  steps: {
    upstream: {
      name: "Add an upstream",
      about:
        "Enter the API key of a provider, or the address of your own server. It replaces the built-in upstream sim: " +
        "its model sim-1 is not served any more.",
    },
    models: { name: "Choose the models to serve", about: "Clients request a model by its name." },
    account: { name: "Create an account with credit", about: "Accounts pay for requests." },
    member: { name: "Invite a member", about: "Members create keys and see the usage of their account." },
    key: { name: "Create a key", about: "Programs send it with each request. The page shows how." },
    tested: {
      name: "Get a first answer",
      about: "Test the upstream with a call, or send a request in the playground.",
    },
  },
} as const;
