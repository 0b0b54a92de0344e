/**
 * The signing keys of an issuer, fetched when a token first needs them, and again when a token names an unknown key: issuers rotate keys
 * without notice. Fetches are rate-limited, so that forged tokens cannot cause as many requests to the issuer. While the issuer is
 * unreachable the known keys stay valid.
 */
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { TokenBucket } from "../../../base/rate-limiter.ts";
import type { KeyReader, Verifier } from "../../../base/crypto/signing.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { DocumentFetcher, OpenIdIssuer } from "../../framework/identity.ts";

/** A small burst, then one per ten seconds, upstream's retry interval for an issuer. */
const FETCHES_BURST = 5;
const FETCHES_PER_SECOND = 0.1;
/** Upstream's timeout for one document. */
const FETCH_TIMEOUT_MS = 30_000;
/** Issuers have two or three. With more keys than this an invalid token would be too costly to check. */
const KEYS_MAX = 100;

export interface KeySetOptions {
  readonly issuer: OpenIdIssuer;
  readonly fetch: DocumentFetcher;
  readonly readKey: KeyReader;
  readonly clock: Clock;
  readonly log: Logger;
}

export class KeySet {
  readonly #options: KeySetOptions;
  readonly #bucket: TokenBucket;
  #known: readonly Verifier[] | undefined;
  /** The key set URL of the last discovery. */
  #keysUrl: string | undefined;
  #fetching: Promise<readonly Verifier[]> | undefined;

  constructor(options: KeySetOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket({ clock: options.clock, perSecond: FETCHES_PER_SECOND, burst: FETCHES_BURST });
  }

  /** undefined: not fetched yet. */
  get known(): readonly Verifier[] | undefined {
    return this.#known;
  }

  /** Returns the current keys, refetched if the rate limit allows. Rejects with an AuthenticationError. */
  refresh(): Promise<readonly Verifier[]> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (!this.#bucket.takeNow()) {
      if (this.#known !== undefined) return Promise.resolve(this.#known);
      return Promise.reject(new AuthenticationError("oidc: authenticator not initialized"));
    }
    this.#fetching = this.#fetch().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetch(): Promise<readonly Verifier[]> {
    const { issuer, log } = this.#options;
    try {
      this.#keysUrl ??= await this.#discover();
      this.#known = this.#read(await this.#document(this.#keysUrl));
      return this.#known;
    } catch (error) {
      // Repeat the discovery next time: the key set URL may have changed.
      this.#keysUrl = undefined;
      log.warn("Fetching the keys of an OpenID issuer failed", { issuer: issuer.url, error });
      throw new AuthenticationError("oidc: verify token: failed to verify signature: fetching keys failed", { cause: error });
    }
  }

  /** Returns the key set URL from the issuer's discovery document. */
  async #discover(): Promise<string> {
    const { url, discoveryUrl } = this.#options.issuer;
    const document = await this.#document(discoveryUrl ?? `${url.replace(/\/$/, "")}/.well-known/openid-configuration`);
    const { issuer, jwks_uri: keysUrl } = document;
    if (issuer !== url) throw new Error(`Issuer mismatch: discovery document must have issuer "${url}", has ${JSON.stringify(issuer)}`);
    if (typeof keysUrl !== "string" || keysUrl === "") throw new Error('The discovery document has no "jwks_uri"');
    return keysUrl;
  }

  #read({ keys }: JsonObject): readonly Verifier[] {
    if (!Array.isArray(keys)) throw new Error('The JWKS has no list "keys"');
    return (keys as readonly Json[]).slice(0, KEYS_MAX).flatMap((key) => (isObject(key) ? (this.#options.readKey(key) ?? []) : []));
  }

  /** Rejects on timeout. */
  async #document(url: string): Promise<JsonObject> {
    const { issuer, fetch, clock } = this.#options;
    const timeout = new AbortController();
    const done = new AbortController();
    const late = () => timeout.abort(new Error(`Cannot fetch "${url}" within ${FETCH_TIMEOUT_MS} ms`));
    void clock.sleep(FETCH_TIMEOUT_MS, done.signal).then(late, () => undefined);
    const { certificateAuthority } = issuer;
    try {
      return await clock.external(
        fetch(url, { signal: timeout.signal, ...(certificateAuthority === undefined ? {} : { certificateAuthority }) }),
      );
    } finally {
      done.abort();
    }
  }
}
