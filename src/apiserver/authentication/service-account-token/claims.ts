/**
 * The registered claims of all tokens (RFC 7519), and decoding of claims. The signature is already verified with one of our keys, so a
 * claim of the wrong type is a mistake, not an attack; it is reported with upstream's message.
 */
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import { wrongType } from "../../shared/claim-types.ts";

/** Tolerated clock skew. Upstream's. */
export const LEEWAY_MS = 60_000;

export interface CommonClaims {
  readonly issuer: string;
  readonly subject: string;
  /** Empty if absent. */
  readonly audiences: readonly string[];
  /** Milliseconds since the epoch, as all timestamps here. */
  readonly expiresAtMs: number | undefined;
  readonly notBeforeMs: number | undefined;
  readonly issuedAtMs: number | undefined;
  /** "" if absent. */
  readonly id: string;
}

export function readCommonClaims(payload: JsonObject): CommonClaims {
  return {
    issuer: textClaim(payload["iss"]),
    subject: textClaim(payload["sub"]),
    audiences: audiencesClaim(payload["aud"]),
    expiresAtMs: timestampClaim(payload["exp"]),
    notBeforeMs: timestampClaim(payload["nbf"]),
    issuedAtMs: timestampClaim(payload["iat"]),
    id: textClaim(payload["jti"]),
  };
}

/** Throws an AuthenticationError if the token is not valid now. */
export function checkTimes({ expiresAtMs, notBeforeMs, issuedAtMs }: CommonClaims, nowMs: number): void {
  if (notBeforeMs !== undefined && nowMs + LEEWAY_MS < notBeforeMs) throw new AuthenticationError("service account token is not valid yet");
  if (expiresAtMs !== undefined && nowMs - LEEWAY_MS > expiresAtMs) throw new AuthenticationError("service account token has expired");
  if (issuedAtMs !== undefined && nowMs + LEEWAY_MS < issuedAtMs)
    throw new AuthenticationError("service account token is issued in the future");
}

/** "" if absent. */
export function textClaim(claim: Json | undefined): string {
  if (claim === undefined || claim === null) return "";
  if (typeof claim !== "string") throw new AuthenticationError(wrongType(claim, "string"));
  return claim;
}

/** `goType`: upstream's name of the expected type. */
export function objectClaim(claim: Json | undefined, goType: string): JsonObject | undefined {
  if (claim === undefined || claim === null) return undefined;
  if (!isObject(claim)) throw new AuthenticationError(wrongType(claim, goType));
  return claim;
}

function timestampClaim(claim: Json | undefined): number | undefined {
  if (claim === undefined || claim === null) return undefined;
  if (typeof claim !== "number" && typeof claim !== "bigint")
    throw new AuthenticationError("go-jose/go-jose/jwt: expected number value to unmarshal NumericDate");
  return Math.trunc(Number(claim)) * 1_000;
}

function audiencesClaim(claim: Json | undefined): readonly string[] {
  if (claim === undefined) return [];
  const audiences: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  if (!audiences.every((audience) => typeof audience === "string"))
    throw new AuthenticationError("go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience");
  return audiences;
}
