/** The variables of the commands that ask a running gateway. */

/** What each says. */
export const COMMAND_VARIABLES: Readonly<Record<string, string>> = {
  TOLLGATE_GATEWAY: "The gateway's gRPC address, `grpcs://host:port` with TLS; default: `127.0.0.1:8081`",
  TOLLGATE_GATEWAY_CA: "The authorities by which a gateway behind TLS is trusted; default: those that Node knows",
  TOLLGATE_GATEWAY_CERT: "The certificate that is shown to the gateway, a file in PEM",
  TOLLGATE_GATEWAY_KEY: "Its key, a file in PEM",
  TOLLGATE_KEY: "The key that commands use; default: `TOLLGATE_OPERATOR_KEY`",
};
