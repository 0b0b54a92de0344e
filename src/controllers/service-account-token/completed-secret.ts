/** What a token Secret must contain: token, CA certificate and namespace, and the annotations that name its ServiceAccount. Pure. */
import {
  legacyTokenClaims,
  SERVICE_ACCOUNT_NAME_ANNOTATION,
  SERVICE_ACCOUNT_UID_ANNOTATION,
} from "../../api/core/v1/secret/service-account-token.ts";
import type { Secret, ServiceAccount } from "../../api/generated/core/v1.ts";
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { writeToken, type TokenSigner } from "../../api/machinery/codec/json-web-token-writer.ts";

export interface TokenContents {
  /** Certificates in PEM. Empty: Secrets get none. */
  readonly rootCa: string;
  readonly tokenSigner: TokenSigner;
}

/** Undefined: nothing is missing. An existing token and namespace stay; another CA certificate is replaced. */
export function completedSecret(secret: Secret, account: ServiceAccount, { rootCa, tokenSigner }: TokenContents): Secret | undefined {
  const { data = {}, metadata } = secret;
  const authority = encoded(rootCa);
  const missing = {
    ...(rootCa !== "" && data["ca.crt"] !== authority ? { "ca.crt": authority } : {}),
    ...(isEmpty(data["namespace"]) ? { namespace: encoded(metadata.namespace ?? "") } : {}),
    ...(isEmpty(data["token"]) ? { token: encoded(writeToken(legacyTokenClaims(account, metadata.name), tokenSigner)) } : {}),
  };
  if (Object.keys(missing).length === 0) return undefined;
  const annotations = {
    ...metadata.annotations,
    [SERVICE_ACCOUNT_NAME_ANNOTATION]: account.metadata.name,
    [SERVICE_ACCOUNT_UID_ANNOTATION]: account.metadata.uid ?? "",
  };
  return { ...secret, metadata: { ...metadata, annotations }, data: { ...data, ...missing } };
}

function isEmpty(value: string | undefined): boolean {
  return value === undefined || value === "";
}

function encoded(text: string): string {
  return encodeBase64(new TextEncoder().encode(text));
}
