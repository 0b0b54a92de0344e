/**
 * Authenticates OpenID Connect tokens of trusted issuers. The token names its issuer, unverified; this only selects the keys. Verified
 * tokens are cached for some seconds, so that a client that sends one with every request does not cost a signature check each time. Not
 * here: distributed claims.
 */
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { Clock } from "../../../base/clock.ts";
import type { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { Lru } from "../../../base/lru.ts";
import type { Verifier } from "../../../base/crypto/signing.ts";
import {
  AuthenticationError,
  type AuthenticatedToken,
  type MaybePromise,
  type TokenAuthenticatorFactory,
} from "../../framework/authentication.ts";
import type { OpenIdIssuer } from "../../framework/identity.ts";
import type { User } from "../../framework/request.ts";
import { checkSignature, readToken, type SignedToken } from "../../shared/json-web-token.ts";
import { ClaimMapper } from "../../shared/token-rules/claim-mapper.ts";
import { TokenRules } from "../../shared/token-rules/token-rules.ts";
import { checkClaims, refusedToken, userOfClaims } from "./claims.ts";
import { KeySet } from "./key-set.ts";

/** Upstream's cache time for valid tokens. */
const CACHE_TTL_MS = 10_000;
const CACHE_ENTRIES_MAX = 10_000;
/** Maximum characters of all cached tokens. */
const CACHE_LENGTH_MAX = 16 * 1024 * 1024;

/** Only this issuer may omit the scheme of its name, for historical reasons. */
const GOOGLE = "accounts.google.com";

export const openIdTokens: TokenAuthenticatorFactory = ({ identity, evaluations, clock, log }) => {
  const { openId, openIdIssuers } = identity;
  if (openId === undefined || openIdIssuers.length === 0) return undefined;
  const issuers = new Map(
    openIdIssuers.map((issuer) => [issuer.url, new Issuer(issuer, new KeySet({ ...openId, issuer, clock, log }), { clock, evaluations })]),
  );
  const cached = new TokenCache(clock);
  return {
    name: "OpenID Connect",
    authenticateToken(text) {
      const known = cached.get(text);
      if (known !== undefined) return known;
      const token = readToken(text);
      const issuer = token === undefined ? undefined : issuers.get(issuerOf(token.payload));
      if (token === undefined || issuer === undefined) return undefined;
      const found = issuer.authenticate(token);
      const keep = (good: Good) => cached.keep(text, good);
      return found instanceof Promise ? found.then(keep) : keep(found);
    },
  };
};

function issuerOf(payload: JsonObject): string {
  const issuer = Object.hasOwn(payload, "iss") ? payload["iss"] : undefined;
  return issuer === GOOGLE ? `https://${GOOGLE}` : typeof issuer === "string" ? issuer : "";
}

/** The result of a valid token. */
interface Good {
  readonly user: User;
  readonly endMs: number;
}

class Issuer {
  readonly #issuer: OpenIdIssuer;
  readonly #mapper: ClaimMapper | undefined;
  readonly #rules: TokenRules;
  readonly #keys: KeySet;
  readonly #clock: Clock;
  readonly #evaluations: EvaluationTurns;

  constructor(
    issuer: OpenIdIssuer,
    keys: KeySet,
    { clock, evaluations }: { readonly clock: Clock; readonly evaluations: EvaluationTurns },
  ) {
    this.#issuer = issuer;
    this.#mapper = issuer.mappings === undefined ? undefined : new ClaimMapper(issuer.mappings);
    this.#rules = new TokenRules(issuer);
    this.#keys = keys;
    this.#clock = clock;
    this.#evaluations = evaluations;
  }

  authenticate(token: SignedToken): MaybePromise<Good> {
    const { algorithms } = this.#issuer;
    if (!algorithms.includes(token.algorithm)) {
      const expected = algorithms.map((name) => JSON.stringify(name)).join(" ");
      throw refusedToken(`id token signed with unsupported algorithm, expected [${expected}] got ${JSON.stringify(token.algorithm)}`);
    }
    if (this.#keys.known !== undefined && isSigned(token, this.#keys.known)) return this.#judge(token);
    return this.#keys.refresh().then((keys) => {
      if (!isSigned(token, keys)) throw new AuthenticationError(`oidc: verify token: ${BAD_SIGNATURE}`);
      return this.#judge(token);
    });
  }

  #judge({ payload, repeatedClaim }: SignedToken): MaybePromise<Good> {
    if (repeatedClaim !== undefined) throw refusedToken("failed to unmarshal claims: duplicate claim");
    const endMs = checkClaims(this.#issuer, payload, this.#clock.now());
    const mapping = this.#mapper?.map(this.#evaluations, payload);
    if (mapping !== undefined) return mapping.then((mapped) => this.#checked(payload, userOfClaims(this.#issuer, payload, mapped), endMs));
    return this.#checked(payload, userOfClaims(this.#issuer, payload), endMs);
  }

  #checked(payload: JsonObject, user: User, endMs: number): MaybePromise<Good> {
    const checking = this.#rules.check(this.#evaluations, payload, user);
    return checking === undefined ? { user, endMs } : checking.then(() => ({ user, endMs }));
  }
}

const BAD_SIGNATURE = "failed to verify signature: failed to verify id token signature";

function isSigned(token: SignedToken, keys: readonly Verifier[]): boolean {
  try {
    checkSignature(token, keys);
    return true;
  } catch (error) {
    if (error instanceof AuthenticationError) return false;
    throw error;
  }
}

interface Entry extends AuthenticatedToken {
  readonly untilMs: number;
}

class TokenCache {
  readonly #clock: Clock;
  readonly #entries = new Lru<string, Entry>({
    max: CACHE_ENTRIES_MAX,
    maxWeight: CACHE_LENGTH_MAX,
    weigh: (_, text) => text.length,
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(text: string): AuthenticatedToken | undefined {
    const entry = this.#entries.get(text);
    return entry !== undefined && this.#clock.now() <= entry.untilMs ? entry : undefined;
  }

  keep(text: string, { user, endMs }: Good): AuthenticatedToken {
    const before = this.#entries.peek(text)?.user;
    // The same object for the same user, so that authorization results can be cached.
    const kept = before !== undefined && JSON.stringify(before) === JSON.stringify(user) ? before : user;
    const entry = { user: kept, untilMs: Math.min(endMs, this.#clock.now() + CACHE_TTL_MS) };
    this.#entries.set(text, entry);
    return entry;
  }
}
