/** The variables of the commands that ask a running gateway. */

/** What each says. */
export const COMMAND_VARIABLES: Readonly<Record<string, string>> = {
  TOLLGATE_GATEWAY: "The gRPC address of the gateway; `grpcs://host:port` for TLS; default: `127.0.0.1:8081`",
  TOLLGATE_GATEWAY_CA: "The CA of the gateway's certificate: a PEM file; default: the CAs that Node.js trusts",
  TOLLGATE_GATEWAY_CERT: "The client certificate for the gateway: a PEM file",
  TOLLGATE_GATEWAY_KEY: "The private key of `TOLLGATE_GATEWAY_CERT`: a PEM file",
  TOLLGATE_KEY: "The API key that commands use; default: `TOLLGATE_OPERATOR_KEY`",
};
