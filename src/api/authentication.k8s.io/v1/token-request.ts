/**
 * authentication.k8s.io/v1 TokenRequest: "a token for this service account, for these readers, for this long". It is sent to the `token`
 * subresource of a ServiceAccount, and never stored.
 * Not here: who signs the token, and whether what it is bound to exists (apiserver/resources/service-account).
 */
import type { TokenRequest } from "../../generated/authentication.k8s.io/v1.ts";
import { invalid, type FieldError } from "../../machinery/field-error.ts";

const EXPIRATION_SECONDS_DEFAULT = 60 * 60;
/** Shorter, and clients would be busy with nothing but asking for the next one. */
const EXPIRATION_SECONDS_MIN = 10 * 60;
/** 136 years: what is added to the present stays a date that all readers of tokens can hold. */
const EXPIRATION_SECONDS_MAX = 2 ** 32;

export function defaultTokenRequest(request: TokenRequest): TokenRequest {
  if (request.spec?.expirationSeconds !== undefined) return request;
  return { ...request, spec: { ...request.spec, expirationSeconds: EXPIRATION_SECONDS_DEFAULT } };
}

/** Of one that has its defaults. */
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
 * A request may name the service account that it is for, and must then name the one that it was sent to. Upstream looks no further after
 * the first mistake, and asks this before anything else.
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
