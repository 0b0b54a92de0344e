/**
 * authentication.k8s.io/v1 TokenRequest: requests a token of a service account, for audiences and a duration. It is sent to the `token`
 * subresource of a ServiceAccount, and never stored. Not here: signing the token, and whether the bound object exists
 * (apiserver/resources/service-account).
 */
import type { TokenRequest } from "../../generated/authentication.k8s.io/v1.ts";
import { invalid, type FieldError } from "../../machinery/field-error.ts";

const EXPIRATION_SECONDS_DEFAULT = 60 * 60;
/** Minimum lifetime: with a shorter one clients would constantly renew their tokens. */
const EXPIRATION_SECONDS_MIN = 10 * 60;
/** 136 years: the expiration stays a date that all token readers support. */
const EXPIRATION_SECONDS_MAX = 2 ** 32;

export function defaultTokenRequest(request: TokenRequest): TokenRequest {
  if (request.spec?.expirationSeconds !== undefined) return request;
  return { ...request, spec: { ...request.spec, expirationSeconds: EXPIRATION_SECONDS_DEFAULT } };
}

/** Validates a request with defaults. */
export function* validateTokenRequest({ spec = {} }: TokenRequest): Iterable<FieldError> {
  const { expirationSeconds = 0 } = spec;
  const at = "spec.expirationSeconds";
  if (expirationSeconds < EXPIRATION_SECONDS_MIN) {
    yield invalid(at, expirationSeconds, "may not specify a duration less than 10 minutes");
  }
  if (expirationSeconds > EXPIRATION_SECONDS_MAX) {
    yield invalid(at, expirationSeconds, "may not specify a duration larger than 2^32 seconds");
  }
}

/**
 * A request may name its service account, which must be that of the path. Upstream stops at the first error, and validates this before
 * anything else.
 */
export function* validateTokenRequestTarget(
  { metadata }: TokenRequest,
  serviceAccount: { readonly name: string; readonly namespace: string },
): Iterable<FieldError> {
  for (const field of ["name", "namespace"] as const) {
    const given = metadata[field] ?? "";
    if (given === "" || given === serviceAccount[field]) continue;
    return yield invalid(`metadata.${field}`, given, `must match the service account ${field} if specified`);
  }
}
