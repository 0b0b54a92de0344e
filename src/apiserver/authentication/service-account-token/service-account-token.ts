/**
 * Authenticates bearer tokens of service accounts. Signatures are verified once per token and cached; existence of the service account and
 * the bound objects is checked in the cache for each request, so a token is invalid as soon as one of them is deleted. The store is read
 * only for a token's first use and before a rejection: the cache may lag behind a shared store.
 */
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { Lru } from "../../../base/lru.ts";
import {
  AuthenticationError,
  type AuthenticatedToken,
  type AuthenticationContext,
  type MaybePromise,
  type TokenAuthenticator,
  type TokenAuthenticatorFactory,
} from "../../framework/authentication.ts";
import type { ServiceAccountTokens } from "../../framework/identity.ts";
import type { KindName } from "../../framework/objects.ts";
import { boundToken } from "./bound-token.ts";
import { checkSignature, readToken, type SignedToken } from "../../shared/json-web-token.ts";
import { LastUse } from "./last-use.ts";
import { LEGACY_ISSUER } from "../../../api/core/v1/secret/service-account-token.ts";
import { legacyToken } from "./legacy-token.ts";
import type { Judgement, Reference, VerifiedToken } from "./verified-token.ts";

/**
 * More than the pods of a large cluster that call the API within an hour. Only signed tokens are cached, so other clients cannot fill it.
 */
const CACHED_TOKENS_MAX = 20_000;
/** Maximum characters of cached tokens: 16 MB at about a thousand each, whatever audiences clients request. */
const CACHE_LENGTH_MAX = 16 * 1024 * 1024;

export const serviceAccountTokenAuthenticator: TokenAuthenticatorFactory = (context) => {
  const { serviceAccounts } = context.identity;
  return serviceAccounts === undefined ? undefined : new ServiceAccountTokenAuthenticator(serviceAccounts, context);
};

class ServiceAccountTokenAuthenticator implements TokenAuthenticator {
  readonly name = "service account token";
  readonly #settings: ServiceAccountTokens;
  readonly #context: AuthenticationContext;
  readonly #lastUse: LastUse;
  readonly #verified = new Lru<string, VerifiedToken>({
    max: CACHED_TOKENS_MAX,
    maxWeight: CACHE_LENGTH_MAX,
    weigh: (_, text) => text.length,
  });
  /** Resources that are cached. */
  readonly #loaded = new Set<KindName>();

  constructor(settings: ServiceAccountTokens, context: AuthenticationContext) {
    this.#settings = settings;
    this.#context = context;
    this.#lastUse = new LastUse(context);
  }

  authenticateToken(text: string, audiences: readonly string[]): MaybePromise<AuthenticatedToken | undefined> {
    const token = this.#verified.get(text) ?? this.#verify(text);
    if (token === undefined) return undefined;
    const meantFor = this.#commonAudiences(token, audiences);
    token.checkTimes(this.#context.clock.now());
    const inMemory = this.#inMemory(token.references);
    if (inMemory !== undefined) return this.#decide(token, meantFor, inMemory);
    return this.#inStore(token.references).then((found) => this.#decide(token, meantFor, found));
  }

  #verify(text: string): VerifiedToken | undefined {
    const signed = readToken(text);
    if (signed === undefined) return undefined;
    const { iss } = signed.payload;
    if (typeof iss !== "string" || (iss !== LEGACY_ISSUER && !this.#settings.issuers.includes(iss))) return undefined;
    checkSignature(signed, this.#settings.verifiers);
    const token = understood(signed, iss, text);
    this.#verified.set(text, token);
    return token;
  }

  /** The matching audiences, in the requested order. */
  #commonAudiences({ audiences }: VerifiedToken, asked: readonly string[]): readonly string[] {
    const own = this.#settings.audiences;
    const meantFor = audiences.length === 0 ? own : audiences;
    const common = asked.filter((audience) => meantFor.includes(audience));
    if (common.length === 0 && own.length > 0) {
      const shown = `token audiences ${quoteAll(meantFor)} is invalid for the target audiences ${quoteAll(asked)}`;
      throw new AuthenticationError(shown);
    }
    return common;
  }

  #decide(
    token: VerifiedToken,
    audiences: readonly string[],
    found: readonly (KubeObject | undefined)[],
  ): MaybePromise<AuthenticatedToken> {
    const judgement = token.judge(found, this.#context.clock.now());
    const noted = this.#lastUse.note(judgement.usedSecret);
    const answer = (): AuthenticatedToken => answerOf(token, judgement, audiences);
    return noted === undefined ? answer() : noted.then(answer);
  }

  /** undefined: according to the cache one of them does not exist or has another uid. */
  #inMemory(references: readonly Reference[]): readonly KubeObject[] | undefined {
    const found: KubeObject[] = [];
    for (const reference of references) {
      const object = this.#loaded.has(reference.kind) ? this.#fromCache(reference) : undefined;
      if (object === undefined) return undefined;
      found.push(object);
    }
    return found;
  }

  #inStore(references: readonly Reference[]): Promise<readonly (KubeObject | undefined)[]> {
    const { objects } = this.#context;
    return Promise.all(
      references.map(async (reference) => {
        const { kind } = reference;
        if (!this.#loaded.has(kind)) {
          await objects.load(kind);
          this.#loaded.add(kind);
        }
        return this.#fromCache(reference) ?? objects.getExact(kind, reference);
      }),
    );
  }

  #fromCache(reference: Reference): KubeObject | undefined {
    const object = this.#context.objects.cached(reference.kind, reference);
    return object === undefined || (reference.uid !== undefined && object.metadata.uid !== reference.uid) ? undefined : object;
  }
}

function understood({ payload, repeatedClaim }: SignedToken, issuer: string, text: string): VerifiedToken {
  if (repeatedClaim !== undefined) throw new AuthenticationError(`json: duplicate key '${repeatedClaim}' in object`);
  return issuer === LEGACY_ISSUER ? legacyToken(payload, text) : boundToken(payload);
}

function answerOf({ user }: VerifiedToken, { problem, warnings }: Judgement, audiences: readonly string[]): AuthenticatedToken {
  if (problem !== undefined) throw new AuthenticationError(problem);
  return warnings === undefined ? { user, audiences } : { user, audiences, warnings };
}

function quoteAll(audiences: readonly string[]): string {
  return `[${audiences.map(quoteGo).join(" ")}]`;
}
