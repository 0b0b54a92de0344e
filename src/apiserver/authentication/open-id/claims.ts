/**
 * Maps verified claims of an OpenID token to its user, as upstream: checks audience and validity first, then the identity. The signature
 * was verified before. Not here: distributed claims (`_claim_names`). A token with distributed groups is rejected: without them its user
 * would have other permissions.
 */
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { OpenIdIssuer } from "../../framework/identity.ts";
import type { User } from "../../framework/request.ts";
import { wrongType } from "../../shared/claim-types.ts";
import type { MappedAttributes } from "../../shared/token-rules/claim-mapper.ts";

/** Tolerated clock skew. Upstream's number. */
const NOT_BEFORE_LEEWAY_MS = 60_000;

/**
 * Returns the expiry in milliseconds since the epoch. Throws an AuthenticationError if the token has another audience or is not valid now.
 */
export function checkClaims({ audiences }: OpenIdIssuer, claims: JsonObject, nowMs: number): number {
  const meantFor = audiencesOf(claims);
  if (!audiences.some((audience) => meantFor.includes(audience))) {
    const [only = ""] = audiences;
    const expected = audiences.length === 1 ? quoteGo(only) : `in ${list(audiences.toSorted())}`;
    throw refusedToken(`expected audience ${expected} got ${list(meantFor)}`);
  }
  const endMs = timeOf(claims, "exp") ?? -Infinity;
  if (endMs < nowMs) throw refusedToken(`token is expired (Token Expiry: ${goTime(endMs)})`);
  const startMs = timeOf(claims, "nbf") ?? -Infinity;
  if (nowMs + NOT_BEFORE_LEEWAY_MS < startMs)
    throw refusedToken(`current time ${goTime(nowMs)} before the nbf (not before) time: ${goTime(startMs)}`);
  return endMs;
}

/**
 * Throws an AuthenticationError if the claims identify no user, or a required claim is missing. `mapped`: what expressions return, instead
 * of claims.
 */
export function userOfClaims(issuer: OpenIdIssuer, claims: JsonObject, mapped: MappedAttributes = {}): User {
  const name = mapped.name ?? nameOf(issuer, claims);
  const groups = mapped.groups ?? groupsOf(issuer, claims);
  const uid = mapped.uid ?? uidOf(issuer, claims);
  checkRequired(issuer, claims);
  const extra = { ...credentialId(claims), ...mapped.extra };
  return { name, groups, ...(uid === "" ? {} : { uid }), ...(Object.keys(extra).length === 0 ? {} : { extra }) };
}

function credentialId({ jti: id }: JsonObject): Readonly<Record<string, readonly string[]>> {
  return typeof id === "string" && id !== "" ? { "authentication.kubernetes.io/credential-id": [`JTI=${id}`] } : {};
}

export function refusedToken(why: string): AuthenticationError {
  return new AuthenticationError(`oidc: verify token: oidc: ${why}`);
}

function nameOf({ usernameClaim: claim, usernamePrefix }: OpenIdIssuer, claims: JsonObject): string {
  const name = textClaim(claims, claim, `parse username claims ${quoteGo(claim)}`);
  if (claim === "email" && Object.hasOwn(claims, "email_verified")) {
    const verified = claims["email_verified"] ?? false;
    if (typeof verified !== "boolean") throw new AuthenticationError(`oidc: parse 'email_verified' claim: ${wrongType(verified, "bool")}`);
    if (!verified) throw new AuthenticationError("oidc: email not verified");
  }
  return usernamePrefix + name;
}

function groupsOf({ groupsClaim, groupsPrefix }: OpenIdIssuer, claims: JsonObject): readonly string[] {
  if (groupsClaim === undefined) return [];
  if (!Object.hasOwn(claims, groupsClaim)) {
    const elsewhere = claims["_claim_names"];
    if (isObject(elsewhere) && Object.hasOwn(elsewhere, groupsClaim))
      throw new AuthenticationError("oidc: could not expand distributed claims: the groups must be in the token itself");
    return [];
  }
  const value = claims[groupsClaim] ?? [];
  const groups = typeof value === "string" ? [value] : value;
  if (!isTexts(groups)) throw new AuthenticationError(`oidc: parse groups claim ${quoteGo(groupsClaim)}: ${wrongType(value, "string")}`);
  return groups.map((group) => groupsPrefix + group);
}

function uidOf({ uidClaim }: OpenIdIssuer, claims: JsonObject): string {
  return uidClaim === undefined ? "" : textClaim(claims, uidClaim, `parse uid claim ${quoteGo(uidClaim)}`);
}

function checkRequired({ requiredClaims }: OpenIdIssuer, claims: JsonObject): void {
  for (const [claim, value] of Object.entries(requiredClaims)) {
    if (!Object.hasOwn(claims, claim)) throw new AuthenticationError(`oidc: required claim ${claim} not present in ID token`);
    const found = textClaim(claims, claim, `parse claim ${claim}`);
    if (found !== value)
      throw new AuthenticationError(`oidc: required claim ${claim} value does not match. Got = ${found}, want = ${value}`);
  }
}

/** `null` is the empty string, as Go decodes it. */
function textClaim(claims: JsonObject, claim: string, doing: string): string {
  if (!Object.hasOwn(claims, claim)) throw new AuthenticationError(`oidc: ${doing}: claim not present`);
  const value = claims[claim] ?? "";
  if (typeof value !== "string") throw new AuthenticationError(`oidc: ${doing}: ${wrongType(value, "string")}`);
  return value;
}

function audiencesOf(claims: JsonObject): readonly string[] {
  const value = (Object.hasOwn(claims, "aud") ? claims["aud"] : undefined) ?? [];
  const audiences = typeof value === "string" ? [value] : value;
  if (!isTexts(audiences)) throw refusedToken(`failed to unmarshal claims: ${wrongType(value, "string")}`);
  return audiences;
}

/** In milliseconds; undefined if absent. */
function timeOf(claims: JsonObject, claim: string): number | undefined {
  const value = (Object.hasOwn(claims, claim) ? claims[claim] : undefined) ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== "number" && typeof value !== "bigint")
    throw refusedToken(`failed to unmarshal claims: ${wrongType(value, "int64")}`);
  return Math.trunc(Number(value)) * 1_000;
}

function isTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function list(texts: readonly string[]): string {
  return `[${texts.map(quoteGo).join(" ")}]`;
}

/** Years of more than four digits are clamped to the last one with four. */
const LAST_FORMATTED_MS = Date.UTC(9999, 11, 31);

function goTime(timeMs: number): string {
  const shown = Number.isFinite(timeMs) ? Math.min(timeMs, LAST_FORMATTED_MS) : -62_135_596_800_000;
  return formatTime(shown).replace("T", " ").replace("Z", " +0000 UTC");
}
