/** What LiteLLM says of an identity at a cloud, and where the environment of the gateway says the same. */

/** Parameters of an identity at Microsoft Entra ID. */
export const ENTRA_PARAMS = ["tenant_id", "client_id", "client_secret", "azure_ad_token"] as const;

const SEE = "see docs/keyless-upstreams.md";

export const REASONS_OF_IDENTITIES: Readonly<Record<string, string>> = {
  aws_role_name: `set role_arn in a profile, or AWS_ROLE_ARN with a web identity; ${SEE}`,
  aws_session_name: `set role_session_name in the profile; ${SEE}`,
  aws_external_id: `set external_id in the profile; ${SEE}`,
  aws_profile_name: `set AWS_PROFILE; ${SEE}`,
  aws_web_identity_token: `set AWS_WEB_IDENTITY_TOKEN_FILE; ${SEE}`,
  aws_sts_endpoint: "set AWS_ENDPOINT_URL_STS",
  tenant_id: `set AZURE_TENANT_ID; ${SEE}`,
  client_id: `set AZURE_CLIENT_ID; ${SEE}`,
  client_secret: `set AZURE_CLIENT_SECRET; ${SEE}`,
  azure_ad_token: `set AZURE_FEDERATED_TOKEN_FILE; ${SEE}`,
};
